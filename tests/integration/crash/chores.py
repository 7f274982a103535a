"""Housekeeping as cases of the crash harness: a folder that is old, and what is swept, erased and
given back in it while people go on.

One case makes the folder, and all others begin with a copy of it two days later. What they do is
done slice after slice by an engine that nobody asks to: it sweeps at every start. Erasures alone
are asked for, each once; what was begun is never asked for again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ordain.app import Ordain
from ordain.errors import JournalCorrupt
from ordain.journal.codec import verify
from ordain.journal.folds import ending
from ordain.journal.records import SETTLED
from ordain.runtime.brief import readable_header
from tests.integration.crash.laws import Evidence, Journals, broken_effects
from tests.replayed import replayed
from tests.shapes.catalogue import of_flow
from tests.shapes.client import Client
from tests.shapes.flows import ERRANDS, Errands
from tests.shapes.house import MovableClock
from tests.shapes.session_laws import broken_now, rows_of
from tests.shapes.stored_journal import journal_of
from tests.shapes.talks import PATIENT, PRINCIPAL, Talker

DAY_US = 86_400_000_000
OLD, DOOMED = "01d" + "0" * 29, "d00" + "0" * 29
"""Runs without a session: the content of one has become old, that of the other is erased."""
SAID = {"old": "01d session", "doomed": "d00med session"}
"""What was said in the sessions of the same names."""
TIMES = 25_000
"""How often each run says its word: several slices' worth of bytes in all."""
POLICY = {
    **PATIENT,
    # what models were asked and answered is kept
    "retention": {"input_days": 1, "verb_days": 1, "result_days": 1},
    "session": {"question_seconds": 500_000},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """What is played in one process, and which laws do not hold then."""

    name: str
    play: Callable[[Client], Awaitable[None]]
    broken: Callable[[Client, Evidence, str], list[str]]
    hold: bool = False


def large(word: str) -> Errands:
    """Two notes that are long."""
    return Errands(
        errands=(("note_put", f"{word} one " * TIMES), ("note_put", f"{word} two " * TIMES))
    )


def scalar(ordain: Ordain, sql: str, *parameters: Any) -> Any:
    """The one value of a query."""
    return ordain.store.query(sql, parameters)[0][0]


async def accept(client: Client, run: str, word: str) -> None:
    """Have the long errands of a run accepted, once."""

    async def send() -> str:
        request = replace(of_flow(ERRANDS, large(word))(client.ordain), run=run, request_id=None)
        return await request.open(client.ordain)

    await client.once(f"accept {run}", send)
    await client.until(f"{word} is over", lambda: client.over(run))


def answered(client: Client, name: str) -> dict[str, Any] | None:
    """The last reply of the run that serves a message, by the message's id."""
    rows = client.ordain.store.query(
        "SELECT r.body FROM transcript r JOIN transcript m ON m.session = r.session AND m.run = "
        "r.run AND m.run <> ''"
        " WHERE r.kind = 'reply' AND m.message_id = ? ORDER BY r.seq DESC LIMIT 1",
        (name,),
    )
    return json.loads(rows[0][0]) if rows and rows[0][0] is not None else None


def question(client: Client) -> str:
    """The id of the open question."""
    rows = client.ordain.store.query("SELECT message_id FROM transcript WHERE kind = 'question'")
    return rows[0][0] if rows else ""


# --- making the folder ----------------------------------------------------------------------------


async def prepare(client: Client) -> None:
    """What was done and said two days ago; a question is still open."""
    talker = Talker(client)
    await accept(client, OLD, "01d run")
    await accept(client, DOOMED, "d00med run")
    for session, word in SAID.items():
        await talker.say(session, f"tell me about {word}", session=session)
        await client.until(
            f"{session} is answered", lambda session=session: bool(answered(client, session))
        )
    await talker.say("asking", "find out which place is meant", session="asking", mode="agent")
    await client.until("a question is open", lambda: bool(question(client)))
    await client.until(
        "all is at rest",
        lambda: not client.ordain.engine.driving and not client.ordain.engine.ready_runs,
    )
    client.diary.write("header", (await client.ordain.runtime.view(OLD)).header)
    clock = client.ordain.runtime.services.clock
    assert isinstance(clock, MovableClock)
    clock.move(2 * DAY_US)


def nothing_broken(client: Client, seen: Evidence, expected: str) -> list[str]:
    """Of the folder that was just made."""
    return [
        f"{run} is {client.status(run)}"
        for run in (OLD, DOOMED)
        if client.status(run) not in SETTLED
    ]


# --- keeping house --------------------------------------------------------------------------------


async def keep_house(client: Client) -> None:
    """Two erasures, a new message and an answer, all at once and while the engine sweeps; until
    there is nothing left to do.
    """
    ordain, talker = client.ordain, Talker(client)
    runtime = ordain.runtime

    async def erase(name: str, gone: str, send: Callable[[], Awaitable[int]]) -> None:
        """Ask for it unless it was begun: then nobody asks again, whether or not it was
        acknowledged. What is erased has its name no more.
        """
        if scalar(
            ordain,
            f"SELECT EXISTS (SELECT 1 FROM subjects u WHERE u.no = ({gone}) AND u.key IS NOT NULL)",
        ):
            await client.once(name, send)

    async def write_down() -> None:
        await talker.say(
            "young",
            "write down that it rains",
            session="young",
            mode="agent",
            allowed_verbs=["entry_add"],
        )
        await client.until("the young one is answered", lambda: bool(answered(client, "young")))

    async def answer() -> None:
        await talker.say("place", "Lisbon", session="asking", reply_to=question(client))
        await client.until(
            "the one that asked is answered", lambda: bool(answered(client, "asking"))
        )

    await asyncio.gather(
        erase(
            "erase run",
            f"SELECT subject FROM runs WHERE id = '{DOOMED}'",
            lambda: runtime.operators.erase(DOOMED, by=PRINCIPAL, why="asked to"),
        ),
        erase(
            "erase session",
            "SELECT subject FROM sessions WHERE id = 'doomed'",
            lambda: runtime.operators.erase_session("doomed", by=PRINCIPAL, why="asked to"),
        ),
        write_down(),
        answer(),
    )
    await client.until(
        "all is at rest", lambda: not ordain.engine.driving and not ordain.engine.ready_runs
    )
    await client.until("nothing is left to be done", lambda: not left_to_do(ordain))


def left_to_do(ordain: Ordain) -> list[str]:
    """What housekeeping has not come to: erasures under way, and content that is older than policy
    keeps it.
    """
    journal_of(ordain.store)
    bodies = (
        "SELECT count(*) FROM journal r JOIN runs u ON u.no = r.run LEFT JOIN payloads p ON p.id "
        "= r.payload"
        " WHERE coalesce(r.body, p.bytes) IS NOT NULL AND (u.id = ?1 OR u.session = 'old')"
        " AND (r.kind = 'started' OR (r.kind IN ('intent', 'observation') AND r.name NOT LIKE "
        "'model%'))"
    )
    said = (
        "SELECT count(*) FROM transcript t JOIN sessions s ON s.no = t.session WHERE s.id = 'old' "
        "AND t.body IS NOT NULL"
    )
    named = (
        "SELECT count(*) FROM threads t JOIN sessions s ON s.no = t.session WHERE s.id = 'old' "
        "AND t.intent <> ''"
    )
    found = {
        "erasures": scalar(ordain, "SELECT count(*) FROM erasures"),
        "old records": scalar(ordain, bodies, OLD),
        "old entries": scalar(ordain, said),
        "old threads": scalar(ordain, named),
    }
    return [f"{what}: {count}" for what, count in found.items() if count]


# --- what must hold -------------------------------------------------------------------------------


def kept_runs(ordain: Ordain) -> set[str]:
    """The runs that are younger than two days, or were not over then."""
    return {
        run
        for (run,) in ordain.store.query("SELECT id FROM runs WHERE session IN ('young', 'asking')")
    }


def outcome(client: Client) -> str:
    """What came of the two that went on."""
    return json.dumps(
        {
            name: [said.get("text"), said.get("ok")]
            for name in ("young", "asking")
            if (said := answered(client, name) or {})
        }
    )


def broken_house(client: Client, seen: Evidence, expected: str) -> list[str]:
    """Every law that does not hold, in words."""
    ordain = client.ordain
    kept = kept_runs(ordain)

    def of_kept(journals: Journals) -> Journals:
        return {run: rows for run, rows in journals.items() if run in kept}

    theirs = replace(seen, before=[of_kept(one) for one in seen.before], after=of_kept(seen.after))
    return [
        *left_to_do(ordain),
        *_shape_stays([*seen.before, seen.after]),
        *broken_effects(theirs),
        *broken_now(rows_of(ordain), max_active=ordain.settings.policy.session.max_active),
        *_replays(ordain, kept),
        *_content(ordain, kept),
        *_acknowledged(client),
        *_as_undisturbed(client, seen, expected),
    ]


def _shape_stays(states: Sequence[Journals]) -> Iterator[str]:
    """Records are added and none is changed but in its content, which goes and never comes back."""
    for earlier, later in pairwise(states):
        for run, rows in earlier.items():
            now = later.get(run, [])[: len(rows)]
            if [row[:7] for row in now] != [row[:7] for row in rows]:
                yield f"run {run} has other records than it had"
            for was, becomes in zip(rows, now, strict=False):
                body, after, ended = was[7], becomes[7], was[1] == "ended"
                if after not in (body, None) and not (
                    ended and body is not None and len(after) < len(body)
                ):
                    yield f"record {was[0]} of run {run} says something else than it did"


def _replays(ordain: Ordain, kept: set[str]) -> Iterator[str]:
    services = ordain.runtime.services
    for run, status, session in ordain.store.query(
        "SELECT id, status, session FROM runs ORDER BY no"
    ):
        stored = ordain.store.stored(run)
        assert stored is not None
        if status not in SETTLED:
            yield f"run {run} is {status}"
        try:
            verify(run, stored.key, stored.records)
        except JournalCorrupt as error:
            yield f"run {run}: {error.message}"
        report = replayed(services, stored)
        if report.verdict != ("equal" if run in kept else "erased"):
            yield (
                f"run {run} of {session or 'no session'} replays {report.verdict}: "
                f"{report.differences[:2]}"
            )


def _content(ordain: Ordain, kept: set[str]) -> Iterator[str]:
    """What was erased is gone, what was swept is gone in its classes alone, all else is there."""
    journal_of(ordain.store)
    doomed = (
        "SELECT u.id, r.kind FROM runs u JOIN journal r ON r.run = u.no LEFT JOIN payloads p ON "
        "p.id = r.payload"
    )
    held = " WHERE coalesce(r.body, p.bytes) IS NOT NULL AND r.kind NOT IN ('ended', 'note')"
    for run, kind in ordain.store.query(
        f"{doomed}{held} AND (u.id = ? OR u.session = 'doomed')", (DOOMED,)
    ):
        yield f"a {kind} of run {run} was erased, and is there"
    for (keys,) in ordain.store.query(
        "SELECT count(*) FROM subjects WHERE key IS NOT NULL AND (no = (SELECT subject FROM runs "
        "WHERE id = ?)"
        " OR no = (SELECT subject FROM sessions WHERE id = 'doomed'))",
        (DOOMED,),
    ):
        if keys:
            yield f"{keys} keys of what was erased are there"
    for run in kept:
        stored = ordain.store.stored(run)
        if stored is None or any(record.body is None for record in stored.records):
            yield f"run {run} goes on, and has lost content"
    # of the question's session the old ones go as soon as nothing is open in it any more
    entries = (
        "SELECT count(*) FROM transcript t JOIN sessions s ON s.no = t.session WHERE s.id IN "
        "('young', 'asking') AND t.body IS NULL AND t.at > ?"
    )
    if lost := scalar(ordain, entries, ordain.runtime.services.clock.now() - DAY_US):
        yield f"{lost} entries of sessions that go on have lost their content"
    models = (
        "SELECT count(*), count(coalesce(r.body, p.bytes)) FROM journal r JOIN runs u ON u.no "
        "= r.run"
        " LEFT JOIN payloads p ON p.id = r.payload WHERE u.session = 'old' AND r.kind IN "
        "('intent', 'observation') AND r.name LIKE 'model%'"
    )
    ((all_of_them, there),) = ordain.store.query(models)
    if not all_of_them or there != all_of_them:
        yield f"of {all_of_them} model records that policy keeps {there} are there"
    if (whole := scalar(ordain, "PRAGMA integrity_check")) != "ok":
        yield f"the database is damaged: {whole}"


def _acknowledged(client: Client) -> Iterator[str]:
    kept = dict(
        client.ordain.store.query("SELECT message_id, seq FROM transcript WHERE kind = 'message'")
    )
    sent = {
        name: seq
        for name, seq in client.diary.entries.items()
        if name in {*SAID, "asking", "young", "place"}
    }
    if kept != sent:
        yield f"acknowledged {sent}, kept {kept}"
    stored = client.ordain.store.stored(OLD)
    end = None if stored is None else ending(stored.records)
    if end is None or readable_header(end.header) != client.diary.entries["header"]:
        yield "the header of the old run is not what it was"


def _as_undisturbed(client: Client, seen: Evidence, expected: str) -> Iterator[str]:
    if expected and not any(
        b'"outcome_unknown"' in (row[7] or b"") for rows in seen.after.values() for row in rows
    ):
        result = outcome(client)
        if result != expected:
            yield f"came to {result}, undisturbed {expected}"


async def left_behind(ordain: Ordain) -> list[str]:
    """After the next day's sweep and an orderly stop: no free page in the file, no erased word in
    any.
    """
    found, folder = list[str](), ordain.settings.home
    await ordain.engine.sweep()
    if free := scalar(ordain, "PRAGMA freelist_count"):
        found.append(f"{free} free pages were not given back")
    await ordain.stop()
    kept = b"".join(file.read_bytes() for file in sorted(folder.glob("ordain.db*")))
    return [
        *found,
        *(
            f"{word!r} was erased and stands in a file"
            for word in (b"d00med run", b"d00med session")
            if word in kept
        ),
    ]


CHORES: dict[str, Chore] = {
    chore.name: chore
    for chore in (
        Chore(name="an old folder", play=prepare, broken=nothing_broken),
        Chore(name="housekeeping", play=keep_house, broken=broken_house),
    )
}
