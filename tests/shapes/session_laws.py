"""What must hold of every session at every moment, and once nothing is at work any more. Read as
plain rows, not by what wrote them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from ordain.app import Ordain
from ordain.journal.digests import GENESIS, MARKS_BYTES, chain, digest, entry_cover, entry_marks
from ordain.journal.ledger import LedgerFold
from ordain.journal.records import SETTLED, Status
from ordain.store.ledger import ledger_rows, standing_items
from tests.at_once import at_once
from tests.replayed import replayed
from tests.shapes.stored_journal import journal_of

Rows = Callable[..., list[tuple[Any, ...]]]
STATES = {"over": 0, "live": 1, "queued": 2}
OPENED = {
    "new_request": {"turn"},
    "override": {"turn", "status"},
    "status_nudge": {"status"},
    "repair": {"repair"},
    "triage": {"triage"},
}
"""The flows that a message of each class opens; what is not here opens none."""
_ENDED = (
    "SELECT coalesce(r.body, p.bytes) FROM journal r LEFT JOIN payloads p ON p.id = r.payload "
    "JOIN runs u ON u.no = r.run"
)
_STOPPED = (
    "SELECT count(*) FROM journal r JOIN runs u ON u.no = r.run JOIN runs o ON o.no = u.root "
    "WHERE r.kind = 'resumed' AND o.id = ?"
)
_STARTED = (
    "SELECT u.id, u.flow, u.status, coalesce(r.body, p.bytes), u.thread FROM runs u JOIN journal "
    "r ON r.run = u.no AND r.seq = 0"
    " LEFT JOIN payloads p ON p.id = r.payload WHERE u.parent IS NULL AND u.session = ? AND "
    "u.workspace = ? ORDER BY u.no"
)


def rows_of(ordain: Ordain) -> Rows:
    """Reads the store of a running Ordain."""
    journal_of(ordain.store)
    return lambda sql, *parameters: ordain.store.query(sql, parameters)


def rows_in(db: sqlite3.Connection) -> Rows:
    """Reads a database file."""
    journal_of(db)
    return lambda sql, *parameters: db.execute(sql, parameters).fetchall()


def broken_now(rows: Rows, *, max_active: int) -> list[str]:
    """Every law that does not hold of what is durable at this moment, in words."""
    found: list[str] = []
    for session in rows("SELECT no, workspace, id, head, chain, threads FROM sessions"):
        found += _transcript(rows, session)
        found += _consequences(rows, session)
        found += _places(rows, session[0], max_active)
        found += _replies(rows, session)
    return [*found, *_answers_once(rows), *off_the_ledger(rows)]


class _Asked(list[tuple[Any, ...]]):
    """What a statement gave, as a cursor."""

    def fetchone(self) -> tuple[Any, ...] | None:
        return self[0] if self else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self


class _Database:
    """Rows as a connection, for whoever reads with statements of their own."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> _Asked:
        return _Asked(self._rows(sql, *parameters))


def off_the_ledger(rows: Rows) -> list[str]:
    """What stands otherwise than the ledger has it, at whatever moment: each batch is whole."""
    standing, db = LedgerFold(), _Database(rows)
    for row in ledger_rows(db):  # type: ignore[arg-type]
        standing.take(row)
    found = [one for item in standing_items(db) for one in standing.differing(item)]  # type: ignore[arg-type]
    return [f"{one.place}: {one.recorded}; {one.now}" for one in (*found, *standing.missing())]


def _transcript(rows: Rows, session: tuple[Any, ...]) -> Iterator[str]:
    """Gapless, chained, digested with the key of the time, and its head is the session's."""
    no, workspace, name, head, last, _ = session
    previous = GENESIS
    entries = rows(
        "SELECT t.seq, t.kind, t.message_id, t.at, t.digest, t.chain, t.body, u.key, t.marks, "
        "t.author, t.decision, t.thread, t.run, t.channel,"
        " t.edits, t.timestamp_ms, t.attached, t.reason, t.anchor, t.size, t.through FROM "
        "transcript t"
        " JOIN subjects u ON u.no = t.subject WHERE t.session = ? ORDER BY t.seq",
        no,
    )
    if [entry[0] for entry in entries] != list(range(1, head + 1)):
        yield f"session {name}: entries {[entry[0] for entry in entries]}, head {head}"
    for (
        seq,
        kind,
        message_id,
        at,
        made,
        link,
        body,
        key,
        marks,
        author,
        decision,
        *columns,
    ) in entries:
        if body is not None and marks is not None:
            said = entry_marks(key or b"", author, decision)
            if marks != said and (len(marks) == MARKS_BYTES or marks[:16] != said[:16]):
                yield f"session {name}: entry {seq} has another author or decision than was marked"
        if body is not None and digest(key or b"", body) != made:
            yield f"session {name}: entry {seq} is not what was digested"
        covered = (
            made
            if marks is None
            else made + marks[:32] + (marks[32:] or entry_cover(tuple(columns)))
        )
        previous = chain(
            previous,
            f"{workspace}/{name}",
            seq,
            (kind, message_id, 1 if marks is None else 2, at),
            covered,
        )
        if link != previous:
            yield f"session {name}: entry {seq} is not chained to the one before"
    if entries and previous != last:
        yield f"session {name}: its link is not its last entry's"


