"""Replay: what is as recorded is equal, what is not is found and named, and what cannot be replayed
says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import Say
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER
from ordain.journal.codec import Scribe, decode
from ordain.journal.records import (
    DecisionBody,
    EndedBody,
    FaultedBody,
    ObservationBody,
    RecordKind,
    Started,
    Status,
    raw,
)
from ordain.ports.store import StoredRun
from ordain.runtime.replay import Difference, Replayed, opened, replay, short
from ordain.testing import ScriptedEffects, call, catalog_of, finish, kind_of, returned
from tests.unit.flows.house import KINDS, play, shipped

REQUEST = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
RUN = play(
    PLANNER,
    REQUEST,
    call("math.evaluate", expression="6 * 7"),
    returned({"result": "42", "decimal": "42", "exact": True}),
    finish("42"),
).stored
Change = Callable[[Any], Any]


def rewritten(change: Change, stored: StoredRun = RUN) -> StoredRun:
    """The run as if its records had said something else all along: digests and chain fit."""
    scribe = Scribe(stored.id, stored.key or b"")
    written = [
        scribe.write(one.kind, one.name, change(decode(one)), one.at) for one in stored.records
    ]
    return msgspec.structs.replace(stored, records=tuple(written))


def other(kind: type[Any], **fields: Any) -> Change:
    """Changes the last body of a kind's, and no other."""
    last = [body for body in map(decode, RUN.records) if isinstance(body, kind)][-1]
    return lambda body: msgspec.structs.replace(body, **fields) if body == last else body


def found(stored: StoredRun) -> Replayed:
    return replay(stored, shipped(), KINDS)


def test_an_untouched_run_is_equal() -> None:
    """Every record was looked at, every decision made anew."""
    report = found(RUN)
    assert (report.verdict, report.settled, report.records, report.differences) == (
        "equal",
        True,
        len(RUN.records),
        [],
    )
    assert report.decisions == sum(one.kind is RecordKind.DECISION for one in RUN.records)


@given(st.integers(1, len(RUN.records) - 1))
def test_a_run_is_replayed_as_far_as_it_goes(length: int) -> None:
    """Equal so far, and not settled."""
    report = found(
        msgspec.structs.replace(RUN, records=RUN.records[:length], status=Status.RUNNING)
    )
    assert (report.equal, report.settled, report.records) == (True, False, length)


def test_a_run_that_was_left_just_before_its_end_is_equal() -> None:
    """Its last result was durable by itself; one that has settled has an end, and one whose last
    word is a fault did not come to it.
    """
    records = RUN.records[:-1]
    for status, equal in ((Status.RUNNING, True), (Status.READY, True), (Status.COMPLETED, False)):
        assert found(msgspec.structs.replace(RUN, records=records, status=status)).equal is equal
    scribe = Scribe(RUN.id, RUN.key or b"", records[-1])
    fault = scribe.write(
        RecordKind.FAULTED, "fault", FaultedBody(error="ValueError"), RUN.created_at
    )
    assert (
        found(
            msgspec.structs.replace(RUN, records=(*records, fault), status=Status.FAULTED)
        ).verdict
        == "journal_diverged"
    )


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (other(EndedBody, header="✓ ordain run x"), "ended/header"),
        (other(EndedBody, reason="another"), "ended/reason"),
        (other(EndedBody, result=raw({"final_answer": "43"})), "ended/result"),
        (other(DecisionBody, reason="step.nothing"), None),
    ],
)
def test_what_is_not_as_recorded_is_named(change: Change, place: str | None) -> None:
    """By its place, with both values; the report is not equal."""
    report = found(rewritten(change))
    assert not report.equal
    if place is not None:
        assert report.verdict == "differs"
        assert place in [one.place for one in report.differences]
        assert all(one.recorded != one.now for one in report.differences)


def test_another_answer_was_asked_by_another_prompt() -> None:
    """The prompt is rendered anew for every answer, and its digest compared."""
    seqs = [
        one.seq
        for one in RUN.records
        if one.kind is RecordKind.OBSERVATION and one.name == "model_call"
    ]
    seen = decode(RUN.records[seqs[-1]])
    assert isinstance(seen, ObservationBody)
    swapped = raw({**msgspec.json.decode(seen.result), "prompt_digest": "0" * 64})
    report = found(
        rewritten(
            lambda body: msgspec.structs.replace(body, result=swapped) if body == seen else body
        )
    )
    assert [(one.place.partition("/")[2], one.recorded) for one in report.differences] == [
        ("prompt", "0" * 64)
    ]


