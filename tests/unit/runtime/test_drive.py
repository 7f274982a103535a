"""One drive of one run: to its end, to a wait or to a stop, and what each leaves for its parent,
its accounts and who resumes it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from ordain import verb
from ordain.contracts.verbs import Argument, ArgumentRole
from ordain.effects.calls import Call
from ordain.effects.children import Cancelled, Completed, Failed, Join, Spawn, TimedOut, Unknown
from ordain.effects.effect import Claim, Say, Wait, WaitFor
from ordain.effects.results import VerbReturned
from ordain.errors import (
    Erased,
    FlowFault,
    FlowUnavailable,
    JournalCorrupt,
    JournalDiverged,
    LeaseLost,
    RunLost,
)
from ordain.flows.accounts import CARVE, shared_accounts
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import SETTLED, RecordKind, Status, raw
from ordain.ports.effects import Suspended
from ordain.ports.leases import Lease
from ordain.ports.store import Append
from ordain.ports.writes import MailKind
from ordain.rules.spend import Spend
from ordain.runtime.drive import Drive, Driven
from ordain.runtime.recorded_form import ENDS
from ordain.runtime.replay import replay
from ordain.store.leases import SqliteLeases
from ordain.testing import catalog_of, failed, kind_of, recorded
from tests.unit.runtime.house import SECOND, House


@verb(name="mail.send", effect="private", arguments={"to": Argument(role=ArgumentRole.CONTENT)})
async def send(to: str) -> dict[str, str]:
    """Send it."""
    return {"sent": to}


async def _does(context: FlowContext, what: str) -> str:
    """Ends as it is told."""
    if what == "waits":
        await context.fx.perform(
            Wait(what=WaitFor.ANSWER, about="x", deadline=context.now() + 60 * SECOND)
        )
    elif what == "speaks":
        await context.fx.perform(Say(text="hello"))
    elif what == "sends":
        acted = await act(context, Call(verb="mail.send", args={"to": "ada"}))
        return "sent" if isinstance(acted.result, VerbReturned) else "lost"
    elif what in RAISED:
        raise RAISED[what]
    return what


RAISED: dict[str, BaseException] = {
    "error": ValueError("the user's secret"),
    "fault": FlowFault("a port call too many"),
    "leaves": SystemError("x"),
    "suspends": Suspended(),
    "lost": LeaseLost("mine"),
    "differs": JournalDiverged("mine"),
    "damaged": JournalCorrupt("mine"),
    "lacks": FlowUnavailable("mine"),
    "forgotten": Erased("mine"),
    "cancelled": asyncio.CancelledError(),
}


def settle(output: str) -> Settlement:
    statuses = {"fails": Status.FAILED, "late": Status.TIMED_OUT, "cancels": Status.CANCELLED}
    return Settlement(status=statuses.get(output, Status.COMPLETED), reason=output)


DOES: Kind[Any, Any] = replace(
    kind_of(_does, verbs=["mail.send"], charged=False), name="does", settle=settle
)


async def _opens(context: FlowContext, what: str) -> str:
    child = Spawn[Any](
        flow="does",
        input=raw(what),
        deadline=context.hard,
        allowance=context.share(2),
        scope=("mail.send",),
    )
    (ended,) = await context.fx.children((child,), Join())
    return type(ended).__name__


OPENS: Kind[Any, Any] = replace(kind_of(_opens, verbs=["mail.send"], charged=False), name="opens")


async def _over(context: FlowContext, what: Any) -> str:
    """Opens one that opens another, or one for each word."""
    flow, each = ("opens", [what]) if isinstance(what, str) else ("does", what)
    spawns = [
        Spawn[Any](
            flow=flow,
            input=raw(one),
            deadline=context.hard,
            allowance=context.share(len(each) + 1),
            scope=("mail.send",),
        )
        for one in each
    ]
    return ",".join(type(end).__name__ for end in await context.fx.children(tuple(spawns), Join()))


OVER: Kind[Any, Any] = replace(kind_of(_over, verbs=["mail.send"], charged=False), name="over")


def house(*verbs: Any) -> House:
    return House(DOES, OPENS, verbs=verbs or [send])


# --- ends and stops -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("done", Status.COMPLETED),
        ("fails", Status.FAILED),
        ("late", Status.TIMED_OUT),
        ("cancels", Status.CANCELLED),
        ("waits", Status.WAITING),
    ],
)
async def test_a_run_is_driven_to_rest(what: str, status: Status) -> None:
    """Its row, its last record and what the drive says agree; once settled it is not driven
    again.
    """
    with house() as home:
        run = await home.open(DOES, what)
        assert (await home.drive(run)).status is status
        stored = home.stored(run)
        assert stored.status is status
        if status in SETTLED:
            (ended,) = home.bodies(run, RecordKind.ENDED)
            assert (ended.status, ended.reason) == (status, what)
            assert await home.drive(run) == Driven(status=status)
            assert home.stored(run) == stored
            assert home.services.counters.runs_ended == 1


@pytest.mark.parametrize("what", sorted(RAISED))
async def test_whatever_a_flow_raises_stops_its_run_alone(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Control signals of its own making too. What broke and where is on record and in the log, and
    nothing that it worked with.
    """
    with house() as home, caplog.at_level(logging.INFO, "ordain.run"):
        run = await home.open(DOES, what)
        assert (await home.drive(run)).status is Status.FAULTED
        (fault,) = home.bodies(run, RecordKind.FAULTED)
        assert (fault.error, "test_drive.py" in fault.where) == (type(RAISED[what]).__name__, True)
        assert "secret" not in caplog.text
        assert ("a port call too many" in caplog.text) == (what == "fault")
        other = await home.open(DOES, "done")
        assert (await home.drive(other)).status is Status.COMPLETED


