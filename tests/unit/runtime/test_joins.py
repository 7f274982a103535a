"""Joins of children: when one is over, who is stopped then, and how much it hands over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.children import AnyEnded, Completed, Failed, Join, JoinMode, Spawn
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Status, raw
from ordain.ports.store import Append, Outcome
from ordain.ports.writes import NewRun
from ordain.rules.header import QUOTED_MAX, HeaderFacts, HeaderLine, quotable, render_header
from ordain.rules.spend import Spend
from ordain.runtime.joins import (
    DEADLINE,
    GRACE_US,
    RESULTS_TOO_LARGE,
    HandedOver,
    handed_over,
    why_over,
)
from ordain.runtime.replay import replay
from ordain.runtime.run_journal import RunJournal
from ordain.runtime.run_state import JOIN_BYTES
from ordain.testing import (
    ScriptedEffects,
    catalog_of,
    child_cancelled,
    child_failed,
    completed,
    joined,
    kind_of,
)
from tests.unit.runtime.families import CHILD, PARENT, begun, joined_as
from tests.unit.runtime.house import BEGAN, SECOND, House, bodies, submitted

# --- when a join is over --------------------------------------------------------------------------

ENDS = st.sampled_from([completed("x"), child_failed("broken"), child_cancelled()])
JOINS = st.one_of(
    st.just(Join()),
    st.just(Join(mode=JoinMode.FIRST)),
    st.integers(1, 6).map(lambda n: Join(mode=JoinMode.QUORUM, quorum=n)),
)


@given(JOINS, st.lists(ENDS, min_size=1, max_size=6), st.randoms())
def test_a_join_that_is_over_stays_over(until: Join, ends: list[AnyEnded], chance: Any) -> None:
    """Whatever ends after it, in whatever order; and with the last child every join is."""
    order = list(range(len(ends)))
    chance.shuffle(order)
    seen: dict[int, AnyEnded] = {}
    over = False
    for index in order:
        seen[index] = ends[index]
        now = why_over(until, len(ends), seen) is not None
        assert now or not over
        over = now
    assert over


@given(JOINS, st.lists(ENDS, min_size=1, max_size=6), st.integers(0, 5))
def test_a_number_is_waited_for_while_it_can_be_reached(
    until: Join, ends: list[AnyEnded], count: int
) -> None:
    """Only what completed counts; all of them wait for all."""
    seen = dict(enumerate(ends[:count]))
    done = sum(isinstance(end, Completed) for end in seen.values())
    open_still = len(ends) - len(seen)
    why = why_over(until, len(ends), seen)
    if open_still == 0:
        assert why == "all ended"
    elif until.mode is JoinMode.ALL:
        assert why is None
    else:
        wanted = until.quorum if until.mode is JoinMode.QUORUM else 1
        assert why == (
            f"{done} completed"
            if done >= wanted
            else "cannot be reached"
            if done + open_still < wanted
            else None
        )


# --- how much they may bring ----------------------------------------------------------------------

LARGE = 7 * 2**20


async def _long(context: FlowContext, given: int) -> str:
    return "x" * given


async def _gathers(context: FlowContext, given: list[int]) -> list[Any]:
    """Opens one that returns so much for each number, and says how they ended and how much there is
    of each.
    """
    spawns = tuple(
        Spawn[Any](flow="long", input=raw(one), deadline=context.hard, allowance=Spend())
        for one in given
    )
    ends = await context.fx.children(spawns, Join())
    return [
        [type(end).__name__, getattr(end, "reason", ""), len(bytes(getattr(end, "value", b"")))]
        for end in ends
    ]


LONG: Kind[Any, Any] = replace(kind_of(_long, charged=False), name="long")
GATHERS: Kind[Any, Any] = replace(kind_of(_gathers, charged=False), name="gathers")
GATHERED = [
    ["Completed", "", LARGE + 2],
    ["Completed", "", LARGE + 2],
    ["Failed", RESULTS_TOO_LARGE, 4],
    ["Completed", "", 7],
]


def test_a_long_header_costs_no_child_its_result() -> None:
    """Results and what is told besides them have each their bound: what a join has no room for is
    left out, and its figures stay.
    """
    line = HeaderLine(mark="ok", what="big.verb", excerpt="x" * 2**20)
    ended = bytes(raw(Completed(child="c", value=raw("done"), header=header_of("c", (line,) * 20))))
    assert len(ended) > JOIN_BYTES
    told = msgspec.json.decode(bytes(handed_over(HandedOver(), ended)), type=AnyEnded)
    assert (type(told), bytes(told.value), [one.what for one in told.header.lines]) == (
        *(Completed, b'"done"'),
        ["20 lines are left out here: run c has them"],
    )
    failed = msgspec.json.decode(
        bytes(handed_over(HandedOver(results=JOIN_BYTES), ended)), type=AnyEnded
    )
    assert (type(failed), failed.reason, len(failed.header.lines)) == (Failed, RESULTS_TOO_LARGE, 1)
    short = bytes(raw(Completed(child="c", value=raw("done"), header=header_of("c", (line,)))))
    assert bytes(handed_over(HandedOver(results=JOIN_BYTES - 6), short)) == short


@pytest.mark.parametrize("wakes", [False, True])
async def test_what_is_told_in_a_join_is_bounded_as_its_results_are(wakes: bool) -> None:
    """Reasons and headers of many: whoever ends when there is no room left is told in few words,
    and replays equal.
    """

    def fails(output: str) -> Settlement:
        return Settlement(status=Status.FAILED, reason="r" * LARGE)

    def lines(output: str) -> tuple[HeaderLine, ...]:
        return (HeaderLine(mark="info", what="w" * LARGE),) if output == "" else ()

    with House(replace(LONG, settle=fails, header=lines), GATHERS) as house:
        run = await house.open(GATHERS, [1, 1, 1, 0])
        await house.drive(run)
        for index in range(4):
            await house.drive(derived_id(run, 0, index))
            if wakes:
                await house.drive(run)
        await house.drive(run)
        stored = house.stored(run)
        assert stored.status is Status.COMPLETED
        (ended,) = house.bodies(run, RecordKind.ENDED)
        assert [len(one[1]) for one in msgspec.json.decode(ended.result)] == [LARGE, 100, 100, 100]
        assert "1 lines are left out here" in ended.header
        assert (
            sum(
                len(record.body or b"")
                for record in stored.records
                if record.kind is RecordKind.CHILD_ENDED
            )
            <= JOIN_BYTES
        )
        assert replay(stored, house.catalog, house.kinds).equal


def test_what_a_parent_is_told_is_what_can_be_quoted() -> None:
    """Of what lines quote no more than a rendering looks at, and equal when rendered."""
    whole = header_of(
        "c",
        tuple(HeaderLine(mark=mark, what="a", excerpt='x"✓ ' * 5000) for mark in ("ok", "fail")),
    )
    cut = quotable(whole)
    assert render_header(cut) == render_header(whole)
    assert all(len(line.excerpt) == QUOTED_MAX for line in cut.lines)


def header_of(run: str, lines: tuple[HeaderLine, ...]) -> HeaderFacts:
    """Facts of a run that did just this."""
    return HeaderFacts(
        run=run,
        flow="f@1",
        status="completed",
        reason="ok",
        models=(),
        notices=(),
        lines=lines,
        estimated=False,
        **dict.fromkeys(
            (
                "steps",
                "model_calls",
                "verb_calls",
                "tokens_in",
                "tokens_out",
                "usd_micros",
                "duration_ms",
            ),
            0,
        ),
    )


@pytest.mark.parametrize("wakes", [False, True])
async def test_a_join_hands_over_no_more_than_a_wake_may_read(wakes: bool) -> None:
    """Whoever ends when it is full has failed for it, one at a time or all at once; its own run
    keeps its result.
    """
    with House(LONG, GATHERS) as house:
        run = await house.open(GATHERS, [LARGE, LARGE, LARGE, 5])
        await house.drive(run)
        children = [derived_id(run, 0, index) for index in range(4)]
        for child in children:
            await house.drive(child)
            if wakes:
                await house.drive(run)
        await house.drive(run)
        stored = house.stored(run)
        assert stored.status is Status.COMPLETED
        assert msgspec.json.decode(house.bodies(run, RecordKind.ENDED)[0].result) == GATHERED
        handed = sum(
            len(record.body or b"")
            for record in stored.records
            if record.kind is RecordKind.CHILD_ENDED
        )
        assert LARGE < handed <= JOIN_BYTES
        assert house.stored(children[2]).status is Status.COMPLETED
        assert len(house.bodies(children[2], RecordKind.ENDED)[0].result) == LARGE + 2
        assert RESULTS_TOO_LARGE in house.bodies(run, RecordKind.ENDED)[0].header
        assert replay(stored, house.catalog, house.kinds).equal


def test_a_scripted_join_hands_over_as_much() -> None:
    """The same ends for the unit test of a flow."""
    values = [completed("x" * one) for one in (LARGE, LARGE, LARGE, 5)]
    assert (
        ScriptedEffects(GATHERS, catalog_of()).play([0, 0, 0, 0], [joined(*values)]).output
        == GATHERED
    )


# --- a join at work -------------------------------------------------------------------------------


async def test_results_come_in_the_order_of_the_spawns() -> None:
    """Whoever ends first; a child's end is dated by when it ended."""
    with House(CHILD, PARENT) as house:
        run, (first, second) = await begun(house, children=[0, 0])
        await house.drive(second)
        house.clock.pass_s(5)
        await house.drive(first)
        house.clock.pass_s(5)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert [one.child for one in house.bodies(run, RecordKind.CHILD_ENDED)] == [second, first]
        ended = [one.at for one in house.stored(run).records if one.kind is RecordKind.CHILD_ENDED]
        assert ended == [BEGAN, BEGAN + 5 * SECOND]
        assert joined_as(house, run) == ((0, 1), "all ended")


