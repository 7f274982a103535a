"""What a workflow's run is given and what it returns."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.flows.carried import StepResult
from ordain.flows.kind import FailedStep

WORKFLOW_KIND = "workflow"
"""The kind of run that carries a workflow out."""
CANCELLED = "cancellation_requested"
"""The code with which a workflow ends that was stopped before its next step."""


class WorkflowInput(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A template of the catalog and the arguments that it is filled in with."""

    template: str
    args: dict[str, Any] = {}


class WorkflowOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a workflow: every step in order, those that never ran ``skipped``; what was
    ``undone``, in the order in which it was; and what the last step gave.

    ``failed`` is what ended it before its last step was done.
    """

    ok: bool
    template: str
    version: int = 0
    steps: tuple[StepResult, ...] = ()
    undone: tuple[StepResult, ...] = ()
    output: dict[str, Any] = {}
    failed: FailedStep | None = None
    error: str = ""
    message: str = ""

    @property
    def executed(self) -> tuple[str, ...]:
        """The verbs that ran, each once, those that undid something included."""
        return tuple(
            dict.fromkeys(
                step.step_name for step in (*self.steps, *self.undone) if not step.skipped
            )
        )

    @property
    def skipped(self) -> tuple[str, ...]:
        """The steps that did not run, as ``number:verb``."""
        return tuple(f"{step.order}:{step.step_name}" for step in self.steps if step.skipped)
