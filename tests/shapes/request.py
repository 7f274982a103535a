"""A run to be opened, whole: who opens it again opens the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from ordain.app import Ordain
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.flows.kind import Kind, Taken
from ordain.runtime.intake import Intake


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A root run's kind, input and identity."""

    kind: Kind[Any, Any]
    input: Raw
    request_id: str | None
    digest: str
    run: str

    async def open(self, ordain: Ordain) -> str:
        """Open it, or find what the same request became."""
        taken = Taken(input=self.input, request_id=self.request_id, digest=self.digest)
        return (
            await Intake(ordain.runtime.services).open(
                self.kind, taken, self.run, ("test", DEFAULT_WORKSPACE)
            )
        ).run