async def test_the_rest_is_stopped_when_the_join_is_over() -> None:
    """And awaited: the parent goes on when all have settled, and knows which counted."""
    with House(CHILD, PARENT) as house:
        run, (slow, quick) = await begun(house, children=[60, 0], mode="first")
        for one in (slow, quick):
            await house.drive(one)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(slow)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((1,), "1 completed")
        assert bytes(house.bodies(run, RecordKind.ENDED)[0].result) == b'["Cancelled","Completed"]'


async def test_a_join_ends_with_its_deadline() -> None:
    """Who has ended by then counts; a child that ended before it and was noticed after it as
    well.
    """
    with House(CHILD, PARENT) as house:
        run, (quick, slow) = await begun(house, children=[0, 60], deadline=10)
        house.clock.pass_s(9)
        await house.drive(quick)
        await house.drive(slow)
        house.clock.pass_s(9)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(slow)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((0,), DEADLINE)


async def test_a_child_whose_time_is_over_too_ends_by_itself() -> None:
    """Both moments are one where a verb has all that is left of its caller's time: what became of
    it is for the child to say, and not that somebody stopped it. It counts as late all the same.
    """
    with House(CHILD, PARENT) as house:
        run, (quick, last) = await begun(house, children=[0, 10], deadline=10, theirs=10)
        await house.drive(quick)
        await house.drive(last)
        house.clock.pass_s(10)
        assert (await house.drive(run)).status is Status.WAITING
        assert house.store.untaken(last) == []
        assert (await house.drive(last)).status is Status.COMPLETED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((0,), DEADLINE)
        assert bytes(house.bodies(run, RecordKind.ENDED)[0].result) == b'["Completed","Completed"]'
        assert replay(house.stored(run), house.catalog, house.kinds).equal


