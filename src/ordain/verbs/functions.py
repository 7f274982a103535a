"""Python functions as verbs: ``@verb`` reads schemas from type hints, and everything else is
declared beside the function.

The decorator returns a value: nothing is registered anywhere. What is wrong is said at decoration,
with the function's name and line, and never in a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Literal, ParamSpec, Required, TypedDict, TypeVar, Unpack, cast

from msgspec import Struct
from pydantic import JsonValue, ValidationError

from ordain.contracts.access import TokenScope
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.named_delay import DELAY_MAX_MS
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import (
    Argument,
    ArgumentRole,
    Category,
    Example,
    OutputField,
    Reconcile,
    Retry,
    SafetyRule,
    Trust,
    VerbEffect,
    VerbSpec,
)
from ordain.errors import ConfigurationError
from ordain.ports.verb import WITHDRAWN, Withdrawing, nothing_withdrawn
from ordain.verbs.docstrings import read_docstring
from ordain.verbs.signatures import Signature, UnreadableSignature, read_signature

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=StrEnum)
NO_EFFECT = f'it declares no effect: @verb(effect="read"), or another of {", ".join(VerbEffect)}'
DELAY_MAX_S = DELAY_MAX_MS // 1000
"""What a longer delay counts as that a failure names: nobody waits for it, and the failure
stands.
"""


class VerbContext(Struct, frozen=True, kw_only=True):
    """What a function may know of its call, as parameter ``context: VerbContext``, which no
    argument can stand for.

    ``key`` is the idempotency key, the same in every attempt of one authorised call; ``attempt``
    counts from 1; ``left_s`` is the time that was left when the attempt began, in seconds;
    ``at_us`` when that was, in microseconds since 1970 UTC (0: nobody said). ``workspace``,
    ``session`` ("": none), ``run`` and ``principal`` (who asked for it, as journals name them) say
    on whose behalf. ``still_allowed`` says whether the call may go out yet.
    """

    key: str
    attempt: int
    left_s: float
    at_us: int = 0
    last_look: Withdrawing = nothing_withdrawn
    workspace: str = DEFAULT_WORKSPACE
    session: str = ""
    run: str = ""
    principal: str = ""

    async def still_allowed(self) -> None:
        """For an ``async`` function that has waited before it acts: whether it may still. Ask right
        before whatever cannot be taken back, and ask nobody in between.

        Raises:
            VerbError: ``withdrawn``, with ``happened=False``: the run is being stopped, or the verb
                was switched off meanwhile. Let it through.
        """
        if (why := await self.last_look()) is not None:
            raise VerbError(WITHDRAWN, why, happened=False)


class VerbError(Exception):
    """A failure that verb code declares. Anything else it raises is reported by its type alone.

    ``code`` is a lower-case word, stable for programs; ``message`` (at most 300 characters reach
    anybody) holds no secret. ``retryable``: the same call may succeed later; ``retry_after_s``: not
    before so many seconds, where that is known. ``happened``: False where the effect certainly did
    not happen, None where nobody knows.
    """

    code: str = "verb_error"
    message: str = ""
    retryable: bool = False
    happened: bool | None = None
    retry_after_s: float = 0

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        happened: bool | None = None,
        retry_after_s: float = 0,
    ) -> None:
        """Declare it; of what changes nothing (a read, egress) ``happened`` says nothing."""
        super().__init__(code, message)
        self.code, self.message = str(code), str(message)
        self.retryable, self.happened = (
            bool(retryable),
            None if happened is None else bool(happened),
        )
        self.retry_after_s = retry_after_s


CategoryWord = Literal[
    "SelfModification",
    "MemoryAccess",
    "ExecutiveControl",
    "Generative",
    "Transform",
    "Perception",
    "MetaCognition",
]
RoleWord = Literal[
    "recipient",
    "target",
    "amount",
    "when",
    "url",
    "attachment",
    "secret",
    "content",
    "label",
    "flag",
]
TrustWord = Literal["system", "own", "directory", "member", "foreign"]


class VerbOptions(TypedDict, total=False):
    """What a function's signature cannot say; see ``VerbSpec`` for each. ``name`` defaults to the
    function's. Each word may be a plain string.
    """

    effect: Required[
        VerbEffect
        | Literal["read", "egress", "private", "send", "admin", "pay", "delete", "secret"]
    ]
    name: str
    label: str
    description: str
    category: Category | CategoryWord
    tags: list[str]
    arguments: Mapping[str, Argument | ArgumentRole | RoleWord]
    output: Mapping[str, OutputField | Trust | TrustWord]
    timeout_ms: int
    retry: Retry
    idempotent: bool
    scopes: Sequence[TokenScope | str]
    reconcile: str | Reconcile
    safety_rules: list[SafetyRule]
    example: Example | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionVerb(Generic[P, R]):
    """A verb with its code; calling it calls the function."""

    spec: VerbSpec
    function: Callable[P, R]
    signature: Signature
    asynchronous: bool

    @property
    def origin(self) -> str:
        """Where its function stands."""
        return f"function {self.function.__module__}.{self.function.__qualname__}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it was written."""
        return self.function(*args, **kwargs)


AnyFunctionVerb = FunctionVerb[..., Any]