def _consequences(rows: Rows, session: tuple[Any, ...]) -> Iterator[str]:
    """Every message is decided, and has exactly one consequence."""
    no, workspace, name = session[:3]
    started = [
        (run, flow, json.loads(body))
        for run, flow, _, body, _ in rows(_STARTED, name, workspace)
        if body is not None
    ]
    by_seq: dict[int, list[tuple[str, str]]] = {}
    for run, flow, body in started:
        by_seq.setdefault(body["input"]["seq"], []).append(
            (run, "repair" if body["input"].get("options") else flow)
        )
    messages = rows(
        "SELECT seq, message_id, attached, reason, run, body, decision FROM transcript WHERE "
        "session = ? AND kind = 'message' ORDER BY seq",
        no,
    )
    for seq, message_id, attached, reason, run, body, decision in messages:
        if body is None:
            continue
        where = f"session {name}: message {seq} ({attached}, {reason})"
        opened = Counter(flow for _, flow in by_seq.get(seq, []))
        if decision is None or json.loads(decision)["reason"] != reason:
            yield f"{where} has no decision of its own"
        if max(opened.values(), default=0) > 1 or opened["turn"] + opened["status"] > 1:
            yield f"{where} opened {dict(opened)}"
        classed = {
            flow
            for flow in opened
            if flow not in ("triage", "repair") or attached in ("repair", "triage")
        }
        if attached in OPENED and not classed & OPENED[attached]:
            yield f"{where} opened {dict(opened)}"
        if attached in ("filler", "answer_to_pending") and (opened["turn"] or opened["status"]):
            yield f"{where} opened {dict(opened)}"
        if attached == "filler" and run and reason not in ("attach.chosen", "attach.halted"):
            # whoever chose, or said stop, is told of it
            yield f"{where} is served by {run}"
        if attached not in ("filler", "answer_to_pending") and not rows(
            "SELECT 1 FROM runs WHERE id = ?", run
        ):
            yield f"{where} is served by no run"
        yield from _mailed(rows, where, {attached, *opened}, message_id)
    ours = {entry[0] for entry in messages}
    if strays := set(by_seq) - ours:
        yield f"session {name}: runs for messages {strays} that do not stand in the transcript"


def _mailed(rows: Rows, where: str, was: set[str], message_id: str) -> Iterator[str]:
    """``was``: what the message is, and what it opened on the way there: a repair question gives up
    the one before it.
    """
    answers = rows(
        "SELECT count(*) FROM mailbox WHERE kind = 'answer' AND json_extract(CAST(body AS TEXT), "
        "'$.value.message_id') = ?",
        message_id,
    )[0][0]
    interrupts = rows(
        "SELECT count(*) FROM mailbox WHERE kind = 'interrupt' AND key = ?",
        f"override:{message_id}",
    )[0][0]
    if answers != ("answer_to_pending" in was):
        yield f"{where} answers {answers} questions"
    if "override" in was and not interrupts:
        yield f"{where} interrupts nothing"
    if not was & {"override", "repair"} and interrupts:
        yield f"{where} interrupts {interrupts} runs"


