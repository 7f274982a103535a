"""What a prompt plan's answer must refer to beyond its schema: as declared; ``rules.grounds`` holds
answers to it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from ordain.contracts.planner import Strict

GROUND_PATH = r"^[A-Za-z_][A-Za-z0-9_]*(/(\*|[A-Za-z_][A-Za-z0-9_]*)){0,7}$"


class Ground(Strict):
    """What a prompt plan's answer must refer to, beyond its schema: rule ``output`` holds each
    call's answer to that call's input.

    Paths are names joined by ``/``; ``*`` is each item of a list. ``by: number`` counts items of an
    input list from 1, ``by: quote`` are words that stand in an input text. Null is accepted where
    ``optional``, or where no model is configured and code quoted the input.
    """

    output: str = Field(pattern=GROUND_PATH, max_length=200)
    input: str = Field(pattern=GROUND_PATH, max_length=200)
    by: Literal["number", "quote"]
    optional: bool = False


def declares(schema: JsonValue, path: list[str]) -> bool:
    """Whether a schema declares the place: ``properties`` for names, ``items`` for ``*``."""
    for name in path:
        inner = (
            schema.get("items" if name == "*" else "properties")
            if isinstance(schema, dict)
            else None
        )
        schema = inner if name == "*" else inner.get(name) if isinstance(inner, dict) else None
    return isinstance(schema, dict)