def test_a_fact_that_is_otherwise_diverges() -> None:
    """Facts are compared byte for byte, before any rule is asked."""
    assert (
        found(rewritten(other(DecisionBody, facts=raw({"made": "up"})))).verdict
        == "journal_diverged"
    )


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ({"key": None}, "erased"),
        ({"records": ()}, "journal_corrupt"),
        ({"records": RUN.records[1:]}, "journal_corrupt"),
        ({"records": (*RUN.records, RUN.records[-1])}, "journal_corrupt"),
        ({"workspace": "elsewhere"}, "journal_corrupt"),
        ({"parent": "r0"}, "journal_corrupt"),
    ],
)
def test_what_cannot_be_replayed_says_why(row: dict[str, Any], verdict: str) -> None:
    """Erased, no journal, or one that its own row contradicts."""
    assert found(msgspec.structs.replace(RUN, **row)).verdict == verdict


def test_an_erased_run_is_told_by_what_is_left_of_it() -> None:
    """That it had ended stands in its row, and what is told of the whole has no place in it."""
    report = found(msgspec.structs.replace(RUN, key=None))
    assert (report.verdict, report.settled) == ("erased", True)
    (told,) = report.differences
    assert told.line == f"run {RUN.id} was erased"
    assert Difference(place="3/lane", recorded="a", now="b").line == "at 3/lane: recorded a; now b"
    assert Difference(place="3", recorded="", now="b").line == "at 3: b"


def test_a_run_is_replayed_under_what_it_pins() -> None:
    """No other catalog, and a kind of its own version."""
    assert replay(RUN, catalog_of(), KINDS).verdict == "journal_corrupt"
    later = rewritten(
        lambda body: (
            msgspec.structs.replace(body, flow_version=99) if isinstance(body, Started) else body
        )
    )
    assert found(later).verdict == "flow_unavailable"
    assert replay(RUN, shipped(), Kinds()).verdict == "flow_unavailable"
    assert opened(RUN, shipped(), KINDS).kind is PLANNER


# --- flows that do otherwise ----------------------------------------------------------------------


async def _once(context: FlowContext, given: Any) -> str:
    await context.fx.perform(Say(text="once"))
    return "said"


async def _twice(context: FlowContext, given: Any) -> str:
    await context.fx.perform(Say(text="once"))
    await context.fx.perform(Say(text="once"))
    return "said"


async def _never(context: FlowContext, given: Any) -> str:
    return "said"


async def _raising(context: FlowContext, given: Any) -> str:
    await context.fx.perform(Say(text="once"))
    raise ValueError("broken")


async def _swallowing(context: FlowContext, given: Any) -> str:
    try:
        await context.fx.perform(Say(text="once"))
    except BaseException:
        return "said"
    return "said"


async def _sleeping(context: FlowContext, given: Any) -> str:
    await asyncio.sleep(0)
    return "said"


def as_kind(flow: Any, stored: StoredRun, catalog: Any) -> Replayed:
    return replay(stored, catalog, Kinds((kind_of(flow),)))


@pytest.mark.parametrize(
    "flow", [_twice, _never, _raising, _sleeping], ids=lambda flow: flow.__name__
)
def test_a_flow_that_does_otherwise_is_not_equal(flow: Any) -> None:
    """One effect more, one less, an error of its own, or something that is not its port."""
    catalog = catalog_of()
    stored = ScriptedEffects(kind_of(_once), catalog).play(None).stored
    assert as_kind(_once, stored, catalog).equal
    assert not as_kind(flow, stored, catalog).equal


def test_a_fault_replays_as_that_fault_and_as_no_other() -> None:
    """Its name is on record."""
    catalog = catalog_of()
    stored = ScriptedEffects(kind_of(_raising), catalog).play(None, faults=True).stored
    assert as_kind(_raising, stored, catalog).equal
    assert not as_kind(_once, stored, catalog).equal


def test_a_flow_that_swallows_the_end_of_its_journal_has_not_ended() -> None:
    """What it does after that it did not do live."""
    catalog = catalog_of()
    stored = ScriptedEffects(kind_of(_swallowing), catalog).play(None).stored
    cut = msgspec.structs.replace(stored, records=stored.records[:1], status=Status.RUNNING)
    report = as_kind(_swallowing, cut, catalog)
    assert (report.equal, report.settled) == (True, False)


@given(st.text(min_size=200, max_size=400))
def test_a_decision_is_shown_on_one_line(text: str) -> None:
    """Cut, whatever it holds."""
    shown = short("step.x", {"text": text})
    assert "\n" not in shown
    assert len(shown) <= len("step.x ") + 160