def verb(
    bare: None = None, /, **options: Unpack[VerbOptions]
) -> Callable[[Callable[P, R]], FunctionVerb[P, R]]:
    """Make a verb of a plain or ``async`` function; ``bare`` is what ``@verb`` without its brackets
    is given, and is refused.

    Input schema from the parameters, closed; output schema from the result, wrapped as ``{"result":
    ...}`` where it is no object; description and the arguments' meanings from the docstring.

    Raises:
        ConfigurationError: the function cannot be a verb, or the declaration does not fit it; names
            function, file and line.
    """
    if bare is not None:
        raise _refused(_place(bare), NO_EFFECT)

    def decorate(function: Callable[P, R]) -> FunctionVerb[P, R]:
        place = _place(function)
        if "effect" not in options:
            raise _refused(place, NO_EFFECT)
        documented = read_docstring(function.__doc__)
        signature = _read(function, documented.arguments, place)
        fields: dict[str, Any] = {
            "name": function.__name__,
            "description": documented.description,
            **options,
        }
        if not fields["description"]:
            raise _refused(
                place,
                "there is no description: it has neither a docstring nor the option description",
            )
        fields |= _words(options, place)
        fields["input_schema"] = _listed(signature.input_schema, fields)
        fields["output_schema"] = signature.output_schema
        try:
            spec = VerbSpec(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise _refused(
                place, f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip()
            ) from error
        _lint(spec, place)
        return _bound(spec, function, signature)

    return decorate


def _words(options: VerbOptions, place: str) -> dict[str, Any]:
    """The options that may be plain strings, as what they name."""

    def named(kind: type[E], given: object, option: str) -> E:
        try:
            return kind(given)
        except ValueError as error:
            raise _refused(
                place, f"{option} is one of {', '.join(kind)}, not {str(given)[:60]!r}"
            ) from error

    found: dict[str, Any] = {"effect": named(VerbEffect, options["effect"], "effect")}
    if "category" in options:
        found["category"] = named(Category, options["category"], "category")
    if "scopes" in options:
        found["scopes"] = [named(TokenScope, one, "scopes") for one in options["scopes"]]
    if "example" in options and not isinstance(options["example"], Example):
        found["example"] = dict(options["example"])
    found["arguments"] = {
        name: Argument(role=named(ArgumentRole, given, f"arguments.{name}"))
        if isinstance(given, str)
        else given
        for name, given in options.get("arguments", {}).items()
    }
    found["output"] = {
        name: OutputField(trust=named(Trust, given, f"output.{name}"))
        if isinstance(given, str)
        else given
        for name, given in options.get("output", {}).items()
    }
    return found


def bind(spec: VerbSpec, function: Callable[P, R]) -> FunctionVerb[P, R]:
    """Put a function behind a leaf spec written elsewhere (YAML); the spec's schemas stand, the
    names must be the same.

    Raises:
        ConfigurationError: the parameters are not the spec's arguments.
    """
    place = _place(function)
    signature = _read(function, {}, place)
    declared = spec.input_schema.get("properties")
    if set(signature.convert) != set(cast(dict[str, JsonValue], declared or {})):
        raise _refused(place, f"parameters are not the arguments of verb {spec.name}")
    return _bound(spec, function, signature)


def _listed(schema: dict[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with declared lists of values in it, so that a planner sees what it may choose
    from.

    Of a verb that sends its arguments out a list closes nothing, however it is written: another
    value asks somebody (``contracts.bounded``).
    """
    if declared.get("effect") == VerbEffect.EGRESS:
        return schema
    arguments: Mapping[str, Argument] = declared["arguments"]
    properties = dict(schema["properties"])
    for name, argument in arguments.items():
        if argument.allowed is not None and name in properties:
            properties[name] = {**properties[name], "enum": argument.allowed}
    return {**schema, "properties": properties}


def _bound(spec: VerbSpec, function: Callable[P, R], signature: Signature) -> FunctionVerb[P, R]:
    return FunctionVerb(spec, function, signature, inspect.iscoroutinefunction(function))


def _read(function: Callable[..., Any], meanings: Mapping[str, str], place: str) -> Signature:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise _refused(place, "a generator is not a verb: return the whole result")
    try:
        return read_signature(function, VerbContext, meanings)
    except UnreadableSignature as error:
        raise _refused(place, str(error)) from error


def _lint(spec: VerbSpec, place: str) -> None:
    """What only the schemas and the declaration together can show."""
    try:
        accepted, returned = Schema(spec.input_schema), Schema(spec.output_schema)
    except ConfigurationError as error:
        raise _refused(place, error.message) from error
    fields = spec.output_schema.get("properties")
    if isinstance(fields, dict) and (unknown := sorted(set(spec.output) - set(fields))):
        raise _refused(place, f"output fields that the result does not have: {', '.join(unknown)}")
    if spec.example is not None:
        if errors := accepted.errors(spec.example.input):
            raise _refused(place, f"the example's input does not fit: {errors[0]}")
        if spec.example.output is not None and (errors := returned.errors(spec.example.output)):
            raise _refused(place, f"the example's output does not fit: {errors[0]}")


def _place(function: Callable[..., Any]) -> str:
    """Where a function stands. Only functions have hints, a name and a line."""
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise ConfigurationError(f"{function!r} is not a function", code="invalid_verb")
    code = function.__code__
    return (
        f"{function.__module__}.{function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
    )


def _refused(place: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{place}: {what}", code="invalid_verb", details={"function": place})
