"""The behaviour of ``Sessions``, the same for every adapter: transcripts as chains, places in
threads, and what is announced.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.errors import FlowFault, JournalCorrupt
from ordain.journal.digests import GENESIS, chain, digest, entry_cover
from ordain.journal.records import ENCODER, Status
from ordain.ports.sessions import (
    IMPORTED_IDS,
    EntryKind,
    NewEntry,
    OpenQuestion,
    Placed,
    ThreadChange,
    ThreadStatus,
)
from ordain.ports.shared import (
    SPOKEN_MAX,
    Ruling,
    SessionOpening,
    SessionRead,
    SessionState,
    Shared,
)
from ordain.ports.store import WITHOUT_PLACE, Append, Arrive, Change, MessageKey, Outcome, load_run
from ordain.ports.writes import ClosedQuestion, EntryPlaced, NewPlace, PlaceTakenBack
from ordain.rules.attach import UNPLACED
from tests.contract.ports.conftest import Ports
from tests.contract.writing import KEY, NOISE, WORKSPACE, Run, message

SERVED = Placed(attached="new_request", reason="test", decision=b"{}", thread=1, serves="a")


def entry(
    message_id: str, session: str = "s1", kind: EntryKind = EntryKind.MESSAGE, **more: Any
) -> NewEntry:
    return NewEntry(
        kind=kind,
        body=b'{"text":"hi"}',
        size=4,
        at=more.pop("at", 1),
        message_id=message_id,
        session=session,
        **more,
    )


def turn(run: str, *, queued: bool = False, session: str = "s1") -> tuple[Run, tuple[Any, ...]]:
    """A turn of thread 1, and what opens it."""
    made = Run(run)
    started = msgspec.structs.replace(made.new.started, session=session, thread=1)
    new = msgspec.structs.replace(made.new, started=started, queued=queued)
    change = ThreadChange(id=1, session=session, run=run, intent="the first", at=1)
    return made, (change, new, NewPlace(run=run, session=session, thread=1, queued=queued))


async def begun(ports: Ports, *runs: str) -> list[Run]:
    """Turns of one thread, the first of them live."""
    made: list[Run] = []
    for run in runs:
        one, writes = turn(run, queued=bool(made))
        placed = msgspec.structs.replace(SERVED, serves=run)
        assert (
            await ports.store.submit(
                message(entry(f"m-{run}", author="ada"), *writes, placed=placed)
            )
        ).run == run
        made.append(one)
    return made


async def seen(ports: Ports, **read: Any) -> SessionState:
    """The session as a message's decision sees it."""
    found: list[SessionState] = []

    def decide(state: SessionState) -> Ruling:
        found.append(state)
        return Ruling(refused="looked")

    asked = SessionRead(
        **{"session": "s1", "channel": "", "message_id": "asks", "author": "ada"} | read
    )
    assert (
        await ports.store.submit(
            Arrive(workspace=WORKSPACE, shared=Shared(reads=(asked,), decide=decide))
        )
    ).refused == "looked"
    return found[-1]


async def statuses(ports: Ports, *runs: str) -> list[Status]:
    found = [await load_run(ports.store, run) for run in runs]
    return [one.status for one in found if one is not None]


