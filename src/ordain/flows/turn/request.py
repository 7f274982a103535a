"""What a turn is given and what it returns."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.flows.carried import StepResult
from ordain.flows.commission import Commission, MessageFacts
from ordain.flows.kind import FailedStep
from ordain.journal.records import Untaken


class TurnInput(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A message with its number in the session, and the run that the turn takes the place of
    (``after``).

    ``resumes``: what that run was about was held, and goes on. Turns from before did not say.
    ``untaken`` is for the header alone.
    """

    seq: int
    message: MessageFacts
    after: str = ""
    resumes: bool = False
    untaken: Untaken | None = None


class TurnOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the message. ``plan`` are the steps of its execution plan (ORC-02) that ran,
    as ``step/service``, ``skipped`` those that did not.

    ``executed`` are the verbs that ran, ``whole`` and ``left_out`` count entries of the history,
    ``recall`` tells what memory was asked and gave. Until version 4 ``plan`` held all steps. Of a
    workflow all three tell of its own steps, and ``failed`` is the call that ended it.
    """

    ok: bool
    narrative: str
    error: dict[str, str] | None = None
    mode: ExecMode = ExecMode.BRAIN
    verb: str = ""
    plan: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    outcome: str = ""
    path: str = ""
    budget_class: str = ""
    executed: tuple[str, ...] = ()
    steps: tuple[StepResult, ...] = ()
    structured: dict[str, Any] = {}
    whole: int = 0
    left_out: int = 0
    recall: dict[str, Any] = {}
    failed: FailedStep | None = None


def turn_input(given: Commission) -> TurnInput:
    """The input of the turn that serves a message."""
    return TurnInput(
        seq=given.seq,
        message=given.message,
        after=given.after,
        resumes=given.resumes,
        untaken=given.untaken,
    )