def _places(rows: Rows, session: int, max_active: int) -> Iterator[str]:
    """One live turn per thread, in the order of the messages; no more at work than policy
    permits.
    """
    turns = rows(
        "SELECT t.thread, t.id, t.state, t.counts, r.status, r.head_seq FROM turns t JOIN runs r "
        "ON r.no = t.run WHERE t.session = ? ORDER BY t.run",
        session,
    )
    # thread 0 is none: what only tells or asks
    live = Counter(thread for thread, _, state, *_ in turns if state == "live" and thread)
    if max(live.values(), default=0) > 1:
        yield f"threads with several live turns: {live}"
    at_work = sum(state == "live" and counts for _, _, state, counts, *_ in turns)
    if at_work > max_active:
        yield f"{at_work} turns at work, policy permits {max_active}"
    by_thread: dict[int, list[tuple[Any, ...]]] = {}
    for thread, *turn in turns:
        if thread:
            by_thread.setdefault(thread, []).append(tuple(turn))
    for thread, queue in by_thread.items():
        if any(STATES[first[1]] > STATES[second[1]] for first, second in pairwise(queue)):
            yield f"thread {thread}: turns out of order: {[turn[1] for turn in queue]}"
        for run, state, _, status, head in queue:
            if (state == "queued") != (status == "queued") or (state == "queued" and head):
                yield f"thread {thread}: turn {run} is {state}, its run {status} at record {head}"
            if state == "over" and status not in SETTLED and status in ("ready", "queued"):
                yield f"thread {thread}: turn {run} is over, its run {status}"


def _replies(rows: Rows, session: tuple[Any, ...]) -> Iterator[str]:
    """One reply for each settled turn and status run; header and ok are the run's own."""
    no, workspace, name = session[:3]
    found: dict[str, list[dict[str, Any]]] = {}
    for run, body in rows(
        "SELECT run, body FROM transcript WHERE session = ? AND kind = 'reply' ORDER BY seq", no
    ):
        if body is not None:
            found.setdefault(run, []).append(json.loads(body))
    for run, flow, status, body, _ in rows(_STARTED, name, workspace):
        if body is None:
            continue
        replies = found.pop(run, [])
        if status not in SETTLED:
            if replies and status in ("ready", "queued"):
                yield f"run {run} ({flow}) is {status} and has replied"
            continue
        ((ended,),) = rows(f"{_ENDED} WHERE u.id = ? AND r.kind = 'ended'", run)
        said = json.loads(ended)
        stops = rows(_STOPPED, run)[0][0]
        if flow != "triage" and not 1 <= len(replies) <= 1 + stops:
            yield (
                f"run {run} ({flow}, {status}) has {len(replies)} replies and was stopped "
                f"{stops} times"
            )
        for reply in replies[-1:]:
            if reply.get("header") != said["header"]:
                yield f"run {run}: the reply's header is not the run's"
            if reply.get("ok") != (status == Status.COMPLETED):
                yield f"run {run}: ok is {reply.get('ok')}, the run {status}"
    if found:
        yield f"session {name}: replies of {set(found)}, which are no turns of it"


def _answers_once(rows: Rows) -> Iterator[str]:
    """No answer is used twice, and none is taken by a run that it was not given to."""
    taken = Counter[int]()
    for (body,) in rows(f"{_ENDED} WHERE r.kind = 'observation' AND r.name = 'wait'"):
        if body is not None and (mail := json.loads(body).get("mail")):
            taken[mail] += 1
    if twice := [mail for mail, times in taken.items() if times > 1]:
        yield f"answers {twice} were used more than once"


def broken_at_rest(ordain: Ordain, sent: Sequence[Any] = ()) -> list[str]:
    """Every law that does not hold once everything has been let go of and has come to its end, in
    words.
    """
    rows, found = rows_of(ordain), []
    for run, status in rows(
        "SELECT id, status FROM runs WHERE status NOT IN ('completed', 'failed', 'cancelled', "
        "'timed_out')"
    ):
        found.append(f"run {run} is {status} for ever")
    for run, state in rows("SELECT id, state FROM turns WHERE state <> 'over'"):
        found.append(f"turn {run} still holds its place: {state}")
    for (thread,) in rows("SELECT id FROM threads WHERE asked IS NOT NULL"):
        found.append(f"thread {thread} still asks")
    found += unequal(ordain)
    for one in sent:
        if at_once(ordain.runtime.conversation._awaited._read("default", one)) is None:
            found.append(f"message {one.seq} of {one.session} is never answered")
    return found


def unequal(ordain: Ordain) -> list[str]:
    """The settled runs that do not replay as they were."""
    services, found = ordain.runtime.services, []
    for (run,) in ordain.store.query("SELECT id FROM runs ORDER BY no"):
        stored = ordain.store.stored(run)
        assert stored is not None
        if stored.status in SETTLED and stored.key is not None:
            report = replayed(services, stored)
            if not report.equal:
                found.append(
                    f"run {run} ({stored.flow}) replays {report.verdict}: {report.differences[:2]}"
                )
    return found


def lawful(ordain: Ordain, *, max_active: int = 4) -> None:
    """Assert that every law of sessions holds, and that everything settled replays."""
    assert not broken_now(rows_of(ordain), max_active=max_active)
    assert unequal(ordain) == []
