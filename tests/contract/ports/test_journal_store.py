"""The behaviour of ``JournalStore``, the same for every adapter, spoken of by the port alone: what
is accepted, in which order, and what is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ordain.errors import JournalCorrupt, OrdainError, RunLost, StorageUnavailable
from ordain.journal.codec import verify
from ordain.journal.records import Status
from ordain.ports.store import (
    Append,
    Change,
    JournalStore,
    Operation,
    Outcome,
    StoredRun,
    Unit,
    load_run,
)
from ordain.ports.writes import MailKind, OutboxRow, TakenMail, interrupt_of
from tests.contract.ports.conftest import OpenPorts
from tests.contract.writing import KEY, Run
from tests.lanes import examples

ALL = [MailKind.CHILD, MailKind.ANSWER, MailKind.INTERRUPT]


async def opened(store: JournalStore, *runs: str) -> list[Run]:
    made = [Run(run) for run in runs]
    for run in made:
        assert (await store.submit(run.open())).run == run.id
    return made


async def settle(store: JournalStore, *units: Unit) -> list[Outcome | BaseException]:
    """Submit all before any is awaited: they share a batch."""
    return await asyncio.gather(*[store.submit(unit) for unit in units], return_exceptions=True)


# --- order, prefix, atomicity ---------------------------------------------------------------------


async def found(store: JournalStore, run: str) -> StoredRun:
    """A run that is there."""
    stored = await load_run(store, run)
    assert stored is not None
    return stored


async def test_the_units_of_a_run_are_durable_in_the_order_of_submission(
    store: JournalStore,
) -> None:
    """However many are submitted at once, with those of other runs between them: every run comes
    back as it was written.
    """
    runs = await opened(store, "a", "b", "c")
    # more than one batch
    await settle(store, *(runs[(number * number) % 3].step() for number in range(700)))
    for run in runs:
        stored = await found(store, run.id)
        assert list(stored.records) == run.records
        assert stored.head == run.records[-1].seq
        verify(run.id, KEY, stored.records)


async def test_what_is_told_is_durable_and_so_is_all_of_its_run_before_it(
    store: JournalStore,
) -> None:
    """When a unit's future has ended, that unit and everything submitted of its run before it is
    read by a load that is asked for then.
    """
    (run,) = await opened(store, "a")

    async def told(number: int, unit: Unit) -> bool:
        await store.submit(unit)
        return (await found(store, "a")).records[-1].seq >= number

    assert all(await asyncio.gather(*(told(number, run.step()) for number in range(1, 601))))


async def test_what_was_acknowledged_precedes_what_is_submitted_after_it(
    store: JournalStore,
) -> None:
    """Across runs too: a decision that is submitted after another's answer reads what that has
    written, and a load finds both.
    """
    for number in range(20):
        first = Run(f"a{number}")
        assert (await store.submit(first.open("r"))).refused == ("same" if number else "")
        assert await store.submit(Run(f"b{number}").open("r")) == Outcome(run="a0", refused="same")
    assert set(await store.load(["a0", "a1", "b0"])) == {"a0"}


async def test_a_unit_is_applied_whole_or_not_at_all(store: JournalStore) -> None:
    """Where one part of a unit fails, its records, children, mail and words are all absent."""
    run, other = await opened(store, "a", "other")
    before = await found(store, "a")
    bad = run.step(
        status=Status.RUNNING,
        writes=(
            Run("child", parent=run).new,
            other.mail(),
            OutboxRow(addr=1, text="hello", at=1),
            Run("other", given="another").new,
        ),
    )
    (failure,) = await settle(store, bad)
    assert isinstance(failure, RunLost)
    assert await found(store, "a") == before
    assert await load_run(store, "child") is None
    assert not await store.mail("other")


async def test_a_unit_that_fails_fails_alone(store: JournalStore) -> None:
    """Batch mates of a unit that cannot be applied are committed, whatever is wrong with it."""
    good, bad = await opened(store, "good", "bad")
    stray = Run("stray")
    results = await settle(
        store,
        good.step(),
        Append(run="bad", epoch=1, records=(bad.note(), bad.note())[1:]),
        good.step(),
        stray.step(),
        Operation(name="no such operation", args={}),
        Append(run="bad", epoch=1, status=Status.COMPLETED),
        good.post(key="\ud800"),
        good.step(),
    )
    kinds = [type(result) for result in results]
    assert kinds == [
        Outcome,
        RunLost,
        Outcome,
        JournalCorrupt,
        OrdainError,
        OrdainError,
        OrdainError,
        Outcome,
    ]
    stored = await found(store, "good")
    assert list(stored.records) == good.records
    assert len((await found(store, "bad")).records) == 1


async def test_a_gap_or_a_repetition_is_refused(store: JournalStore) -> None:
    """Only the record that follows the durable head is taken: a driver with an old view cannot
    append. What is durable already is told so.
    """
    (run,) = await opened(store, "a")
    first, second = run.note(), run.note()
    gap, exact, again = await settle(
        store,
        Append(run="a", epoch=1, records=(second,)),
        Append(run="a", epoch=1, records=(first, second)),
        Append(run="a", epoch=1, records=(first,)),
    )
    assert isinstance(gap, RunLost)
    assert isinstance(exact, Outcome)
    assert again == Outcome(run="a")
    stored = await found(store, "a")
    assert stored.records[1:] == (first, second)


async def test_numbers_of_runs_that_never_came_to_be_are_forgotten(store: JournalStore) -> None:
    """Mail for a run that a failed unit would have opened reaches no other run that was given its
    place.
    """
    (run,) = await opened(store, "a")
    await settle(
        store,
        Append(
            run="a", epoch=1, writes=(Run("lost", parent=run).new, Run("a", given="another").new)
        ),
    )
    await opened(store, "other")
    (result,) = await settle(store, Append(run="a", epoch=1, writes=(Run("lost").mail(),)))
    assert isinstance(result, JournalCorrupt)
    assert not await store.mail("other")


Step = tuple[str, int]


# it opens a store for each example
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["step", "gap", "post", "take", "child", "end", "wait"]),
            st.integers(0, 2),
        ),
        max_size=30,
    )
)
async def test_any_sequence_of_units_leaves_what_a_simple_model_says(
    in_memory: OpenPorts, steps: list[Step]
) -> None:
    """After any mixture of good and bad units, awaited or not, runs hold exactly the records of the
    units that were applied.
    """
    with in_memory() as ports:
        store = ports.store
        runs = await opened(store, "a", "b", "c")
        kept = {run.id: list(run.records) for run in runs}
        boxes: dict[str, list[str]] = {run.id: [] for run in runs}
        settled: set[str] = set()
        for number, (action, index) in enumerate(steps):
            run = runs[index]
            mark, length = run.scribe.mark(), len(run.records)
            unit, applied = await _unit(run, action, number, store, boxes)
            outcome = (await settle(store, unit))[0]
            if action == "post":
                assert isinstance(outcome, Outcome)
                assert (outcome.refused == "settled") == (run.id in settled)
                boxes[run.id] += [] if run.id in settled else [f"k{number}"]
            elif applied(outcome):
                kept[run.id] = list(run.records)
                settled |= {run.id} if action == "end" else set()
            else:
                run.scribe.back_to(mark)
                del run.records[length:]
        for run in runs:
            assert list((await found(store, run.id)).records) == kept[run.id]
            assert [mail.key for mail in await store.mail(run.id)] == boxes[run.id]


async def _unit(
    run: Run, action: str, number: int, store: JournalStore, boxes: dict[str, list[str]]
) -> tuple[Unit, Callable[[object], bool]]:
    def accepted(outcome: object) -> bool:
        return isinstance(outcome, Outcome) and not outcome.refused

    match action:
        case "post":
            return run.post(key=f"k{number}"), accepted
        case "gap":
            run.note()
            return run.step(), lambda outcome: not isinstance(outcome, RunLost)
        case "take":
            mail = tuple(TakenMail(mail=row.id, seq=1) for row in (await store.mail(run.id))[:1])
            boxes[run.id] = boxes[run.id][len(mail) :]
            return run.step(writes=mail), accepted
        case "child":
            return run.step(writes=(Run(f"child{number}", parent=run).new,)), accepted
        case "end":
            return run.end(), accepted
        case "wait":
            return run.suspend(0), accepted
        case _:
            return run.step(), accepted


async def test_a_settled_run_stays_settled(store: JournalStore) -> None:
    """No unit changes the status of a settled run; a note may still be added to it."""
    (run,) = await opened(store, "a")
    await store.submit(run.end())
    before = await found(store, "a")
    results = await settle(
        store,
        Append(run="a", epoch=1, status=Status.QUARANTINED),
        Append(run="a", epoch=1, status=Status.READY),
    )
    assert [type(result) for result in results] == [RunLost, RunLost]
    assert await found(store, "a") == before
    assert isinstance((await settle(store, run.step()))[0], Outcome)


# --- mail -----------------------------------------------------------------------------------------


async def test_a_duplicate_is_ignored_and_the_first_counts(store: JournalStore) -> None:
    """Mail is unique by key and run: a second row with the key changes nothing, however it
    arrives.
    """
    run, other = await opened(store, "a", "b")
    first, second, elsewhere = await settle(
        store, run.post(body=b'"first"'), run.post(body=b'"second"'), other.post(body=b'"else"')
    )
    assert [getattr(outcome, "refused", None) for outcome in (first, second, elsewhere)] == [
        "",
        "duplicate",
        "",
    ]
    assert isinstance(
        (await settle(store, other.step(writes=(run.mail(body=b'"third"'),))))[0], Outcome
    )
    assert [(mail.key, mail.body) for mail in await store.mail("a")] == [("k", b'"first"')]


async def test_mail_waits_until_one_record_takes_it(store: JournalStore) -> None:
    """Mail is listed oldest first until a record takes it; it cannot be taken twice, and its key
    stays used.
    """
    (run,) = await opened(store, "a")
    await settle(store, run.post("one", addr=3), run.post("two"))
    one, two = await store.mail("a")
    assert (one.key, one.addr, one.at, two.key) == ("one", 3, 1, "two")
    await store.submit(run.step(writes=(TakenMail(mail=one.id, seq=1),)))
    assert [mail.key for mail in await store.mail("a")] == ["two"]
    with pytest.raises(RunLost):
        await store.submit(run.step(writes=(TakenMail(mail=one.id, seq=2),)))
    assert (await store.submit(run.post("one"))).refused == "duplicate"


@pytest.mark.parametrize("kind", ALL)
async def test_nobody_writes_to_a_settled_run(store: JournalStore, kind: MailKind) -> None:
    """A settled run takes no mail, nor does a run that does not exist."""
    (run,) = await opened(store, "a")
    await store.submit(run.end())
    assert (await store.submit(run.post(kind=kind))).refused == "settled"
    assert (await store.submit(Run("none").post(kind=kind))).refused == "not_found"


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize("addr", [7, 8])
async def test_a_run_does_not_suspend_over_mail_that_concerns_it(
    store: JournalStore, kind: MailKind, deaf: bool, addr: int
) -> None:
    """Suspending is refused where untaken mail is for that effect, or is an interrupt and the run
    is not deaf to them.
    """
    (run,) = await opened(store, "a")
    await store.submit(run.post(kind=kind, addr=addr))
    concerns = (kind in {MailKind.CHILD, MailKind.ANSWER} and addr == 7) or (
        kind is MailKind.INTERRUPT and not deaf
    )
    outcome = await store.submit(run.suspend(7, deaf=deaf, wake_at=5))
    stored = await found(store, "a")
    assert (outcome.refused, stored.status, len(stored.records), stored.wake_at) == (
        ("mail", Status.READY, 1, None) if concerns else ("", Status.WAITING, 2, 5)
    )


async def test_taken_mail_does_not_keep_a_run_awake(store: JournalStore) -> None:
    """Mail that a record of an earlier unit of the same batch takes no longer refuses the
    suspension.
    """
    (run,) = await opened(store, "a")
    await store.submit(run.post())
    (mail,) = await store.mail("a")
    taken, waits = await settle(
        store, run.step(writes=(TakenMail(mail=mail.id, seq=1),)), run.suspend(0)
    )
    assert isinstance(taken, Outcome)
    assert waits == Outcome(run="a")


@pytest.mark.parametrize("kind", [MailKind.CHILD, MailKind.INTERRUPT])
async def test_mail_that_a_unit_takes_does_not_refuse_it(
    store: JournalStore, kind: MailKind
) -> None:
    """It waits for what else may come; mail beside it that it does not take refuses it."""
    (run,) = await opened(store, "a")
    await store.submit(run.post(kind=kind, addr=7, key="one"))
    (mail,) = await store.mail("a")
    taking = (TakenMail(mail=mail.id, seq=1),)
    mark = run.scribe.mark()
    await store.submit(run.post(kind=kind, addr=7, key="another"))
    assert (await store.submit(run.suspend(7, writes=taking))).refused == "mail"
    run.scribe.back_to(mark)
    (_, other) = await store.mail("a")
    taking += (TakenMail(mail=other.id, seq=1),)
    assert (await store.submit(run.suspend(7, writes=taking))).refused == ""
    assert (await found(store, "a")).status is Status.WAITING
    assert list(await store.mail("a")) == []


@pytest.mark.parametrize("kind", ALL)
async def test_a_run_does_not_end_over_an_interrupt(store: JournalStore, kind: MailKind) -> None:
    """Where its end asks for that: whatever else lies there is for an effect that is over."""
    (run,) = await opened(store, "a")
    await store.submit(run.post(kind=kind, addr=7))
    outcome = await store.submit(structs.replace(run.end(), suspend=-1))
    stops = kind is MailKind.INTERRUPT
    assert (outcome.refused, (await found(store, "a")).status) == (
        ("mail", Status.READY) if stops else ("", Status.COMPLETED)
    )


async def test_an_interrupt_is_one_for_all_below(store: JournalStore) -> None:
    """In the same commit, each as its parent would have sent it, and once: nothing of it begins
    after the stop was acknowledged. Whoever has settled, or stands beside it, gets none.
    """
    (root,) = await opened(store, "root")
    below: list[Run] = []
    for above, name, addr in (("root", "a", 1), ("root", "b", 1), ("a", "aa", 2), ("aa", "aaa", 0)):
        parent = next(one for one in (root, *below) if one.id == above)
        child = Run(name, parent=parent, addr=addr, index=len(below))
        await store.submit(parent.step(writes=(child.new,)))
        below.append(child)
    (beside,) = await opened(store, "beside")
    await store.submit(below[1].end())
    await store.submit(root.post("stop", MailKind.INTERRUPT))
    told = {run.id: await store.mail(run.id) for run in (root, *below, beside)}
    assert {run: [(one.kind, one.key) for one in mail] for run, mail in told.items()} == {
        "root": [(MailKind.INTERRUPT, "stop")],
        "a": [(MailKind.INTERRUPT, "join:root:1")],
        "b": [],
        "aa": [(MailKind.INTERRUPT, "join:a:2")],
        "aaa": [(MailKind.INTERRUPT, "join:aa:0")],
        "beside": [],
    }
    as_sent = interrupt_of("a", 2, "aa", 1)
    assert (told["aa"][0].body, told["aa"][0].addr) == (as_sent.body, as_sent.addr)
    await store.submit(below[0].step(writes=(as_sent,)))
    assert len(await store.mail("aa")) == 1
    late = [Run(f"late{index}", parent=root, addr=3, index=index) for index in range(2)]
    await store.submit(root.step(writes=tuple(one.new for one in late)))
    for one in late:  # whose parent had looked before
        assert [mail.key for mail in await store.mail(one.id)] == ["join:root:3"]


# --- requests -------------------------------------------------------------------------------------


async def test_a_request_becomes_one_run(store: JournalStore) -> None:
    """The same request id and body names the same run, another body is refused, also within one
    batch.
    """
    outcomes = await settle(
        store,
        Run("a").open("r", "body"),
        Run("b").open("r", "body"),
        Run("c").open("r", "other"),
        Run("d").open(None),
        Run("e").open(None),
    )
    assert outcomes == [
        Outcome(run="a"),
        Outcome(run="a", refused="same"),
        Outcome(run="a", refused="request_id_reused"),
        Outcome(run="d"),
        Outcome(run="e"),
    ]
    assert set(await store.load(["a", "b", "c", "d", "e"])) == {"a", "d", "e"}


async def test_over_the_limit_only_new_requests_are_refused(store: JournalStore) -> None:
    """At the limit a new request is busy, a repeated one still finds its run; children do not
    count, settled runs make room.
    """
    parent = Run("a")
    await settle(store, parent.open("r"), parent.step(writes=(Run("child", parent=parent).new,)))
    busy, same = await settle(store, Run("b").open("s", accepted=1), Run("c").open("r", accepted=1))
    assert busy == Outcome(refused="busy")
    assert same == Outcome(run="a", refused="same")
    assert await load_run(store, "b") is None
    await store.submit(parent.end())
    assert (await store.submit(Run("b").open("s", accepted=1))).run == "b"


async def test_catalogs_are_kept_by_digest(store: JournalStore) -> None:
    """A catalog comes with the first run that pins it and is found by its digest."""
    await settle(store, Run("a").open(catalog=b"{}"), Run("b").open(catalog=b"{}"), Run("c").open())
    assert await store.catalog("c" * 64) == b"{}"
    assert await store.catalog("d" * 64) is None


# --- looking --------------------------------------------------------------------------------------


async def test_a_run_is_loaded_as_it_hangs(store: JournalStore) -> None:
    """A child knows its parent, place and root; status, reason and times are those of the last
    unit.
    """
    parent = Run("a")
    child = Run("child", parent=parent, addr=4, index=2)
    await settle(
        store, parent.open(), parent.step(writes=(child.new,), status=Status.RUNNING), child.end()
    )
    stored, root = await found(store, "child"), await found(store, "a")
    assert (stored.parent, stored.parent_addr, stored.index, stored.root) == ("a", 4, 2, "a")
    assert (stored.status, stored.reason, stored.ended_at) == (
        Status.COMPLETED,
        "ok",
        child.records[-1].at,
    )
    assert (root.parent, root.root, root.status, root.ended_at, root.key) == (
        None,
        "a",
        Status.RUNNING,
        None,
        KEY,
    )
    assert await load_run(store, "nobody") is None


async def test_many_runs_are_loaded_as_each_by_itself(store: JournalStore) -> None:
    """However many are asked for, in whatever order and more than once; nobody is none of them."""
    parent = Run("a")
    children = [Run(f"child-{n}", parent=parent, index=n) for n in range(150)]
    await settle(store, parent.open(), parent.step(writes=tuple(child.new for child in children)))
    await settle(store, *(child.step() for child in children[::3]), children[7].end())
    names = ["nobody", *(child.id for child in reversed(children)), "a", "child-3", "a"]
    loaded = await store.load(names)
    assert loaded.keys() == set(names) - {"nobody"}
    assert loaded == {run: await load_run(store, run) for run in loaded}
    assert await store.load(()) == {}


async def test_listeners_hear_of_opened_runs_and_mail(store: JournalStore) -> None:
    """After a commit, and never before, each run that it opened or wrote mail to is announced; of
    units that failed nothing is.
    """
    ears, parent = Ears(store), Run("a")
    await settle(store, parent.open(), parent.step(writes=(Run("child", parent=parent).new,)))
    await ears.hear("a", "child")
    ears.runs.clear()
    await settle(
        store,
        parent.post(),
        parent.step(),
        Append(run="a", epoch=1, writes=(Run("never").new, Run("a", given="another").new)),
    )
    await ears.hear("a")
    assert ears.runs <= {"a", "child"}


class Ears:
    """What was announced, however often."""

    def __init__(self, store: JournalStore) -> None:
        self.runs, self._more = set[str](), asyncio.Event()
        store.listen(self._heard)

    def _heard(self, change: Change) -> None:
        self.runs.update(change.runs)
        self._more.set()

    async def hear(self, *runs: str) -> None:
        """Wait for these: an announcement may come later than the answer."""
        async with asyncio.timeout(20):
            while not self.runs.issuperset(runs):
                self._more.clear()
                await self._more.wait()


async def test_nothing_is_taken_after_the_close(store: JournalStore) -> None:
    """A unit that comes after the close is refused at once instead of waiting for ever."""
    (run,) = await opened(store, "a")
    store.close()
    store.close()
    with pytest.raises(StorageUnavailable):
        await asyncio.wait_for(store.submit(run.step()), 20)
