"""What folds ask of a build beside the records: which rules there are, and what its kinds say."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ordain.rules.rulebook import Rulebook


class Meaning(Protocol):
    """What records mean that rules and kinds of runs have left: who knows them is passed in."""

    @property
    def rules(self) -> Rulebook:
        """The rules by name: each says what a decision of it adds."""
        ...

    def narrates(self, name: str, given: msgspec.Raw) -> bool:
        """Whether the words of a child of this kind, with this input, stand below its parent's
        header.
        """
        ...

    def judges(self, name: str, version: int) -> bool:
        """Whether the headers of runs of this kind and version open with a verdict."""
        ...

    def only_calls(self, name: str) -> bool:
        """Whether a child of this kind does nothing beside the calls that it makes."""
        ...

    def excerpt(self, name: str, output: msgspec.Raw) -> str:
        """What a parent's header shows of the output of a child of this kind."""
        ...
