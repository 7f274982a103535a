"""A planning session (FUT-01): requests of one caller with one ``session_id`` go on from each
other.

Which runs those are is a shared decision; what they came to is read once and recorded, and prompts
refer to that record.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.effect import Claim, SharedState
from ordain.effects.results import ReadFailed
from ordain.flows.context import FlowContext
from ordain.flows.kind import Ending
from ordain.flows.shared_claim import SharedClaim
from ordain.flows.steps.steps import Progress
from ordain.flows.steps.trace import trace_of
from ordain.journal.digests import content_digest
from ordain.ports.shared import RowRead
from ordain.ports.writes import RowTable, TableRow
from ordain.rules.plan_session import PLAN_SESSION, GoesOn, PlanSessionFacts
from ordain.rules.shared import SharedRule

EARLIER = "earlier"
GOAL_CHARS, ANSWER_CHARS, INPUT_CHARS, OUTPUT_CHARS = 300, 800, 200, 400
STEPS_TOLD = 4
PLAN_SESSIONS = RowTable(name="plan_sessions", key=("session",), columns=("runs",))
_RUNS = msgspec.json.Decoder(tuple[str, ...])


def _facts(args: Any, row: tuple[Any, ...] | None) -> PlanSessionFacts:
    return PlanSessionFacts(
        session=args["session"], run=args["run"], before=() if row is None else _RUNS.decode(row[0])
    )


def _writes(facts: PlanSessionFacts, outcome: GoesOn) -> tuple[TableRow, ...]:
    return (
        TableRow(
            table=PLAN_SESSIONS.name,
            key=(facts.session,),
            values=(msgspec.json.encode(outcome.latest).decode(),),
        ),
    )


GOING_ON: SharedClaim[PlanSessionFacts, GoesOn] = SharedClaim(
    shared=SharedRule(rule=PLAN_SESSION, facts=PlanSessionFacts, grants=GoesOn),
    tables=(PLAN_SESSIONS,),
    reads=lambda args: (RowRead(table=PLAN_SESSIONS.name, key=(args["session"],)),),
    facts=_facts,
    writes=_writes,
)


async def go_on(context: FlowContext, progress: Progress, session: str) -> ReadFailed | None:
    """Take up what the session's latest runs came to; why that cannot be read, where it cannot. No
    id of a session stands in a table, but its digest with the principal.
    """
    named = content_digest(f"{context.principal}\x1f{session}".encode())
    claimed = await context.fx.claim(
        Claim[GoesOn](name=PLAN_SESSION.name, args={"session": named, "run": context.run})
    )
    if not claimed.outcome.before:
        return None
    seen = await context.fx.perform(
        context.read(SharedState.PLANS, {"runs": list(claimed.outcome.before)})
    )
    if isinstance(seen, ReadFailed):
        return seen
    if seen.value:
        progress.beside[EARLIER] = seen.seq, len(msgspec.json.encode(seen.value))
    return None


def recounted(ending: Ending) -> dict[str, Any]:
    """What a later run of the session is told: the goal, how it ended, the answer, and the last
    steps with the records that hold them; no thought.

    Raises:
        Erased: a record of it was swept.
    """
    body: dict[str, Any] = msgspec.json.decode(ending.output)
    steps = body["steps"]
    trace = trace_of(
        ending.handed(
            seq for answer, acted, _ in steps for seq in (answer, acted) if seq is not None
        ),
        steps,
    )
    told = [
        _step(step, refs)
        for step, refs in zip(trace, steps, strict=True)
        if step["action"] is not None
    ]
    answer, error = body["final_answer"], body["error"]
    return {
        "goal": ending.given["goal"]["description"][:GOAL_CHARS],
        "status": body["status"],
        **({} if error is None else {"error": error["code"]}),
        **({} if answer is None else {"answer": answer["content"][:ANSWER_CHARS]}),
        "steps": told[-STEPS_TOLD:],
    }


def _step(step: dict[str, Any], refs: Any) -> dict[str, Any]:
    action, observed = step["action"], step["observation"]
    given = msgspec.json.encode(action["input"]).decode()[:INPUT_CHARS]
    came = (
        {"output": (observed["llm_output"] or "")[:OUTPUT_CHARS]}
        if observed["ok"]
        else {"error": observed["error"]["code"]}
    )
    return {
        "tool_id": action["tool_id"],
        "input": given,
        "ok": observed["ok"],
        **came,
        "records": [seq for seq in refs[:2] if seq is not None],
    }
