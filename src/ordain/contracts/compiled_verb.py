"""A verb compiled, once for a spec, and its spec as it stands in a stored catalog."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from ordain.contracts.read_only import read_only
from ordain.contracts.schema import Immutable, Schema
from ordain.contracts.verbs import PlanStep, VerbSpec

COMPILED_MAX = 1024
"""Verbs kept compiled: those of a few large catalogs."""


class CompiledVerb(Immutable):
    """A verb with its schemas compiled; ``steps`` are its plan's by ``order``, and what one lacks
    of services and prompt is the verb's (C3).
    """

    spec: VerbSpec
    input: Schema
    output: Schema
    steps: tuple[PlanStep, ...]

    def __init__(self, spec: VerbSpec) -> None:
        """Compile both schemas now, so that a bad one is found at load and not in a run.
        ``compiled_verb`` does so once for a spec.
        """
        steps = tuple(
            step.model_copy(
                update={
                    "services": step.services or spec.services,
                    "prompt_template": step.prompt_template or spec.prompt_template,
                }
            )
            for step in sorted(spec.plan, key=lambda step: step.order)
        )
        self.__dict__.update(
            spec=spec,
            input=Schema(spec.input_schema),
            output=Schema(spec.output_schema),
            steps=steps,
        )

    @cached_property
    def encoded(self) -> str:
        """Its spec as it stands in a catalog that is stored."""
        return canonical(self.spec.model_dump(mode="json"))


def compiled_verb(spec: VerbSpec) -> CompiledVerb:
    """A verb compiled, as nobody can write to it: a registry and every catalog with the very same
    spec share one.

    Raises:
        ConfigurationError: a schema is invalid.
    """
    return _compiled_verb(_Itself(read_only(spec)))


class _Itself(Immutable):
    """A read-only spec as a key that only itself is equal to: it cannot change, and comparing two
    would take as long as compiling them.
    """

    spec: VerbSpec

    def __init__(self, spec: VerbSpec) -> None:
        self.__dict__.update(spec=spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.spec is self.spec

    def __hash__(self) -> int:
        return id(self.spec)


@lru_cache(maxsize=COMPILED_MAX)
def _compiled_verb(itself: _Itself) -> CompiledVerb:
    return CompiledVerb(itself.spec)


def canonical(tree: Any) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_object(parts: Mapping[str, str]) -> str:
    """An object of parts that are."""
    return "{" + ",".join(f"{canonical(name)}:{parts[name]}" for name in sorted(parts)) + "}"
