"""What is read of a function's hints, once for all functions that are made of the same code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ordain.verbs.functions import VerbContext
from ordain.verbs.signatures import Signature, read_signature


def made(default: int, unit: str = "days") -> Callable[..., Any]:
    def wait(number: int = default, *, unit: str = unit) -> str:
        return f"{number} {unit}"

    return wait


def read(function: Callable[..., Any], **meanings: str) -> Signature:
    return read_signature(function, VerbContext, meanings)


def test_a_function_that_is_made_again_is_not_read_again() -> None:
    """The same code with the same defaults has the same signature, whatever it closes over."""
    assert read(made(7)) is read(made(7))


def test_what_is_told_of_a_function_is_its_own() -> None:
    """Another default, another meaning or another hint is another signature."""
    one, other = read(made(7)), read(made(8))
    assert [each.input_schema["properties"]["number"]["default"] for each in (one, other)] == [7, 8]
    assert read(made(7, "weeks")).input_schema["properties"]["unit"]["default"] == "weeks"
    assert "description" not in one.input_schema["properties"]["number"]
    assert (
        read(made(7), number="How many.").input_schema["properties"]["number"]["description"]
        == "How many."
    )
    hinted = made(7)
    hinted.__annotations__["number"] = "float"
    assert read(hinted).input_schema["properties"]["number"]["type"] == "number"
    assert read(made(7)).input_schema["properties"]["number"]["type"] == "integer"