async def test_a_build_without_the_kind_leaves_the_run_as_it_is() -> None:
    """Only its row says so; a build that has it goes on."""
    with house() as home:
        run = await home.open(DOES, "speaks")
        records, home.services.kinds = home.stored(run).records, Kinds((OPENS,))
        assert (await home.drive(run)).status is Status.FLOW_UNAVAILABLE
        assert (home.stored(run).records, home.stored(run).reason) == (records, "flow_unavailable")
        home.services.kinds = home.kinds
        assert (await home.drive(run)).status is Status.FLOW_UNAVAILABLE  # nobody has resumed it
        await home.store.submit(Append(run=run, epoch=1, status=Status.READY))
        assert (await home.drive(run)).status is Status.COMPLETED


async def test_an_input_that_its_kind_cannot_read_stops_the_run() -> None:
    """A kind is foreign code here."""

    def broken(_: Any) -> Any:
        raise ValueError("no input of mine")

    with house() as home:
        run = await home.open(DOES, "done")
        home.services.kinds = Kinds((replace(DOES, decode_input=broken),))
        assert (await home.drive(run)).status is Status.DIVERGED


async def test_a_run_behind_another_one_is_not_begun() -> None:
    """That one's end begins it."""
    with house() as home:
        run = await home.open(DOES, "done", queued=True)
        assert await home.drive(run) == Driven(status=Status.WAITING)
        assert len(home.stored(run).records) == 1


# --- cancelling what has stopped ------------------------------------------------------------------


async def test_a_stopped_run_is_cancelled_without_its_flow() -> None:
    """Its end says who asked, and what it was."""
    with house() as home:
        run = await home.open(DOES, "done")
        home.services.kinds = Kinds((OPENS,))
        await home.drive(run)
        await home.interrupt(run, by="user:ada")
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.CANCELLED
        (note,) = home.bodies(run, RecordKind.NOTE)
        assert (note.action, note.by, msgspec.json.decode(note.details)) == (
            "cancel",
            "user:ada",
            {"was": "flow_unavailable"},
        )
        assert home.stored(run).reason == "cancel"
        assert not home.store.untaken(run)


