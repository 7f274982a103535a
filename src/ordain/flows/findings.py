"""What agents found, as whoever handed work on has it, and the run that puts it into one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

SYNTHESIS_KIND = "synthesis"
"""The kind of run that puts what agents found into one text."""


class StepFinding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent of a step gave back, or the code and the words for why it gave nothing."""

    index: int
    agent: str
    content: str = ""
    structured: dict[str, Any] = {}
    error: str = ""
    message: str = ""


class SynthesisInput(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What was asked, and what each agent found or why it found nothing."""

    request: str
    findings: tuple[StepFinding, ...]


class SynthesisOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text; ``why`` is why code wrote it, "" where a model did. There is always one: ``error`` is
    for interrupts alone.
    """

    text: str = ""
    why: str = ""
    error: str = ""


def listed(findings: Sequence[StepFinding]) -> str:
    """What was found, in words of code around it: a paragraph for each step, in order."""
    return "\n\n".join(_told(found, f" {found.content.strip()}") for found in findings)


def set_apart(findings: Sequence[StepFinding]) -> str:
    """The same with each line of an agent's words behind a mark: no words stand as another agent's,
    nor as code's.
    """
    return "\n\n".join(
        _told(found, "".join(f"\n> {line}".rstrip() for line in found.content.splitlines()))
        for found in findings
    )


def _told(found: StepFinding, said: str) -> str:
    if found.error:
        return f"{found.agent}: not done ({found.error})"
    return f"{found.agent}:{said if found.content.strip() else ' nothing to say'}"
