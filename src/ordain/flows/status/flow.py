"""Flow ``status``: how a thread is getting on, told from the durable journal; nothing is asked of a
model and nothing waits.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.effects.effect import SharedState
from ordain.effects.results import ReadValue
from ordain.flows.commission import Telling
from ordain.flows.context import FlowContext
from ordain.flows.status.late import GOES_ON, told_late
from ordain.ports.effects import Interrupted
from ordain.rules.header import SIGNS, plain

SHOWN = 300
APPROVALS_TOLD = 3
NOTHING_ELSE = (
    "Nothing else of the message was taken: a request is worked on beside it where it is a "
    "message of its own."
)


class StatusInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which run is asked after; ``about`` is progress, or stopped: what had happened by then, and
    how many ``queued`` turns never began; or that a word came too late.

    ``beside``: the message said more than yes or no to what waits for an approver.
    """

    session: str
    seq: int
    run: str
    intent: str = ""
    about: str = Telling.PROGRESS
    queued: int = 0


class StatusOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told; ``run`` is the run it is about, ``status`` where that stood."""

    narrative: str
    run: str
    status: str
    error: dict[str, str] | None = None


async def run_status(context: FlowContext, given: StatusInput) -> StatusOutput:
    """Read the run as durable now, and put it into words; its own lines stand in this run's
    header.
    """
    try:
        seen = await context.fx.perform(context.read(SharedState.RUN, {"run": given.run}))
    except Interrupted:
        return StatusOutput(
            narrative="Stopped.",
            run=given.run,
            status="",
            error={"code": "interrupted", "message": ""},
        )
    if not isinstance(seen, ReadValue) or seen.value is None:
        return StatusOutput(
            narrative="Nothing is known of it any more.", run=given.run, status="unknown"
        )
    found: dict[str, Any] = seen.value
    return StatusOutput(
        narrative=_told(context, given, found), run=given.run, status=str(found["status"])
    )


def _told(context: FlowContext, given: StatusInput, found: dict[str, Any]) -> str:
    status = found["status"]
    about = f"“{plain(given.intent.translate(SIGNS), SHOWN)}”: " if given.intent else ""
    if given.about == Telling.LATE:
        if (
            status in {"queued", "ready", "running", "waiting"}
            or found["asks"]
            or found.get("approvals")
        ):
            return f"{about}{GOES_ON}"
        over = (
            "it was done"
            if status == "completed"
            else f"it had ended as {status} ({found['reason']})"
        )
        return f"{about}{told_late(found, context.catalog, over=over)}"
    if given.about == Telling.STOPPED:
        ended = (
            "it had ended by itself before it could be stopped"
            if status == "completed"
            else "stopped"
        )
        ended += f", and {given.queued} queued behind it" if given.queued else ""
        return f"{about}{ended}. What had happened by then stands above."
    if found["asks"]:
        return f"{about}waiting for your answer: {found['asks'][:SHOWN]}"
    if found.get("approvals"):
        beside = f" {NOTHING_ELSE}" if given.about == Telling.BESIDE else ""
        return f"{about}{_awaits(found['approvals'])}{beside}"
    if status in {"ready", "running", "waiting"}:
        begun = found["steps"] or found["verb_calls"]
        calls = (
            f"{found['model_calls']} model calls and {found['verb_calls']} verb calls so far"
            if begun
            else "no step has ended yet"
        )
        return (
            f"{about}at work for {int(found['age_ms']) // 1000} s; {calls}. What has happened "
            "stands above."
        )
    if status == "queued":
        return f"{about}queued behind the turn before it."
    if status == "completed":
        return f"{about}done."
    failures = found["failures"]
    return f"{about}it ended as {status} ({found['reason']})." + (
        f" What went wrong: {failures[:SHOWN]}" if failures else ""
    )


def _awaits(approvals: list[dict[str, str]]) -> str:
    """What waits for an approver, and how a yes is given: by whoever may, to exactly what was
    looked at, and by no message.
    """
    named = [
        f"{plain(one['what'].translate(SIGNS), SHOWN)} (approval {one['approval']})"
        for one in approvals[:APPROVALS_TOLD]
    ]
    more = (
        f", and {len(approvals) - APPROVALS_TOLD} more" if len(approvals) > APPROVALS_TOLD else ""
    )
    first = approvals[0]["approval"]
    return (
        f"waiting for somebody who may approve: {'; '.join(named)}{more}. No message is a yes or "
        "a no to that. It is given with"
        f" /approve {first} or /deny {first} in ordain chat, with ordain approvals approve "
        f"{first}, or with POST /approvals/{first}/approve."
    )