async def test_a_faulted_run_may_still_say_what_it_did() -> None:
    """It is driven once more; where it faults again it is closed."""
    with house() as home:
        run = await home.open(DOES, "error")
        await home.drive(run)
        await home.interrupt(run)
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.CANCELLED
        assert len(home.bodies(run, RecordKind.FAULTED)) == 2
        assert [one.by for one in home.bodies(run, RecordKind.RESUMED)] == ["user:ada"]


async def test_children_of_a_stopped_run_are_stopped_before_it() -> None:
    """It is closed when they have settled."""
    with house() as home:
        run = await home.open(OPENS, "waits")
        await home.drive(run)
        child = derived_id(run, 0, 0)
        await home.drive(child)
        home.services.kinds = Kinds((DOES,))
        await home.drive(run)
        await home.interrupt(run)
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.FLOW_UNAVAILABLE
        assert (await home.drive(child)).status is Status.CANCELLED
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.CANCELLED


@pytest.mark.parametrize("ends", ["stops", "closes"])
async def test_a_run_that_another_engine_holds_by_now_is_left_to_it(ends: str) -> None:
    """Whoever held it before neither stops nor closes it, although it looks at it once more: it
    writes in the epoch in which it had the run.
    """
    with house() as home:
        run = await home.open(DOES, "done")
        home.services.kinds = Kinds((OPENS,))
        if ends == "closes":
            await home.drive(run)
            await home.interrupt(run, by="user:ada")
        before = home.held(run)
        leases = SqliteLeases(home.store, home.clock.now)
        await leases.hold(Lease(engine=2), limit=1, flows=None, only=(run,))
        stood = home.stored(run)
        with pytest.raises(RunLost):
            await Drive(home.services, before, resumed_by="user:ada").to_rest()
        assert (home.stored(run), stood.epoch) == (stood, 2)


async def test_what_children_of_a_stopped_run_spent_is_on_its_account() -> None:
    """Closed without its flow it has met none of their ends: its parent is told what they spent and
    how many there were, and its header says it.
    """
    with House(DOES, OPENS, OVER, verbs=[send]) as home:
        run = await home.open(OVER, "sends")
        await home.drive(run)
        middle = derived_id(run, 0, 0)
        await home.drive(middle)
        home.services.kinds = Kinds((DOES,))
        await home.drive(middle)
        home.services.kinds = home.kinds
        await home.drive(derived_id(middle, 0, 0))
        await home.interrupt(middle)
        assert (await home.drive(middle)).status is Status.CANCELLED
        (met,) = home.bodies(middle, RecordKind.CHILD_ENDED)
        assert (met.addr, met.index, met.child) == (0, 0, derived_id(middle, 0, 0))
        (ended,) = [ENDS.decode(mail.body) for mail in home.store.untaken(run)]
        assert (type(ended), ended.spent.verb_calls, ended.runs) == (Cancelled, 1, 1)
        assert "mail.send" in home.bodies(middle, RecordKind.ENDED)[0].header
        assert not home.store.untaken(middle)
        assert replay(home.stored(middle), home.catalog, home.kinds).equal
        assert (await home.drive(run)).status is Status.COMPLETED
        assert "1 verb calls" in home.bodies(run, RecordKind.ENDED)[0].header


async def test_an_end_that_was_met_before_the_stop_counts_once() -> None:
    """A child's end on record is not booked again when the run is closed, and the one that came
    later is.
    """
    with House(DOES, OVER) as home:
        run = await home.open(OVER, ["done", "done"])
        await home.drive(run)
        first, second = (derived_id(run, 0, index) for index in range(2))
        await home.drive(first)
        await home.drive(run)
        home.services.kinds = Kinds((DOES,))
        await home.drive(second)
        await home.drive(run)
        await home.interrupt(run)
        assert (await home.drive(run, resumed_by="user:ada")).status is Status.CANCELLED
        assert [one.child for one in home.bodies(run, RecordKind.CHILD_ENDED)] == [first, second]


