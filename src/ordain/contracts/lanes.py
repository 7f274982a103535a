"""The classes of models behind calls, and the one that may say what a message means to its
session.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field

from ordain.contracts.planner import Strict


class Lane(StrEnum):
    """The class of model behind a call (RTE-01); a mode never implies one (B-09)."""

    LOCAL = "local"
    WORKER = "worker"
    BRAIN = "brain"


class AttachPolicy(Strict):
    """How a message finds its thread; ``ask`` names a lane whose model may suggest the class
    (RTE-05), or none.

    ``cheap`` is lane ``local`` where a real model stands behind it, and none elsewhere: settings
    say which, before anything is pinned. ``off``: none.
    """

    ask: Lane | Literal["cheap", "off"] | None = "cheap"
    threshold: float = Field(default=0.7, ge=0, le=1)
    timeout_seconds: float = Field(
        default=3,
        gt=0,
        le=3600,
        description="The model's time; then wording alone places the message.",
    )

    @property
    def lane(self) -> Lane | None:
        """The lane whose model is asked."""
        return self.ask if isinstance(self.ask, Lane) else None

    def where(self, *, real: bool) -> Self:
        """The same where ``cheap`` is said out: lane ``local`` if a ``real`` model stands behind
        it, or none.
        """
        return (
            self
            if self.ask != "cheap"
            else self.model_copy(update={"ask": Lane.LOCAL if real else None})
        )
