"""A result that says how far its parts are trusted, where that depends on what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ordain.contracts.verbs import Trust

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Marked(Generic[R]):
    """A verb's result, and what lowers the declared trust of its top-level fields; a function returns it as ``-> Marked[Result]``."""

    value: R
    trust: Mapping[str, Trust]