# --- parents --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("done", Completed),
        ("fails", Failed),
        ("late", TimedOut),
        ("cancels", Cancelled),
        ("sends", Completed),
    ],
)
async def test_a_childs_end_is_its_parents_mail(what: str, end: type[Any]) -> None:
    """In the commit that settles it: how it ended, what it spent and its header."""
    with house() as home:
        run = await home.open(OPENS, what)
        await home.drive(run)
        await home.drive(derived_id(run, 0, 0))
        (mail,) = home.store.untaken(run)
        ended = ENDS.decode(mail.body)
        assert type(ended) is end
        assert ended.header is not None
        assert (ended.header.flow, ended.spent.verb_calls) == ("does@1", int(what == "sends"))
        assert (await home.drive(run)).status is Status.COMPLETED


async def test_a_child_with_an_unknown_effect_is_neither_done_nor_failed() -> None:
    """Where its flow does not complete, nobody knows what it has done."""
    calls = recorded(send, failed("broken", happened=None))

    async def _sends(context: FlowContext, what: str) -> str:
        await act(context, Call(verb="mail.send", args={"to": "ada"}))
        return "fails"

    sends = replace(DOES, run=_sends)
    with House(sends, OPENS, verbs=[calls.verb]) as home:
        run = await home.open(OPENS, "x")
        await home.drive(run)
        await home.drive(derived_id(run, 0, 0))
        assert isinstance(ENDS.decode(home.store.untaken(run)[0].body), Unknown)


async def test_who_waits_for_the_root_of_a_run_that_stopped_is_told() -> None:
    """It would wait for ever."""
    with house() as home:
        run = await home.open(OPENS, "error")
        await home.drive(run)
        assert await home.drive(derived_id(run, 0, 0)) == Driven(status=Status.FAULTED, root=run)


# --- accounts -------------------------------------------------------------------------------------


async def test_what_was_carved_and_not_spent_goes_back() -> None:
    """With the end: the next run finds it there."""
    charged = replace(kind_of(_carves, charged=True), name="carves")
    with House(charged) as home:
        home.services.catalogs.swap(
            catalog_of(charged, policy={"budget": {"run_tokens": 1000, "day_tokens": 1500}})
        )
        for _ in range(3):
            run = await home.open(charged, None)
            assert (await home.drive(run)).status is Status.COMPLETED
            assert bytes(home.bodies(run, RecordKind.ENDED)[0].result) == b'"budget.carved"'


async def test_what_children_of_a_cancelled_root_spent_does_not_go_back() -> None:
    """A root that stopped and is closed gives back what nobody below it has spent, and no more."""
    charged = replace(kind_of(_carves_and_opens, charged=True), name="carves")
    with House(charged, DOES) as home:
        home.services.catalogs.swap(
            catalog_of(
                charged,
                DOES,
                policy={"budget": {"run_tokens": 1000, "day_tokens": 1500, "rest": True}},
            )
        )
        for left in (1000, 900):
            run = await home.open(charged, None)
            await home.drive(run)
            assert (
                msgspec.json.decode(home.bodies(run, RecordKind.CLAIM)[0].outcome)["tokens"] == left
            )
            child = derived_id(run, 1, 0)
            await home.post(
                run,
                MailKind.CHILD,
                "child:1:0",
                Completed(child=child, value=raw(1), spent=Spend(tokens=600)),
                1,
            )
            await home.drive(child)
            home.services.kinds = Kinds((DOES,))
            await home.drive(run)
            home.services.kinds = home.kinds
            await home.interrupt(run)
            assert (await home.drive(run)).status is Status.CANCELLED


async def _carves_and_opens(context: FlowContext, given: Any) -> str:
    reason = await _carves(context, given)
    spawn = Spawn[Any](
        flow="does", input=raw("done"), deadline=context.hard, allowance=context.share(1)
    )
    await context.fx.children((spawn,), Join())
    return reason


async def _carves(context: FlowContext, given: Any) -> str:
    accounts = shared_accounts(context.catalog.policy.budget, "", context.session, context.fx.now())
    cap = context.account.cap
    made = await context.fx.claim(
        Claim(
            name=CARVE.name,
            args={"tokens": cap.tokens, "usd_micros": cap.usd_micros, "accounts": accounts},
        )
    )
    return str(made.reason)
