"""The port over a journal: numbered, addressed, answered from the record, and stopped where flow
and record differ.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import Read, Say
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER
from ordain.journal.codec import Scribe, decode
from ordain.journal.records import Record, RecordKind, Status, SuspendedBody
from ordain.ports.store import StoredRun
from ordain.runtime.replay import replay
from ordain.testing import ScriptedEffects, call, finish, kind_of, read, returned, says
from tests.unit.flows.house import KINDS, play, shipped

REQUEST = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
RUN = play(
    PLANNER,
    REQUEST,
    call("math.evaluate", expression="6 * 7"),
    returned({"result": "42", "decimal": "42", "exact": True}),
    says("?"),
    finish("42"),
)


def cut(records: tuple[Record, ...]) -> StoredRun:
    return msgspec.structs.replace(RUN.stored, records=records, status=Status.RUNNING)


def test_addresses_count_by_effect_and_rule() -> None:
    """``effect/rule#k``: the k-th decision of that rule since that effect began."""
    assert [made.address for made in RUN.decisions[:4]] == [
        "0/limits#0",
        "0/scope#0",
        "0/lane#0",
        "0/reserve#0",
    ]
    assert len({made.address for made in RUN.decisions}) == len(RUN.decisions)


@given(st.integers(1, len(RUN.stored.records) - 1))
def test_every_prefix_replays(length: int) -> None:
    """A run that was cut off anywhere is equal as far as it goes."""
    found = replay(cut(RUN.stored.records[:length]), shipped(), KINDS)
    assert found.equal, found


@given(st.integers(1, len(RUN.stored.records) - 1), st.data())
def test_another_order_diverges(at: int, data: st.DataObject) -> None:
    """Records that a flow did not write are never taken for its own."""
    other = data.draw(st.integers(1, len(RUN.stored.records) - 1).filter(lambda one: one != at))
    bodies = [
        (record.kind, record.name, decode(record), record.at) for record in RUN.stored.records
    ]
    bodies[at], bodies[other] = bodies[other], bodies[at]
    scribe = Scribe(RUN.stored.id, RUN.stored.key or b"")
    shuffled = tuple(scribe.write(kind, name, body, at) for kind, name, body, at in bodies)
    assert not replay(cut(shuffled), shipped(), KINDS).equal


def test_what_stands_beside_the_flow_is_passed_over() -> None:
    """Suspensions and notes are nobody's answer."""
    scribe = Scribe(RUN.stored.id, RUN.stored.key or b"")
    records = [
        scribe.write(record.kind, record.name, decode(record), record.at)
        for record in RUN.stored.records[:-3]
    ]
    records += [
        scribe.write(
            RecordKind.SUSPENDED, "wait", SuspendedBody(addr=0, waits_for="timer"), records[-1].at
        )
        for _ in range(2)
    ]
    assert replay(cut(tuple(records)), shipped(), KINDS).equal


async def _ids(context: FlowContext, given: Any) -> list[str]:
    first = [context.fx.new_id(), context.fx.new_id()]
    await context.fx.perform(Say(text="x"))
    return [*first, context.fx.new_id()]


def test_ids_are_of_run_and_place() -> None:
    """The same in every execution, and never twice in one."""
    kind = kind_of(_ids)
    effects = ScriptedEffects(kind, shipped())
    first, again = effects.play(None).output, effects.play(None).output
    assert first == again
    assert first is not None
    assert len(set(first)) == 3


async def _retrying(context: FlowContext, given: Any) -> str:
    """Swallows what the port refuses, and tries again."""
    for session in ("other", context.session):
        try:
            await context.fx.perform(
                Read(what="threads", args={"session": session}, deadline=context.hard)
            )
        except FlowFault:
            continue
    return "went on"


def test_a_fault_is_the_last_word() -> None:
    """A flow that swallows it does not get on, and its journal ends where a replay ends."""
    effects = ScriptedEffects(kind_of(_retrying), shipped())
    with pytest.raises(FlowFault):
        effects.play(None, [read([])])
    kept = effects.play(None, [read([])], faults=True)
    assert (kept.asked, kept.output, type(kept.fault), kept.replayed().equal) == (
        (),
        None,
        FlowFault,
        True,
    )


def test_a_build_without_the_kind_cannot_replay() -> None:
    """It says so."""
    assert replay(RUN.stored, shipped(), Kinds()).verdict == "flow_unavailable"
