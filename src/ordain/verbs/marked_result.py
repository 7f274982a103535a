"""A result that says how far its parts are trusted, where that depends on what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from msgspec import Struct

from ordain.contracts.verbs import Trust

R = TypeVar("R")


class Marked(Struct, Generic[R], frozen=True):
    """A verb's result, and what lowers the declared trust of its top-level fields; a function
    returns it as ``-> Marked[Result]``.
    """

    value: R
    trust: Mapping[str, Trust]