async def test_a_child_that_goes_on_beyond_its_time_is_stopped() -> None:
    """The parent is woken for that, soon; one that has more time than the join is stopped at
    once.
    """
    with House(CHILD, PARENT) as house:
        run, (slow,) = await begun(house, children=[60], deadline=10, theirs=10)
        await house.drive(slow)
        house.clock.pass_s(10)
        await house.drive(run)
        assert house.store.untaken(slow) == []
        assert house.stored(run).wake_at == house.clock.now() + GRACE_US
        house.clock.pass_s(1)
        assert (await house.drive(run)).status is Status.WAITING
        assert house.stored(run).wake_at is None
        assert (await house.drive(slow)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.COMPLETED
        assert joined_as(house, run) == ((), DEADLINE)


async def test_an_interrupt_waits_for_the_children() -> None:
    """They are stopped first; then it reaches the flow, and the run is cancelled."""
    with House(CHILD, PARENT) as house:
        run, (child,) = await begun(house, children=[60])
        await house.drive(child)
        await house.interrupt(run)
        assert (await house.drive(run)).status is Status.WAITING
        assert (await house.drive(child)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.CANCELLED
        assert [one.what for one in house.bodies(run, RecordKind.DELIVERED)] == ["cancel"]
        assert house.stored(child).reason == "cancel"


async def test_asking_twice_is_harmless() -> None:
    """A parent that is driven again before its children have stopped has one row in each
    mailbox.
    """
    with House(CHILD, PARENT) as house:
        run, (child,) = await begun(house, children=[60])
        await house.drive(child)
        await house.interrupt(run)
        for _ in range(3):
            await house.drive(run)
        assert len(house.store.untaken(child)) == 1


async def test_children_are_opened_in_the_unit_of_the_wait_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Intent, children and wait are one commit: none without the others, and each child with what
    its spawn says.
    """
    with House(CHILD, PARENT) as house:
        units = submitted(house, monkeypatch)
        run, children = await begun(house, children=[60, 0])
        (unit,) = units
        assert [record.kind for record in unit.records[-2:]] == ["intent", "suspended"]
        assert [type(write) for write in unit.writes] == [NewRun, NewRun]
        assert [house.stored(one).parent for one in children] == [run, run]
        (intent,) = bodies(house.stored(run), RecordKind.INTENT)
        assert intent.addr == 0
        assert house.stored(children[0]).root == run
        assert [house.stored(one).status for one in children] == [Status.READY] * 2


async def test_an_interrupt_that_is_faster_than_the_wait_loses_no_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wait for them is refused, and what stood before it is written with the next unit: they
    are opened, and told to stop by it.
    """
    with House(CHILD, PARENT) as house:
        run = await house.open(PARENT, {"children": [60, 60]})
        submit = house.store.submit

        async def late(unit: Append) -> Outcome:
            monkeypatch.setattr(house.store, "submit", submit)
            await house.interrupt(run)
            outcome = await submit(unit)
            assert outcome.refused == "mail"
            assert house.stored(run).head == 0
            return outcome

        monkeypatch.setattr(house.store, "submit", late)
        assert (await house.drive(run)).status is Status.WAITING
        children = [derived_id(run, 0, index) for index in range(2)]
        assert [len(house.store.untaken(child)) for child in children] == [1, 1]
        for child in children:
            assert (await house.drive(child)).status is Status.CANCELLED
        assert (await house.drive(run)).status is Status.CANCELLED
        assert replay(house.stored(run), house.catalog, house.kinds).equal


async def test_who_follows_a_turn_is_told_of_each_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, when its children are opened: also of one right behind another, whose mail it takes."""

    async def twice(context: FlowContext, _: None) -> None:
        for _ in range(2):
            spawn = Spawn[Any](
                flow="child", input=raw(0), deadline=context.hard, allowance=context.share(1)
            )
            await context.fx.children((spawn,), Join())

    told: list[str] = []
    monkeypatch.setattr(RunJournal, "stepped", lambda journal: told.append(journal.id))
    twins = kind_of(twice, charged=False)
    with House(CHILD, twins) as house:
        run = await house.open(twins, None)
        for join in range(2):
            assert (await house.drive(run)).status is Status.WAITING
            assert told == [run] * (join + 1)
            await house.drive(derived_id(run, join, 0))
        assert (await house.drive(run)).status is Status.COMPLETED
        assert told == [run] * 2
