"""What a turn is given and what it returns."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.conversation import ExecMode, Recall
from ordain.flows.act import StepResult
from ordain.flows.commission import Commission
from ordain.flows.recall import RecallAsked


class TurnInput(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A message as its turn gets it: where it stands, what it says and asks for, and the run it takes the place of (``after``).

    The executor's typed request, ``CortexExecRequest`` of the sources (EXE-01): nothing else is read, and what is not of it is refused.
    """

    session: str
    seq: int
    user: str
    channel: str
    text: str
    mode: ExecMode = ExecMode.BRAIN
    verb: str = ""
    allowed_verbs: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    supervised: bool = False
    max_steps: int = 0
    budget_class: str = ""
    workflow: str = ""
    delegates: tuple[str, ...] = ()
    attachments: int = 0
    locale: str = ""
    after: str = ""
    recall: RecallAsked | None = None


class TurnOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the message. ``plan`` are the steps of its execution plan as ``step/service`` (ORC-02); ``executed`` are the verbs that ran, ``whole`` and ``left_out`` count entries of the history, ``recall`` tells what memory was asked and gave."""

    ok: bool
    narrative: str
    error: dict[str, str] | None = None
    mode: ExecMode = ExecMode.BRAIN
    verb: str = ""
    plan: tuple[str, ...] = ()
    outcome: str = ""
    path: str = ""
    budget_class: str = ""
    executed: tuple[str, ...] = ()
    steps: tuple[StepResult, ...] = ()
    structured: dict[str, Any] = {}
    whole: int = 0
    left_out: int = 0
    recall: dict[str, Any] = {}


def turn_input(given: Commission) -> TurnInput:
    """The input of the turn that serves a message."""
    message = given.message
    hints = message.hints
    return TurnInput(
        session=given.session,
        seq=given.seq,
        user=message.user,
        channel=message.channel,
        text=message.text if message.text.strip() else f"({message.attachments} attachments, without a word)",
        mode=hints.mode,
        verb=hints.verb or "",
        allowed_verbs=tuple(hints.allowed_verbs),
        packs=tuple(hints.packs),
        supervised=hints.supervised,
        max_steps=hints.max_steps or 0,
        budget_class="" if hints.budget_class is None else str(hints.budget_class),
        workflow="" if hints.workflow is None else hints.workflow.template,
        delegates=tuple(hints.delegates),
        attachments=message.attachments,
        locale=message.locale,
        after=given.after,
        recall=_asked(message.recall),
    )


def _asked(recall: Recall | None) -> RecallAsked | None:
    """What a turn is to recall; None where nobody asked for it."""
    if recall is None or not recall.enabled:
        return None
    return RecallAsked(
        required=recall.required, mode=recall.mode, profile=recall.profile or "", days=recall.time_window_days, max_items=recall.max_items
    )
