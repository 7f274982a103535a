"""The behaviour of ``JournalStore``, the same for every adapter and mode: what is accepted, in which order, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.errors import JournalCorrupt, OrdainError, RunLost, StorageUnavailable
from ordain.journal.codec import verify
from ordain.journal.records import Status
from ordain.ports.store import Append, Operation, Outcome, Unit
from ordain.ports.writes import MailKind, OutboxRow, TakenMail
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import KEY, Run
from tests.lanes import examples
from tests.shapes.stored_journal import journal_of

ALL = [MailKind.CHILD, MailKind.ANSWER, MailKind.INTERRUPT]


async def opened(store: SqliteStore, *runs: str) -> list[Run]:
    made = [Run(run) for run in runs]
    for run in made:
        assert (await store.submit(run.open())).run == run.id
    return made


async def settle(store: SqliteStore, *units: Unit) -> list[Outcome | BaseException]:
    """Submit all before any is awaited: they share a batch."""
    return await asyncio.gather(*[store.submit(unit) for unit in units], return_exceptions=True)


# --- order, prefix, atomicity -----------------------------------------------------------------------------------------------------


async def test_units_are_durable_in_the_order_of_submission(store: SqliteStore) -> None:
    """Across all runs the global order is the order of submission, and every run comes back as it was written."""
    runs = await opened(store, "a", "b", "c")
    expected = [(run.id, 0) for run in runs]
    units: list[Unit] = []
    for number in range(700):  # more than one batch
        run = runs[(number * number) % 3]
        units.append(run.step())
        expected.append((run.id, len(run.records) - 1))
    await settle(store, *units)
    journal_of(store)
    assert store.query("SELECT r.id, x.seq FROM journal x JOIN runs r ON r.no = x.run ORDER BY x.pos, x.seq") == expected
    for run in runs:
        stored = store.stored(run.id)
        assert stored is not None
        assert list(stored.records) == run.records
        assert stored.head == run.records[-1].seq
        verify(run.id, KEY, stored.records)


async def test_what_is_told_is_durable_and_so_is_all_before_it(store: SqliteStore) -> None:
    """When a unit's future ends, that unit and everything submitted before it can be read: the durable journal is a prefix."""
    (run,) = await opened(store, "a")
    seen: list[tuple[int, int]] = []
    futures = [store.submit(run.step()) for _ in range(600)]
    for number, future in enumerate(futures, 1):
        future.add_done_callback(lambda _, number=number: seen.append((number, len(store.stored("a").records) - 1)))  # type: ignore[union-attr]
    await asyncio.gather(*futures)
    await asyncio.sleep(0)
    assert [number for number, _ in seen] == list(range(1, 601))
    assert all(durable >= number for number, durable in seen)


async def test_a_unit_is_applied_whole_or_not_at_all(store: SqliteStore) -> None:
    """Where one part of a unit fails, its records, children, mail and words are all absent."""
    run, other = await opened(store, "a", "other")
    before = store.stored("a")
    bad = run.step(
        status=Status.RUNNING,
        writes=(Run("child", parent=run).new, other.mail(), OutboxRow(addr=1, text="hello", at=1), Run("other", given="another").new),
    )
    (failure,) = await settle(store, bad)
    assert isinstance(failure, RunLost)
    assert store.stored("a") == before
    assert store.stored("child") is None
    assert store.untaken("other") == []
    assert store.query("SELECT count(*) FROM outbox") == [(0,)]


async def test_a_unit_that_fails_fails_alone(store: SqliteStore) -> None:
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
    assert kinds == [Outcome, RunLost, Outcome, JournalCorrupt, OrdainError, OrdainError, OrdainError, Outcome]
    stored = store.stored("good")
    assert stored is not None
    assert list(stored.records) == good.records
    assert len(store.stored("bad").records) == 1  # type: ignore[union-attr]


async def test_a_gap_or_a_repetition_is_refused(store: SqliteStore) -> None:
    """Only the record that follows the durable head is taken: a driver with an old view cannot append. What is durable already is told so."""
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
    stored = store.stored("a")
    assert stored is not None
    assert stored.records[1:] == (first, second)


async def test_numbers_of_runs_that_never_came_to_be_are_forgotten(store: SqliteStore) -> None:
    """Mail for a run that a failed unit would have opened reaches no other run that was given its place."""
    (run,) = await opened(store, "a")
    await settle(store, Append(run="a", epoch=1, writes=(Run("lost", parent=run).new, Run("a", given="another").new)))
    await opened(store, "other")
    (result,) = await settle(store, Append(run="a", epoch=1, writes=(Run("lost").mail(),)))
    assert isinstance(result, JournalCorrupt)
    assert store.untaken("other") == []


