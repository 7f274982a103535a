"""``ScriptedEffects``: what is scripted happens as live, what is not is an error that says what was
asked, and the journal replays.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.effects.children import Join, JoinMode, Spawn
from ordain.effects.effect import Read, Say, Wait, WaitFor
from ordain.errors import FlowFault, FlowUnavailable
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER
from ordain.journal.codec import verify
from ordain.journal.records import Raw, Status, raw
from ordain.ports.effects import Interrupted
from ordain.rules.spend import Spend
from ordain.testing import (
    AS_CHILD,
    ScriptedEffects,
    ScriptError,
    Standing,
    after,
    answered,
    call,
    catalog_of,
    child_cancelled,
    completed,
    expired,
    failed,
    finish,
    interrupt,
    joined,
    kind_of,
    read,
    returned,
)
from tests.unit.flows.house import play, shipped

REQUEST = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True}, verb="math.evaluate")
items = st.sampled_from(
    [
        SUM,
        RESULT,
        finish("42"),
        failed("overflow"),
        interrupt(),
        interrupt(in_flight=True),
        after(50, finish("42")),
    ]
)


@given(st.lists(items, max_size=6))
def test_whatever_is_scripted_replays_equal(script: list[Any]) -> None:
    """Where the script fits the flow, the journal that comes of it is whole and every decision of
    it is made again.
    """
    try:
        played = play(PLANNER, REQUEST, *script)
    except ScriptError:
        return
    verify(played.stored.id, played.stored.key, played.stored.records)
    assert played.replayed().decisions == len(played.decisions)


def test_the_same_script_gives_the_same_journal() -> None:
    """Nothing of it depends on the time, on chance or on an earlier play."""
    effects = ScriptedEffects(PLANNER, shipped())
    first, again = (effects.play(REQUEST, [SUM, RESULT, finish("42")]) for _ in range(2))
    assert first.stored == again.stored


def test_input_may_be_json() -> None:
    """As a request outside brings it."""
    given_json = Raw(REQUEST.model_dump_json(exclude_unset=True).encode())
    assert (
        ScriptedEffects(PLANNER, shipped()).play(given_json, [finish("42")]).status
        is Status.COMPLETED
    )


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([], "the script is over"),
        ([RESULT], "a model's answer for purpose 'planner'"),
        ([SUM, finish("42")], "verb math.evaluate"),
        ([SUM, returned({}, verb="other")], "verb math.evaluate"),
        ([finish("42"), SUM], "never asked for"),
        ([finish("42"), interrupt()], "never asked for"),
    ],
)
def test_a_script_that_does_not_fit_says_what_was_asked(script: list[Any], says: str) -> None:
    """Both what the flow asks for and what the script has, or what nobody asked for."""
    with pytest.raises(ScriptError, match=says):
        ScriptedEffects(PLANNER, shipped()).play(REQUEST, script)


async def _wait(context: FlowContext, given: Any) -> Any:
    result = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about="?", deadline=context.now() + 1_000_000)
    )
    return [type(result).__name__, context.now()]


@pytest.mark.parametrize(
    ("script", "name", "moved"),
    [
        (answered("yes"), "Answered", 0),
        (after(400, answered("yes")), "Answered", 400),
        (after(1500, answered("yes")), "Expired", 1000),
        (expired(), "Expired", 1000),
    ],
)
def test_time_moves_as_scripted(script: Any, name: str, moved: int) -> None:
    """An answer after its deadline is none; the record's time is the clock's, and the flow's stands
    still while a person has the word.
    """
    played = ScriptedEffects(kind_of(_wait), catalog_of()).play(None, [script])
    began, (seen,) = (
        played.stored.records[0].at,
        [record for record in played.stored.records if record.kind == "observation"],
    )
    assert (played.output, seen.at) == ([name, began], began + moved * 1000)


async def _swallow(context: FlowContext, given: Any) -> str:
    try:
        await context.fx.perform(Wait(what=WaitFor.ANSWER, about="?", deadline=context.now() + 1))
    except Interrupted as interrupted:
        await context.fx.perform(Say(text=f"stopped by {interrupted.by}"))
        if given:
            await context.fx.perform(Wait(what=WaitFor.TIMER, about="", deadline=context.now() + 1))
    return "done"


async def asks_and_works(context: FlowContext, given: Raw) -> list[int]:
    """A person's word, then a rest of a minute: what time it is for the flow before, between and
    after.
    """
    times = [context.now()]
    await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about="may I", deadline=context.now() + 86_400_000_000)
    )
    times.append(context.now())
    await context.fx.perform(
        Wait(what=WaitFor.TIMER, about="rest", deadline=context.now() + 60_000_000)
    )
    return [*times, context.now()]


@pytest.mark.parametrize(
    "word", [after(7_200_000, answered("yes")), expired(), after(90_000_000, answered("too late"))]
)
def test_time_stands_still_while_a_person_has_the_word(word: Any) -> None:
    """However long the answer takes, also where none comes, the run has the time that it had; the
    clock has gone on, and the journal replays.
    """
    played = ScriptedEffects(kind_of(asks_and_works), catalog_of()).play(raw({}), [word])
    asked, told, rested = played.output or []
    assert (told - asked, rested - told) == (0, 60_000_000)
    records = played.stored.records
    assert records[-1].at - records[0].at > 2 * 3_600_000_000
    assert played.replayed().equal


def test_what_a_wait_took_is_on_record_as_live() -> None:
    """``resumed`` before the observation, with what was lost; a wait that took no time has none,
    nor has a timer.
    """
    kind = kind_of(asks_and_works)
    slow, quick = (
        ScriptedEffects(kind, catalog_of()).play(raw({}), [word]).stored.records
        for word in (after(500, answered(1)), answered(1))
    )
    assert [record.kind for record in slow if record.kind == "resumed"] == ["resumed"]
    assert [record.kind for record in slow][2:4] == ["resumed", "observation"]
    assert b'"lost_us":500000' in (slow[2].body or b"")
    assert "resumed" not in [record.kind for record in quick]


def test_after_an_interrupt_only_words_and_reads() -> None:
    """As live: the run is cancelled however its flow ends, and anything else is its fault."""
    effects = ScriptedEffects(kind_of(_swallow), catalog_of())
    played = effects.play(False, [interrupt(by="user:ada")])
    assert (played.said, played.status, played.output) == (
        ("stopped by user:ada",),
        Status.CANCELLED,
        "done",
    )
    with pytest.raises(FlowFault):
        effects.play(True, [interrupt()])
    kept = effects.play(True, [interrupt()], faults=True)
    assert (kept.status, kept.replayed().equal) == (Status.FAULTED, True)


async def _broken(context: FlowContext, given: Any) -> None:
    raise ZeroDivisionError


def test_a_bug_in_a_flow_is_raised_or_kept() -> None:
    """Raised for a test to show, kept where it wants to see the journal."""
    effects = ScriptedEffects(kind_of(_broken), catalog_of())
    with pytest.raises(ZeroDivisionError):
        effects.play(None)
    kept = effects.play(None, faults=True)
    assert isinstance(kept.fault, ZeroDivisionError)
    assert "faulted" in repr(kept)


async def _fan(context: FlowContext, given: Any) -> Any:
    share = context.share(3)
    spawns = [
        Spawn[Any](flow="part", input=raw(None), deadline=context.deadline, allowance=share)
        for _ in range(3)
    ]
    ends = await context.fx.children(spawns, Join(mode=JoinMode.FIRST))
    return [type(end).__name__ for end in ends]


def test_children_end_in_the_order_of_the_script() -> None:
    """What they spent is booked, and the join is over once enough of them have completed."""
    played = ScriptedEffects(kind_of(_fan), catalog_of()).play(
        None,
        [
            joined(
                child_cancelled(),
                completed(1, spent=Spend(tokens=5)),
                child_cancelled(),
                order=[1, 0, 2],
            )
        ],
    )
    assert played.output == ["Cancelled", "Completed", "Cancelled"]
    assert (played.spent.tokens, played.replayed().equal) == (5, True)
    assert b'"counted":[1]' in (played.stored.records[-2].body or b"")
    with pytest.raises(ScriptError, match="3 children"):
        ScriptedEffects(kind_of(_fan), catalog_of()).play(None, [joined(completed(1))])


def test_children_of_unknown_kinds_are_no_scripts_business() -> None:
    """Unless the kinds are given: then a child is one of them, as live."""
    with pytest.raises(FlowUnavailable):
        ScriptedEffects(kind_of(_fan), catalog_of(), kinds=Kinds((PLANNER,))).play(
            None, [joined(*[child_cancelled()] * 3)]
        )


async def _look(context: FlowContext, given: Any) -> Any:
    seen = await context.fx.perform(Read(what="run", args={}, deadline=context.hard))
    return [
        context.session,
        context.child,
        context.keep_thoughts,
        len(context.scope.allowed),
        type(seen).__name__,
    ]


def test_a_run_stands_where_it_is_said_to() -> None:
    """Session, parent, scope and what may be kept are as live."""
    standing = Standing(
        session="s1", child=True, keep_thoughts=False, scope=("a", "b"), lasts=timedelta(seconds=1)
    )
    answers = [read(None)]
    assert ScriptedEffects(kind_of(_look), catalog_of(), standing=standing).play(
        None, answers
    ).output == [
        "s1",
        True,
        False,
        2,
        "ReadValue",
    ]
    assert ScriptedEffects(kind_of(_look), catalog_of(), standing=AS_CHILD).play(
        None, answers
    ).output == ["", True, True, 0, "ReadValue"]


def test_a_script_may_be_a_function() -> None:
    """Of each effect and claim, None where that ends by itself."""
    played = ScriptedEffects(kind_of(_look), catalog_of()).play(
        None, lambda asked: read(None) if isinstance(asked, Read) else None
    )
    assert played.output[-1] == "ReadValue"
