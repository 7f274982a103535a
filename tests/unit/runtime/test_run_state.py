"""Where an execution stands: one port call at a time, none after one that failed, and after an
interrupt only words and reads.
"""

from __future__ import annotations

from asyncio import CancelledError
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import AnyEffect, Children, ModelCall, Read, Say, VerbCall, Wait, WaitFor
from ordain.effects.results import Said
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.journal.records import RecordKind, Status, raw
from ordain.ports.effects import Interrupted
from ordain.rules.spend import Spend
from ordain.runtime.replay import replay
from ordain.runtime.run_state import EFFECT_BYTES, LAST_WORDS_MAX, PortEffect, RunState
from ordain.testing import catalog_of, kind_of
from tests.unit.runtime.house import BEGAN, House, setup_of


async def _nothing(context: FlowContext, given: Any) -> None:
    return None


CATALOG = catalog_of()
LATER = BEGAN + 1
SPAWN: Spawn[Any] = Spawn(flow="part", input=raw(None), deadline=LATER, allowance=Spend())
EFFECTS: list[AnyEffect] = [
    Say(text="x"),
    Read(what="threads", args={"session": ""}, deadline=LATER),
    Wait(what=WaitFor.TIMER, about="x", deadline=LATER),
    Children(spawns=(SPAWN,), until=Join()),
    VerbCall(
        authorized=Authorized(call=Call(verb="a.b", args={}), decision="0/authorize#0"),
        deadline=LATER,
    ),
    ModelCall(
        purpose="p", refs=(), profile="default", max_tokens=1, bound_tokens=1, deadline=LATER
    ),
]


def state() -> RunState:
    return setup_of(kind_of(_nothing), None, CATALOG).state(BEGAN)


def call(standing: RunState, what: str) -> None:
    """One port call that ends so."""
    endings: dict[str, BaseException] = {
        "fails": ValueError("broken"),
        "signals": Interrupted("cancel", "x", ""),
        "is broken off": CancelledError(),
        "is closed": GeneratorExit(),
    }
    with PortEffect(standing):
        if what in endings:
            raise endings[what]


@given(
    st.lists(
        st.sampled_from(["works", "signals", "fails", "is broken off", "is closed"]), max_size=8
    )
)
def test_the_first_failure_is_the_last_word(calls: list[str]) -> None:
    """Whatever a flow makes of it: every call after one that failed or was broken off raises what
    that one left; a signal is no failure.
    """
    standing = state()
    for what in calls:
        with suppress(BaseException):
            call(standing, what)
    kept = {"fails": ValueError, "is broken off": FlowFault, "is closed": FlowFault}
    failed = next((kept[what] for what in calls if what in kept), None)
    if failed is None:
        call(standing, "works")
        standing.returned()
    else:
        fault = standing.fault
        for again in (lambda: call(standing, "works"), standing.returned, standing.raise_fault):
            with pytest.raises(failed) as raised:
                again()
            assert raised.value is fault


def test_a_run_is_sequential() -> None:
    """A call beside an effect that is under way is a fault, and what asked for the effect does not
    get on either.
    """
    standing = state()
    with (
        pytest.raises(FlowFault, match="sequential"),
        PortEffect(standing),
        PortEffect(standing),
    ):
        pass
    with pytest.raises(FlowFault):
        call(standing, "works")


def test_nothing_is_left_behind() -> None:
    """A flow that returns beside its effect has failed; after its end the port answers nothing."""
    standing = state()
    standing.under_way = True
    with pytest.raises(FlowFault, match="returned beside"):
        standing.returned()
    over = state()
    over.close()
    with pytest.raises(FlowFault, match="after the flow's end"):
        call(over, "works")


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: type(effect).__name__)
def test_after_an_interrupt_only_words_and_reads_follow(effect: AnyEffect) -> None:
    """Nothing else goes live, and no claim is decided."""
    standing = state()
    standing.masked = True
    if isinstance(effect, Say | Read):
        standing.admit(effect, 1, CATALOG)
    else:
        with pytest.raises(FlowFault, match="after an interrupt"):
            standing.admit(effect, 1, CATALOG)
    with pytest.raises(FlowFault, match="after an interrupt"):
        standing.admit_claim()


@pytest.mark.parametrize("late", [False, True])
def test_last_words_come_to_an_end(late: bool) -> None:
    """After an interrupt or the run's deadline there are so many words and reads in a row; what
    waits begins anew, and before there is no such bound.
    """
    standing = state()
    for _ in range(LAST_WORDS_MAX + 1):
        standing.admit(EFFECTS[0], 1, CATALOG)
    standing.masked, standing.flow_at = not late, standing.authority.deadline + late
    for number in range(LAST_WORDS_MAX):
        (standing.announced if number % 3 else lambda effect: standing.admit(effect, 1, CATALOG))(
            EFFECTS[number % 2]
        )
    with pytest.raises(FlowFault, match="words and reads in a row"):
        standing.admit(EFFECTS[0], 1, CATALOG)
    if late:
        standing.admit(EFFECTS[2], 1, CATALOG)
        standing.admit(EFFECTS[0], 1, CATALOG)


async def test_a_flow_that_never_ends_after_an_interrupt_can_be_cancelled() -> None:
    """It is faulted when it has said so much, replays equal, and driven again it says no more."""
    kind = kind_of(_never_ends, charged=False)
    with House(kind) as house:
        run = await house.open(kind)
        assert (await house.drive(run)).status is Status.WAITING
        await house.interrupt(run)
        assert (await house.drive(run)).status is Status.FAULTED
        assert replay(house.stored(run), house.catalog, house.kinds).equal
        await house.interrupt(run, by="user:bob")
        assert (await house.drive(run, resumed_by="user:bob")).status is Status.CANCELLED
        assert len(house.bodies(run, RecordKind.INTENT)) == LAST_WORDS_MAX + 1


async def _never_ends(context: FlowContext, given: Any) -> None:
    with suppress(Interrupted):
        await context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=context.hard))
    while True:
        await context.fx.perform(Say(text="still here"))


def test_an_effect_has_a_size() -> None:
    """A larger one would hold up every other run while it is encoded."""
    standing = state()
    standing.admit(EFFECTS[0], EFFECT_BYTES, CATALOG)
    with pytest.raises(FlowFault, match="at most"):
        standing.admit(EFFECTS[0], EFFECT_BYTES + 1, CATALOG)


def test_an_effect_beyond_what_the_run_may_do_is_not_counted() -> None:
    """A call without its permit spends nothing."""
    standing = state()
    with pytest.raises(FlowFault):
        standing.admit(EFFECTS[4], 1, CATALOG)
    assert standing.authority.spent == Spend()


def test_a_result_knows_its_place() -> None:
    """In the journal, where references to it find it."""
    standing = state()
    assert standing.remember(Said(), 7).seq == 7
    assert standing.values[7] == Said(seq=7)