Step = tuple[str, int]


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.sampled_from(["step", "gap", "post", "take", "child", "end", "wait"]), st.integers(0, 2)), max_size=30))
async def test_any_sequence_of_units_leaves_what_a_simple_model_says(steps: list[Step]) -> None:
    """After any mixture of good and bad units, awaited or not, runs hold exactly the records of the units that were applied."""
    store = SqliteStore(None, StoreOptions(holder="model"))
    try:
        runs = await opened(store, "a", "b", "c")
        kept = {run.id: list(run.records) for run in runs}
        boxes: dict[str, list[str]] = {run.id: [] for run in runs}
        settled: set[str] = set()
        for number, (action, index) in enumerate(steps):
            run = runs[index]
            mark, length = run.scribe.mark(), len(run.records)
            unit, applied = _unit(run, action, number, store, boxes)
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
            assert list(store.stored(run.id).records) == kept[run.id]  # type: ignore[union-attr]
            assert [mail.key for mail in store.untaken(run.id)] == boxes[run.id]
    finally:
        store.close()


def _unit(run: Run, action: str, number: int, store: SqliteStore, boxes: dict[str, list[str]]) -> tuple[Unit, Callable[[object], bool]]:
    def accepted(outcome: object) -> bool:
        return isinstance(outcome, Outcome) and not outcome.refused

    match action:
        case "post":
            return run.post(key=f"k{number}"), accepted
        case "gap":
            run.note()
            return run.step(), lambda outcome: not isinstance(outcome, RunLost)
        case "take":
            mail = tuple(TakenMail(mail=row.id, seq=1) for row in store.untaken(run.id)[:1])
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


async def test_a_settled_run_stays_settled(store: SqliteStore) -> None:
    """No unit changes the status of a settled run; a note may still be added to it."""
    (run,) = await opened(store, "a")
    await store.submit(run.end())
    before = store.stored("a")
    results = await settle(store, Append(run="a", epoch=1, status=Status.QUARANTINED), Append(run="a", epoch=1, status=Status.READY))
    assert [type(result) for result in results] == [RunLost, RunLost]
    assert store.stored("a") == before
    assert isinstance((await settle(store, run.step()))[0], Outcome)


# --- mail -------------------------------------------------------------------------------------------------------------------------


async def test_a_duplicate_is_ignored_and_the_first_counts(store: SqliteStore) -> None:
    """Mail is unique by key and run: a second row with the key changes nothing, however it arrives."""
    run, other = await opened(store, "a", "b")
    first, second, elsewhere = await settle(store, run.post(body=b'"first"'), run.post(body=b'"second"'), other.post(body=b'"else"'))
    assert [getattr(outcome, "refused", None) for outcome in (first, second, elsewhere)] == ["", "duplicate", ""]
    assert isinstance((await settle(store, other.step(writes=(run.mail(body=b'"third"'),))))[0], Outcome)
    assert [(mail.key, mail.body) for mail in store.untaken("a")] == [("k", b'"first"')]


async def test_mail_waits_until_one_record_takes_it(store: SqliteStore) -> None:
    """Mail is listed oldest first until a record takes it; it cannot be taken twice, and its key stays used."""
    (run,) = await opened(store, "a")
    await settle(store, run.post("one", addr=3), run.post("two"))
    one, two = store.untaken("a")
    assert (one.key, one.addr, one.at, two.key) == ("one", 3, 1, "two")
    await store.submit(run.step(writes=(TakenMail(mail=one.id, seq=1),)))
    assert [mail.key for mail in store.untaken("a")] == ["two"]
    with pytest.raises(RunLost):
        await store.submit(run.step(writes=(TakenMail(mail=one.id, seq=2),)))
    assert (await store.submit(run.post("one"))).refused == "duplicate"


@pytest.mark.parametrize("kind", ALL)
async def test_nobody_writes_to_a_settled_run(store: SqliteStore, kind: MailKind) -> None:
    """A settled run takes no mail, nor does a run that does not exist."""
    (run,) = await opened(store, "a")
    await store.submit(run.end())
    assert (await store.submit(run.post(kind=kind))).refused == "settled"
    assert (await store.submit(Run("none").post(kind=kind))).refused == "not_found"


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize("addr", [7, 8])
async def test_a_run_does_not_suspend_over_mail_that_concerns_it(store: SqliteStore, kind: MailKind, deaf: bool, addr: int) -> None:
    """Suspending is refused where untaken mail is for that effect, or is an interrupt and the run is not deaf to them."""
    (run,) = await opened(store, "a")
    await store.submit(run.post(kind=kind, addr=addr))
    concerns = (kind in {MailKind.CHILD, MailKind.ANSWER} and addr == 7) or (kind is MailKind.INTERRUPT and not deaf)
    outcome = await store.submit(run.suspend(7, deaf=deaf, wake_at=5))
    stored = store.stored("a")
    assert stored is not None
    assert (outcome.refused, stored.status, len(stored.records), stored.wake_at) == (
        ("mail", Status.READY, 1, None) if concerns else ("", Status.WAITING, 2, 5)
    )