async def test_a_transcript_is_a_chain_without_gaps(ports: Ports) -> None:
    """Each entry is digested with its session's key and linked to the one before; the session
    counts and dates them.
    """
    for number in range(1, 6):
        assert (await ports.store.submit(message(entry(f"m{number}", at=number)))).seq == number
    link = GENESIS
    entries = await ports.sessions.entries(WORKSPACE, "s1", after=0, limit=99)
    for number, one in enumerate(entries, 1):
        marks = digest(KEY, b"") + digest(KEY, NOISE.decision)
        cover = entry_cover(
            (
                0,
                "",
                one.channel,
                "",
                one.timestamp_ms,
                NOISE.attached,
                NOISE.reason,
                "",
                one.size,
                0,
            )
        )
        link = chain(
            link,
            f"{WORKSPACE}/s1",
            number,
            ("message", f"m{number}", 2, number),
            digest(KEY, b'{"text":"hi"}') + marks + cover,
        )
        assert (one.seq, one.chain) == (number, link)
    session = await ports.sessions.session(WORKSPACE, "s1")
    assert session is not None
    assert (
        session.head,
        session.user,
        session.created_at,
        session.last_at,
        session.open,
        session.key,
    ) == (5, "ada", 1, 5, 0, KEY)
    assert [
        one.seq for one in await ports.sessions.entries(WORKSPACE, "s1", after=-1, limit=2)
    ] == [4, 5]
    assert [one.seq for one in await ports.sessions.entries(WORKSPACE, "s1", after=1, limit=2)] == [
        2,
        3,
    ]
    uncovered = await ports.sessions.uncovered(WORKSPACE, "s1", limit=2, oldest=False)
    assert (uncovered.entries, uncovered.older, uncovered.head, uncovered.chain) == (
        ((4, 4), (5, 4)),
        3,
        5,
        link.hex(),
    )


async def test_what_a_client_showed_is_no_summary_that_was_made_here(ports: Ports) -> None:
    """What stands in the place of a session's history says whose it is; a summary that is made
    later is one.
    """
    of_client = entry(f"{IMPORTED_IDS}1", kind=EntryKind.SUMMARY)
    for said, imported in ((of_client, True), (entry("m1"), True)):
        await ports.store.submit(message(said))
        found = await ports.sessions.uncovered(WORKSPACE, "s1", limit=9, oldest=False)
        assert (found.summary, found.imported) == ((1, 4), imported)
    await ports.store.submit(message(entry("ours", kind=EntryKind.SUMMARY, through=2)))
    found = await ports.sessions.uncovered(WORKSPACE, "s1", limit=9, oldest=False)
    assert (found.summary, found.imported) == ((3, 4), False)


async def test_a_message_is_taken_once(ports: Ports) -> None:
    """The same one again has its number, another one under its id is refused; a unit that fails
    leaves no session behind.
    """
    first = await ports.store.submit(message(entry("m1")))
    assert await ports.store.submit(message(entry("m1"))) == Outcome(seq=first.seq, refused="same")
    other = msgspec.structs.replace(entry("m1"), body=b'{"text":"ho"}')
    assert (await ports.store.submit(message(other))).refused == "message_id_reused"
    opening = SessionRead(
        session="s2",
        channel="",
        message_id="m",
        author="",
        opening=SessionOpening(user="ada", key=KEY, at=1),
    )
    refused = Arrive(
        workspace=WORKSPACE, shared=Shared(reads=(opening,), decide=lambda _: Ruling(refused="no"))
    )
    assert (await ports.store.submit(refused)).refused == "no"
    assert await ports.sessions.session(WORKSPACE, "s2") is None


async def test_sessions_are_listed_by_their_last_use(ports: Ports) -> None:
    """Page by page, those of one moment too; only those of the workspace."""
    for number, at in enumerate((5, 9, 9, 7)):
        await ports.store.submit(message(entry("m", session=f"s{number}", at=at)))
    first = await ports.sessions.sessions(WORKSPACE, limit=2, before=None)
    rest = await ports.sessions.sessions(WORKSPACE, limit=9, before=first[-1].place)
    assert [row.id for row in (*first, *rest)] == ["s2", "s1", "s3", "s0"]
    assert list(await ports.sessions.sessions("another", limit=9, before=None)) == []


async def test_a_session_is_known_by_its_first_message(ports: Ports) -> None:
    """However it goes on."""
    for name, text in (("m1", b'{"text":"hi"}'), ("m2", b'{"text":"and then?"}')):
        await ports.store.submit(message(msgspec.structs.replace(entry(name), body=text)))
    (row,) = await ports.sessions.sessions(WORKSPACE, limit=9, before=None)
    assert row.first == b'{"text":"hi"}'
    assert (await ports.sessions.session(WORKSPACE, "s1")) == row


