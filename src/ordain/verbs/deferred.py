"""A verb of this build as it was declared when it was built; its code is imported and read when it
is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ordain.contracts.verbs import VerbSpec
from ordain.verbs.functions import FunctionVerb


@dataclass(frozen=True, slots=True)
class DeferredVerb:
    """``spec`` is what ``load`` makes, as a test holds; ``origin`` is where that stands."""

    spec: VerbSpec
    origin: str
    load: Callable[[], FunctionVerb[..., Any]]

    def loaded(self) -> FunctionVerb[..., Any]:
        """The verb with its code, at the effect that it has here."""
        return replace(self.load(), spec=self.spec)