async def test_taken_mail_does_not_keep_a_run_awake(store: SqliteStore) -> None:
    """Mail that a record of an earlier unit of the same batch takes no longer refuses the suspension."""
    (run,) = await opened(store, "a")
    await store.submit(run.post())
    (mail,) = store.untaken("a")
    taken, waits = await settle(store, run.step(writes=(TakenMail(mail=mail.id, seq=1),)), run.suspend(0))
    assert isinstance(taken, Outcome)
    assert waits == Outcome(run="a")


# --- requests ---------------------------------------------------------------------------------------------------------------------


async def test_a_request_becomes_one_run(store: SqliteStore) -> None:
    """The same request id and body names the same run, another body is refused, also within one batch."""
    outcomes = await settle(
        store, Run("a").open("r", "body"), Run("b").open("r", "body"), Run("c").open("r", "other"), Run("d").open(None), Run("e").open(None)
    )
    assert outcomes == [
        Outcome(run="a"),
        Outcome(run="a", refused="same"),
        Outcome(run="a", refused="request_id_reused"),
        Outcome(run="d"),
        Outcome(run="e"),
    ]
    assert [
        row.id for row in reversed(await SqliteSearch(store).runs(statuses=(), roots_only=False, limit=9, before=None, workspace=None))
    ] == ["a", "d", "e"]


async def test_over_the_limit_only_new_requests_are_refused(store: SqliteStore) -> None:
    """At the limit a new request is busy, a repeated one still finds its run; children do not count, settled runs make room."""
    parent = Run("a")
    await settle(store, parent.open("r"), parent.step(writes=(Run("child", parent=parent).new,)))
    busy, same = await settle(store, Run("b").open("s", accepted=1), Run("c").open("r", accepted=1))
    assert busy == Outcome(refused="busy")
    assert same == Outcome(run="a", refused="same")
    assert store.stored("b") is None
    await store.submit(parent.end())
    assert (await store.submit(Run("b").open("s", accepted=1))).run == "b"


async def test_catalogs_are_kept_by_digest(store: SqliteStore) -> None:
    """A catalog comes with the first run that pins it and is found by its digest."""
    await settle(store, Run("a").open(catalog=b"{}"), Run("b").open(catalog=b"{}"), Run("c").open())
    assert store.kept_catalog("c" * 64) == b"{}"
    assert store.kept_catalog("d" * 64) is None


# --- looking ----------------------------------------------------------------------------------------------------------------------


async def test_a_run_is_loaded_as_it_hangs(store: SqliteStore) -> None:
    """A child knows its parent, place and root; status, reason and times are those of the last unit."""
    parent = Run("a")
    child = Run("child", parent=parent, addr=4, index=2)
    await settle(store, parent.open(), parent.step(writes=(child.new,), status=Status.RUNNING), child.end())
    stored, root = store.stored("child"), store.stored("a")
    assert stored is not None
    assert root is not None
    assert (stored.parent, stored.parent_addr, stored.index, stored.root) == ("a", 4, 2, "a")
    assert (stored.status, stored.reason, stored.ended_at) == (Status.COMPLETED, "ok", child.records[-1].at)
    assert (root.parent, root.root, root.status, root.ended_at, root.key) == (None, "a", Status.RUNNING, None, KEY)
    assert store.stored("nobody") is None


async def test_listeners_hear_of_opened_runs_and_mail(store: SqliteStore) -> None:
    """After a commit, and never before, each run that it opened or wrote mail to is announced; failed units announce nothing."""
    heard: list[tuple[str, bool]] = []
    store.listen(lambda change: heard.extend((run, store.stored(run) is not None) for run in change.runs))
    parent = Run("a")
    await settle(store, parent.open(), parent.step(writes=(Run("child", parent=parent).new,)))
    await settle(store, parent.post(), parent.step(), Append(run="a", epoch=1, writes=(Run("never").new, Run("a", given="another").new)))
    assert heard == [("a", True), ("child", True), ("a", True)]


async def test_nothing_is_taken_after_the_close(store: SqliteStore) -> None:
    """A unit that comes after the close is refused at once instead of waiting for ever."""
    (run,) = await opened(store, "a")
    store.close()
    store.close()
    with pytest.raises(StorageUnavailable):
        await asyncio.wait_for(store.submit(run.step()), 20)
