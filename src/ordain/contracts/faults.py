"""What is wrong at a place of something that a person wrote, in words that name the place once."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ValidationError

from ordain.contracts.model_keys import misfit_words

FieldPath = tuple[str | int, ...]
Fault = tuple[FieldPath, str]
"""Where in a declaration something is wrong, and what: words that do not name the place again, see
``placed``.
"""

MISSING = "is missing"


def dotted(place: FieldPath) -> str:
    """A place of a declaration in words."""
    return ".".join(map(str, place))


def placed(place: FieldPath, what: str, whole: str = "") -> str:
    """A fault as a sentence; ``whole`` is what all of it is called, where nothing smaller is
    meant.
    """
    where = dotted(place) or whole
    if not where:
        return what
    return f"{where} {what}" if what.startswith(("is ", "must ")) else f"{where}: {what}"


def faults_of(model: type[BaseModel], error: ValidationError) -> Iterator[Fault]:
    """Every fault of what is no ``model``, with its place in it; those that the contract itself
    found among them.
    """
    for one in error.errors(include_url=False, include_input=False):
        told = one.get("ctx", {}).get("faults")
        if told:
            yield from told
        elif one["type"] == "missing":
            yield one["loc"], MISSING
        else:
            yield one["loc"], misfit_words(model, one).removeprefix("Input ")
