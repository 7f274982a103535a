"""The registry: every verb of one process as a value, looked up by exact id (B-25).

It is built once from folders and functions, checked as a whole, and passed to whoever needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from pydantic import JsonValue

from ordain.contracts.bounded import bounded
from ordain.contracts.compiled_verb import compiled_verb
from ordain.contracts.floor import at_least, raised
from ordain.contracts.policy import VerbsPolicy
from ordain.contracts.read_only import read_only
from ordain.contracts.verbs import MODEL_SERVICE, VerbEffect, VerbSpec
from ordain.errors import ConfigurationError
from ordain.verbs.deferred import DeferredVerb
from ordain.verbs.folder import VerbFolder
from ordain.verbs.functions import AnyFunctionVerb, FunctionVerb, bind
from ordain.verbs.http_access import HttpAccess


class Registry:
    """An immutable set of verbs: their specs, prompt templates and functions."""

    def __init__(
        self,
        folders: Iterable[VerbFolder] = (),
        functions: Iterable[AnyFunctionVerb | DeferredVerb] = (),
        code: Mapping[str, Callable[..., Any]] | None = None,
        max_depth: int = VerbsPolicy().max_depth,
        http: HttpAccess | None = None,
    ) -> None:
        """Put verbs together and check them against each other.

        Args:
            folders: loaded verb folders.
            functions: verbs made by ``@verb``.
            code: functions for leaf verbs whose specs stand in a folder, by verb id.
            max_depth: deepest recursion that policy permits.
            http: what HTTP verbs are given; without it they have no secrets.

        Raises:
            ConfigurationError: an id or template is declared twice, a leaf has no code, a schema or
                example is wrong, a secret is not declared, a reconcile verb is missing or no read,
                a recursion depth cannot be.
        """
        self._specs: dict[str, VerbSpec] = {}
        self._templates: dict[str, str] = {}
        self._functions: dict[str, AnyFunctionVerb | DeferredVerb] = {}
        self._origins: dict[str, str] = {}
        self._declarations: dict[str, str] = {}
        self._confirmed: Mapping[str, str] = MappingProxyType({})
        self._http = http or HttpAccess()
        for folder in folders:
            self._add_folder(folder)
        for function in functions:
            self._add_function(function)
        for verb_id, plain in (code or {}).items():
            self._add_code(verb_id, plain)
        for spec in self._specs.values():
            self._check(spec, max_depth)
        self._max_depth = max_depth

    @property
    def specs(self) -> Mapping[str, VerbSpec]:
        """Specs by verb id, none below the floor of its mechanism (``contracts.floor``)."""
        return MappingProxyType(self._specs)

    @property
    def origins(self) -> Mapping[str, str]:
        """Where each verb stands, by verb id: a file, or a function."""
        return MappingProxyType(self._origins)

    @property
    def declarations(self) -> Mapping[str, str]:
        """The digest of what an operator is to confirm, by id, of verbs that are neither shipped
        nor an embedder's.
        """
        return MappingProxyType(self._declarations)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Those of them that nobody has confirmed as they are now, by id."""
        return tuple(
            sorted(
                name
                for name, digest in self._declarations.items()
                if self._confirmed.get(name) != digest
            )
        )

    def confirmed_by(self, confirmed: Mapping[str, str]) -> Registry:
        """The same verbs where an operator has confirmed declarations with these digests, by id."""
        found = copy(self)
        found._confirmed = MappingProxyType(dict(confirmed))  # noqa: SLF001 - a copy of this one
        return found

    @property
    def templates(self) -> Mapping[str, str]:
        """Template sources by file name, as specs name them."""
        return MappingProxyType(self._templates)

    def function(self, verb_id: str) -> AnyFunctionVerb:
        """The code behind a leaf verb. What waits to be imported is, once.

        Raises:
            KeyError: there is none: it is a prompt plan, or not registered.
        """
        found = self._functions[verb_id]
        if isinstance(found, DeferredVerb):
            found = self._functions[verb_id] = found.loaded()
        return found

    def is_deferred(self, verb_id: str) -> bool:
        """Whether its code waits to be imported."""
        return isinstance(self._functions.get(verb_id), DeferredVerb)

    def is_coded(self, verb_id: str) -> bool:
        """Whether there is code behind it; nothing is imported."""
        return verb_id in self._functions

    def raised(self, verb_id: str, floor: VerbEffect) -> Registry:
        """The same verbs, a leaf of them at this effect at the least: what stands around it makes
        more of a call than it declares.
        """
        found, spec = copy(self), read_only(at_least(self._specs[verb_id], floor))
        found._specs = {**self._specs, verb_id: spec}  # noqa: SLF001 - a copy of this one
        found._functions = {  # noqa: SLF001 - see above
            **self._functions,
            verb_id: replace(self._functions[verb_id], spec=spec),
        }
        return found

    def extended(
        self,
        folders: Iterable[VerbFolder] = (),
        functions: Iterable[AnyFunctionVerb | DeferredVerb] = (),
        http: HttpAccess | None = None,
        declarations: Mapping[str, str] = MappingProxyType({}),
    ) -> Registry:
        """A new registry with more verbs; the same checks hold for the whole.

        ``http``: what HTTP verbs are given from here on. ``declarations``: what is to be confirmed
        of ``functions``, by id.
        """
        written = {
            name: spec
            for name, spec in self._specs.items()
            if name not in self._functions or spec.http is not None
        }
        coded = [function for function in self._functions.values() if function.spec.http is None]
        known = {**self._declarations, **declarations}
        own = VerbFolder(
            specs=written, templates=self._templates, origins=self._origins, declarations=known
        )
        found = Registry(
            [own, *folders],
            [*coded, *functions],
            max_depth=self._max_depth,
            http=http or self._http,
        )
        return found.confirmed_by(self._confirmed)

    def _add_folder(self, folder: VerbFolder) -> None:
        for name, source in folder.templates.items():
            if self._templates.setdefault(name, source) != source:
                raise ConfigurationError(
                    f"template {name} is declared twice", code="duplicate_template"
                )
        for name, spec in folder.specs.items():
            self._add(spec, folder.origins.get(name, "a folder"))
            if spec.http is not None:
                self._functions[name] = self._requesting(self._specs[name])
        self._declarations.update(folder.declarations)

    def _requesting(self, spec: VerbSpec) -> AnyFunctionVerb:
        try:
            from ordain.verbs.http_verb import http_verb  # lazy: the HTTP client and what it needs

            return http_verb(spec, self._http)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{self._origins[spec.name]}: {error.message}", code=error.code
            ) from error

    def _add_function(self, function: AnyFunctionVerb | DeferredVerb) -> None:
        given = cast("object", function)  # an embedder's, who may not check types
        if not isinstance(given, FunctionVerb | DeferredVerb):
            named = getattr(given, "__name__", type(given).__name__)
            raise ConfigurationError(
                f"{named} is no verb: put @verb before it", code="invalid_verb"
            )
        self._add(function.spec, function.origin)
        self._functions[function.spec.name] = function

    def _add_code(self, verb_id: str, plain: Callable[..., Any]) -> None:
        spec = self._specs.get(verb_id)
        if spec is None or spec.composite or verb_id in self._functions:
            raise ConfigurationError(
                f"code for {verb_id}: no leaf verb in a folder has this id", code="invalid_verb"
            )
        self._functions[verb_id] = bind(spec, plain)

    def _add(self, spec: VerbSpec, origin: str) -> None:
        if spec.name in self._specs:
            raise ConfigurationError(
                f"verb {spec.name} is declared twice: {self._origins[spec.name]} and {origin}",
                code="duplicate_verb",
            )
        self._specs[spec.name] = read_only(bounded(raised(spec)))
        self._origins[spec.name] = origin

    def _wrong_reconcile(self, spec: VerbSpec, reconciler: str) -> str:
        """What is wrong with the verb that is asked after a crash; "": nothing. Who voids writes a
        fence, where the verb itself writes.
        """
        asked = self._specs.get(reconciler)
        if spec.voids:
            if asked is None or asked.written_effect not in {VerbEffect.READ, spec.written_effect}:
                return f"is not a registered verb of effect read or {spec.written_effect}"
            if asked.composite or not _answers_reconcile(asked, {"key", "args", "attempt"}):
                return (
                    "is no leaf that takes key, args and attempt and returns happened and output, "
                    "as one that voids does"
                )
            return ""
        if asked is None or asked.effect is not VerbEffect.READ:
            return "is not a registered verb of effect read"
        if asked.composite or not _answers_reconcile(asked, {"key", "args"}):
            return "is no leaf that takes key and args and returns happened and output"
        return ""

    def _check(self, spec: VerbSpec, max_depth: int) -> None:
        """Hold one verb against the others and against what stands behind it."""

        def refused(what: str) -> ConfigurationError:
            return ConfigurationError(
                f"{self._origins[spec.name]}: verb {spec.name}: {what}", code="invalid_verb"
            )

        try:
            compiled = compiled_verb(spec)
        except ConfigurationError as error:
            raise refused(error.message) from error
        if not spec.composite and spec.name not in self._functions:
            raise refused(
                "a leaf verb needs code: a plan or an http request in its file, or a function"
            )
        if spec.max_recursion_depth > (max_depth if spec.composite else 1):
            raise refused(
                f"max_recursion_depth: a leaf calls nothing (1), policy permits {max_depth}"
            )
        if missing := sorted(
            {spec.prompt_template, *(step.prompt_template for step in spec.plan)}
            - {None, *self._templates},
            key=str,
        ):
            raise refused(f"template {missing[0]} is not there")
        if spec.plan and (wrong := _wrong_plan(spec)):
            raise refused(wrong)
        if spec.reconciler is not None and (wrong := self._wrong_reconcile(spec, spec.reconciler)):
            raise refused(f"reconcile: {spec.reconciler} {wrong}")
        if spec.example is not None:
            if errors := compiled.input.errors(spec.example.input):
                raise refused(f"the example's input does not fit: {errors[0]}")
            if spec.example.output is not None and (
                errors := compiled.output.errors(spec.example.output)
            ):
                raise refused(f"the example's output does not fit: {errors[0]}")


def _answers_reconcile(spec: VerbSpec, needs: set[str]) -> bool:
    """Whether the runtime can ask the verb after a crash: ``{key, args, attempt}`` in, ``{happened:
    true | false | null, output}`` out.
    """
    asked, told = (
        _names(schema.get("properties")) for schema in (spec.input_schema, spec.output_schema)
    )
    required = spec.input_schema.get("required")
    return (
        needs <= asked
        and {"happened", "output"} <= told
        and set(required if isinstance(required, list) else []) <= {"key", "args", "attempt"}
    )


def _names(properties: JsonValue) -> set[str]:
    return set(properties) if isinstance(properties, dict) else set()


def _wrong_plan(spec: VerbSpec) -> str | None:
    """What is wrong with a prompt plan, if anything: its last step gives the output, so it asks a
    model.
    """
    steps = sorted(spec.plan, key=lambda step: step.order)
    if len({step.name for step in steps}) < len(steps):
        return "plan: two steps have the same name"
    if len({step.order for step in steps}) < len(steps):
        return "plan: two steps have the same order"
    if MODEL_SERVICE not in (steps[-1].services or spec.services):
        return f"plan: the last step asks a model (services: [{MODEL_SERVICE}])"
    return None