async def test_sessions_are_found_by_the_beginning_or_the_end_of_their_id(ports: Ports) -> None:
    """As text, no pattern, page by page."""
    for number, name in enumerate(("chat:ab", "ab:chat", "cab", "a_b")):
        await ports.store.submit(message(entry("m", session=name, at=number)))
    for part, wanted in (
        ("ab", ["cab", "ab:chat", "chat:ab"]),
        ("chat", ["ab:chat", "chat:ab"]),
        ("a_b", ["a_b"]),
        ("%", []),
    ):
        assert [
            row.id
            for row in await ports.sessions.sessions(WORKSPACE, limit=9, before=None, named=part)
        ] == wanted
    (first,) = await ports.sessions.sessions(WORKSPACE, limit=1, before=None, named="chat")
    assert [
        row.id
        for row in await ports.sessions.sessions(
            WORKSPACE, limit=9, before=first.place, named="chat"
        )
    ] == ["chat:ab"]


async def test_the_next_turn_begins_when_one_rests(ports: Ports) -> None:
    """In the same commit, and it is announced; the turns of a thread begin in their order."""
    heard: list[Change] = []
    runs = await begun(ports, "a", "b", "c")
    assert await statuses(ports, "a", "b", "c") == [Status.READY, Status.QUEUED, Status.QUEUED]
    (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
    assert (thread.turns, thread.intent) == (("a", "b", "c"), "the first")
    ports.store.listen(heard.append)
    done = ThreadChange(id=1, session="s1", status=ThreadStatus.DONE, in_place=True, at=3)
    await ports.store.submit(msgspec.structs.replace(runs[0].end(), writes=(done,)))
    assert await statuses(ports, "a", "b", "c") == [Status.COMPLETED, Status.READY, Status.QUEUED]
    assert any("b" in change.runs for change in heard)
    (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
    assert (thread.turns, thread.status, thread.run) == (("b", "c"), ThreadStatus.IN_PROGRESS, "b")
    await ports.store.submit(runs[1].end())
    await ports.store.submit(msgspec.structs.replace(runs[2].end(), writes=(done,)))
    (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
    assert (thread.turns, thread.status) == ((), ThreadStatus.DONE)


async def test_a_stopped_turn_has_its_place_again_while_it_is_free(ports: Ports) -> None:
    """Where another turn has it by now, that is refused and nothing of the unit is kept."""
    runs = await begun(ports, "a", "b")
    await ports.store.submit(runs[0].step(status=Status.FAULTED))
    assert await statuses(ports, "a", "b") == [Status.FAULTED, Status.READY]
    again = Append(run="a", epoch=1, status=Status.READY, writes=(PlaceTakenBack(run="a"),))
    assert (await ports.store.submit(again)).refused == "thread_taken"
    assert await statuses(ports, "a") == [Status.FAULTED]
    await ports.store.submit(runs[1].end())
    assert (await ports.store.submit(again)).refused == ""
    assert await statuses(ports, "a") == [Status.READY]
    (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
    assert (thread.turns, thread.run) == (("a",), "a")


async def test_what_a_turn_had_asked_before_is_asked_again(ports: Ports) -> None:
    """Of several that are open in one turn the last is asked; whichever is over is taken out, and a
    stop takes all of them; another turn's takes their place.
    """
    (run,) = await begun(ports, "a")
    one, two, three = (
        OpenQuestion(run=f"q{addr}", root="a", addr=addr, key="k", expects="text", until=9)
        for addr in (1, 2, 3)
    )

    async def after(**change: Any) -> tuple[list[str], ThreadStatus]:
        await ports.store.submit(
            run.step(writes=(ThreadChange(id=1, session="s1", at=2, **change),))
        )
        (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
        found, asked = list[str](), thread.asked
        while asked is not None:
            found.append(asked.run)
            asked = asked.earlier
        return found, thread.status

    waits, works = ThreadStatus.WAITING_FOR_USER, ThreadStatus.IN_PROGRESS
    for asked in (one, two, two, three):
        found = await after(asked=asked, status=waits)
    assert found == (["q3", "q2", "q1"], waits)
    assert await after(answered=("q2", 2), status=works) == (["q3", "q1"], waits)
    assert await after(answered=("q2", 2), status=works) == (["q3", "q1"], waits)
    assert await after(answered=("q3", 3), status=works) == (["q1"], waits)
    assert await after(answered=("q1", 1), status=works) == ([], works)
    for asked in (one, two):
        await after(asked=asked, status=waits)
    assert await after(answered=("q2", 2), unasks=True, status=works) == ([], works)
    await after(asked=one, status=waits)
    assert await after(asked=msgspec.structs.replace(two, root="b"), status=waits) == (
        ["q2"],
        waits,
    )


async def test_a_question_is_open_until_it_is_answered(ports: Ports) -> None:
    """By the one answer that it was asked for; a decision sees where it was asked, and of whom, and
    what its run pins.
    """
    (run,) = await begun(ports, "a")
    asked = OpenQuestion(
        run="a", root="a", addr=3, key="k", expects="text", until=9, message_id="q1"
    )
    question = entry("q1", kind=EntryKind.QUESTION, thread=1, run="a")
    await ports.store.submit(
        run.step(writes=(question, ThreadChange(id=1, session="s1", asked=asked, at=2)))
    )
    state = await seen(ports)
    (thread,) = state.threads
    assert thread.asked == msgspec.structs.replace(asked, seq=2, of="ada")
    assert (state.pinned, state.at_work, state.open, state.next_thread) == (
        {"a": "c" * 64},
        (1,),
        1,
        2,
    )
    answer = await ports.sessions.answer(WORKSPACE, "s1", 1)
    assert answer is not None
    assert (answer[0].message_id, answer[1] and answer[1].message_id) == ("m-a", "q1")
    await ports.store.submit(
        run.step(
            writes=(
                ThreadChange(
                    id=1, session="s1", answered=("a", 4), status=ThreadStatus.BLOCKED, at=3
                ),
            )
        )
    )
    assert (await ports.sessions.threads(WORKSPACE, "s1", limit=6))[0].asked == asked
    await ports.store.submit(run.step(writes=(ClosedQuestion(run="a", addr=3),)))
    assert (await ports.sessions.threads(WORKSPACE, "s1", limit=6))[0].asked is None
    answer = await ports.sessions.answer(WORKSPACE, "s1", 1)
    assert answer is not None
    assert answer[1] is None


async def test_slots_errors_and_status_of_a_thread_are_kept(ports: Ports) -> None:
    """Each change says what it changes, and leaves the rest."""
    (run,) = await begun(ports, "a")
    changes = (
        ThreadChange(id=1, session="s1", slot=("size", 3), at=5),
        ThreadChange(id=1, session="s1", slot=("colour", "red"), last_error={"code": "x"}, at=4),
        ThreadChange(id=1, session="s1", status=ThreadStatus.BLOCKED),
    )
    await ports.store.submit(run.step(writes=changes))
    (thread,) = await ports.sessions.threads(WORKSPACE, "s1", limit=6)
    assert thread.slots == {"size": 3, "colour": "red"}
    assert (thread.status, thread.last_error, thread.touched_at, thread.intent) == (
        ThreadStatus.BLOCKED,
        {"code": "x"},
        5,
        "the first",
    )


async def test_a_message_whose_class_was_postponed_is_placed_once(ports: Ports) -> None:
    """By the run that keeps it; whoever waited for that run waits for the one that serves it."""
    keeper, writes = turn("a")
    kept = msgspec.structs.replace(SERVED, attached="triage")
    await ports.store.submit(message(entry("m1"), *writes, placed=kept))
    placed = Placed(attached="filler", reason="later", decision=b"[]", thread=1, serves="b")
    again = EntryPlaced(session="s1", seq=1, instead_of="a", placed=placed)
    await ports.store.submit(keeper.step(writes=(again,)))
    (one,) = await ports.sessions.entries(WORKSPACE, "s1", after=0, limit=9)
    assert (one.attached, one.reason, one.run, one.decision) == ("filler", "later", "b", b"[]")
    with pytest.raises(FlowFault):
        await ports.store.submit(keeper.step(writes=(again,)))


async def test_a_message_without_a_place_is_placed_anew_once(ports: Ports) -> None:
    """What came before and found no place is refused as that, with the run that says so; by that
    run it is placed anew, once.
    """
    keeper, writes = turn("a")
    unplaced = msgspec.structs.replace(SERVED, attached=UNPLACED, serves="a")
    delivery = message(entry("m1"), *writes, placed=unplaced)
    await ports.store.submit(delivery)
    assert await ports.store.submit(delivery) == Outcome(refused=WITHOUT_PLACE, seq=1, run="a")
    other = message(msgspec.structs.replace(entry("m1"), body=b"{}"))
    assert (await ports.store.submit(other)).refused == "message_id_reused"
    placed = EntryPlaced(
        session="s1",
        seq=1,
        instead_of=keeper.id,
        placed=msgspec.structs.replace(SERVED, serves="b"),
    )
    assert isinstance(delivery.once, MessageKey)
    shared = Shared(reads=(), decide=lambda: Ruling(writes=(placed,), run="b"))
    again = msgspec.structs.replace(
        delivery, once=msgspec.structs.replace(delivery.once, anew="a"), shared=shared
    )
    assert (await ports.store.submit(again)).refused == ""
    assert await ports.store.submit(again) == Outcome(refused="same", seq=1)
    (one,) = await ports.sessions.entries(WORKSPACE, "s1", after=0, limit=9)
    assert (one.attached, one.run) == ("new_request", "b")


async def test_a_message_is_found_by_what_refers_to_it(ports: Ports) -> None:
    """By its id in its channel; the newest edit of it counts, and its own is left out."""
    await ports.store.submit(message(entry("m1", author="ada", timestamp_ms=5)))
    await ports.store.submit(message(entry("m2", author="ada", edits="m1", timestamp_ms=7)))
    state = await seen(ports, reply_to="m1", edits="m1")
    assert state.replied is not None
    assert state.replied == state.edited
    assert (state.replied.seq, state.replied.author, state.newer_edit) == (1, "ada", 7)
    assert (await seen(ports, message_id="m2", edits="m1")).newer_edit == 0
    assert (await seen(ports, reply_to="none")).replied is None


async def test_what_was_undone_is_announced_to_nobody(ports: Ports) -> None:
    """A unit that fails after it had added to a transcript leaves no word of it; what is added
    later is told.
    """
    run = Run("a")
    await ports.store.submit(run.open())
    await ports.store.submit(message(entry("m1")))
    heard: list[Change] = []
    ports.store.listen(heard.append)
    said = entry("said", kind=EntryKind.SAID)
    with pytest.raises(JournalCorrupt):
        await ports.store.submit(
            Append(run="a", epoch=1, writes=(said, entry("stray", session="nowhere")))
        )
    assert not any(change.sessions for change in heard)
    await ports.store.submit(Append(run="a", epoch=1, writes=(said,)))
    assert {session for change in heard for session in change.sessions} == {(WORKSPACE, "s1")}


async def test_what_is_told_of_a_session_is_what_became_of_it(ports: Ports) -> None:
    """Entries as they are stored, of a storage that tells them; of one that was placed anew it tells
    nothing, for that stands before.
    """
    (run,) = await begun(ports, "a")
    heard: list[Change] = []
    ports.store.listen(heard.append)
    said = (entry("said", kind=EntryKind.SAID, run="a"), entry("r", kind=EntryKind.REPLY, run="a"))
    await ports.store.submit(run.step(writes=said))
    held = await ports.sessions.entries(WORKSPACE, "s1", after=1, limit=9)
    told = [one for change in heard for one in change.told.get((WORKSPACE, "s1"), ())]
    assert told in ([], list(held))
    assert all(change.told.keys() <= set(change.sessions) for change in heard)
    later = msgspec.structs.replace(SERVED, attached="triage")
    await ports.store.submit(message(entry("m-b"), placed=later))
    heard.clear()
    again = EntryPlaced(session="s1", seq=4, instead_of="a", placed=SERVED)
    await ports.store.submit(run.step(writes=(entry("s", kind=EntryKind.SAID), again)))
    assert [change.sessions for change in heard if change.sessions]
    assert not any(change.told for change in heard)


async def test_a_decision_sees_what_was_said_last(ports: Ports) -> None:
    """Only where a question is open or the message may be an answer to anything: the latest
    entries, how ours end, what a request was and came to.
    """
    (run,) = await begun(ports, "a")
    said = NewEntry(
        kind=EntryKind.REPLY,
        body=b'{"text":"Would you?"}',
        size=4,
        at=1,
        message_id="r",
        session="s1",
        thread=1,
        run="a",
    )
    stop = Placed(
        attached="override",
        reason="test",
        decision=b'{"outcome":{"stop":true}}',
        thread=1,
        serves="b",
    )
    await ports.store.submit(run.step(writes=(said,)))
    await ports.store.submit(message(entry("m2", author="bob"), placed=stop))
    assert (await seen(ports)).spoken == ()
    latest, reply, first = (await seen(ports, bare=True, reply_to="r")).spoken
    assert (latest.seq, latest.attached, latest.stops, latest.author, latest.body) == (
        3,
        "override",
        True,
        "bob",
        b'{"text":"hi"}',
    )
    assert (reply.kind, reply.thread, reply.ending, reply.body) == (
        EntryKind.REPLY,
        1,
        "Would you?",
        None,
    )
    assert (first.attached, first.stops, first.run, first.status, first.author) == (
        "new_request",
        False,
        "a",
        str(Status.READY),
        "ada",
    )
    replied = (await seen(ports, reply_to="r")).replied
    assert replied is not None
    assert replied.ending == "Would you?"
    asked = OpenQuestion(
        run="a", root="a", addr=3, key="k", expects="text", until=9, message_id="q1"
    )
    await ports.store.submit(
        run.step(writes=(ThreadChange(id=1, session="s1", asked=asked, at=2),))
    )
    assert [one.seq for one in (await seen(ports, seq=3)).spoken] == [2, 1]
    for number in range(SPOKEN_MAX):
        await ports.store.submit(message(entry(f"n{number}")))
    spoken = (await seen(ports)).spoken
    assert [one.seq for one in spoken] == [
        *range(SPOKEN_MAX + 3, 3, -1),
        2,
        1,
    ]  # behind the latest: what the run that is at work said and was asked


async def test_a_decision_finds_what_was_asked_last_behind_the_latest_entries(ports: Ports) -> None:
    """Of all threads, however many were touched since, up to the open question that is the
    sender's; what was taken up asks no more.
    """
    for number, text in ((1, "Would you?"), (2, "Well?"), (3, "Well.")):
        run, (change, new, place) = turn(f"r{number}")
        began = msgspec.structs.replace(change, id=number, at=number)
        serves = msgspec.structs.replace(SERVED, thread=number, serves=f"r{number}")
        there = msgspec.structs.replace(place, thread=number)
        await ports.store.submit(
            message(entry(f"m{number}", author="ada"), began, new, there, placed=serves)
        )
        body = ENCODER.encode({"text": text})
        said = NewEntry(
            kind=EntryKind.REPLY,
            body=body,
            size=4,
            at=number,
            message_id=f"s{number}",
            session="s1",
            thread=number,
            run=f"r{number}",
        )
        done = ThreadChange(id=number, session="s1", status=ThreadStatus.DONE, at=number)
        await ports.store.submit(msgspec.structs.replace(run.end(), writes=(said, done)))
    for number in range(SPOKEN_MAX):
        await ports.store.submit(message(entry(f"n{number}")))

    async def behind(**read: Any) -> list[tuple[int, str]]:
        return [
            (one.thread, one.ending)
            for one in (await seen(ports, bare=True, **read)).spoken[SPOKEN_MAX:]
        ]

    assert await behind() == [(2, "Well?"), (2, "")]
    took = Placed(attached="new_request", reason="test", decision=b"{}", thread=2, serves="r2")
    await ports.store.submit(message(entry("again", author="ada"), placed=took))
    for number in range(SPOKEN_MAX):
        await ports.store.submit(message(entry(f"o{number}")))
    assert await behind() == [(1, "Would you?"), (1, "")]
