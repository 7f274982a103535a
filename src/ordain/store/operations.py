"""Maintenance inside the write transaction: account for resumes, erase a subject, sweep old content."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ordain.journal.records import ENCODER, NULL, EndedBody
from ordain.ports.store import Outcome
from ordain.rules.header import without_words
from ordain.store.access_operations import ACCESS_OPERATIONS
from ordain.store.catalog_units import drop_catalog, keep_catalog
from ordain.store.claims import drop_accounts
from ordain.store.conversation import take_place_again
from ordain.store.lease import LEASE_OPERATIONS
from ordain.store.library_units import erase_subject

_WITHOUT_RESULT = "CASE WHEN json_valid(CAST({0} AS TEXT)) THEN CAST(json_remove(CAST({0} AS TEXT), '$.result') AS BLOB) END"
"""An ``ended`` body keeps its header, wherever the body is stored; one that cannot be read goes whole."""
_WITH_RESULT = "CASE WHEN json_valid(CAST({0} AS TEXT)) THEN json_type(CAST({0} AS TEXT), '$.result') IS NOT NULL ELSE 1 END"
_OF_THREADS = {
    "input": ("intent = '', slots = NULL", "intent <> '' OR slots IS NOT NULL"),
    "result": ("last_error = NULL", "last_error IS NOT NULL"),
}
"""What a thread holds of each class, and whether it holds any: what users said, and what came of it."""
_ENDED, _KEPT = "= 'ended'", "IN ('ended', 'note')"


def resumed(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """A start found these runs unfinished: count it, anew where the run has made progress since the last count."""
    db.executemany(
        "UPDATE runs SET resumes = CASE WHEN resumes_at = head_seq THEN resumes + 1 ELSE 1 END, resumes_at = head_seq WHERE id = ?",
        [(run,) for run in args["runs"]],
    )
    return Outcome(count=len(args["runs"]))


def erase(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Destroy a subject's content, and its digest key: of the run or of the session that is named.

    Every body and payload of its runs and its transcript goes, who said it, and what was remembered of it. ``ended`` keeps the header, without what that quotes.
    """
    if "session" in args:
        named = "SELECT subject FROM sessions WHERE workspace = ? AND id = ?", (args["workspace"], args["session"])
    else:
        named = "SELECT subject FROM runs WHERE id = ?", (args["run"],)
    row = db.execute(*named).fetchone()
    if row is None:
        return Outcome(refused="not_found")
    (subject,) = row
    at = args["at"]
    if db.execute(
        "SELECT 1 FROM runs WHERE subject = ? AND status IN ('queued', 'ready', 'running', 'waiting') LIMIT 1", (subject,)
    ).fetchone():
        return Outcome(refused="not_at_rest")
    kept = "SELECT payload FROM records WHERE payload IS NOT NULL AND kind {} AND run IN (SELECT no FROM runs WHERE subject = ?)"
    endings = db.execute(f"SELECT id, bytes FROM payloads WHERE bytes IS NOT NULL AND id IN ({kept.format(_ENDED)})", (subject,)).fetchall()
    db.executemany("UPDATE payloads SET bytes = ?, erased_at = ? WHERE id = ?", [(_bare(body), at, number) for number, body in endings])
    apart = db.execute(
        f"UPDATE payloads SET bytes = NULL, erased_at = ? WHERE subject = ? AND bytes IS NOT NULL AND id NOT IN ({kept.format(_KEPT)})",
        (at, subject, subject),
    )
    done = db.execute(
        "UPDATE records SET body = NULL WHERE body IS NOT NULL AND kind NOT IN ('note', 'ended') AND run IN (SELECT no FROM runs WHERE subject = ?)",
        (subject,),
    )
    endings = db.execute(
        "SELECT pos, body FROM records WHERE kind = 'ended' AND body IS NOT NULL AND run IN (SELECT no FROM runs WHERE subject = ?)",
        (subject,),
    ).fetchall()
    db.executemany("UPDATE records SET body = ? WHERE pos = ?", [(_bare(body), pos) for pos, body in endings])
    db.execute("UPDATE mailbox SET body = x'7b7d' WHERE run IN (SELECT no FROM runs WHERE subject = ?)", (subject,))
    db.execute("UPDATE outbox SET text = '' WHERE run IN (SELECT no FROM runs WHERE subject = ?)", (subject,))
    said = db.execute("UPDATE transcript SET body = NULL, decision = NULL WHERE subject = ? AND body IS NOT NULL", (subject,))
    db.execute("UPDATE transcript SET author = '' WHERE subject = ? AND author <> ''", (subject,))  # of what was swept before, too
    db.execute("UPDATE sessions SET user = '' WHERE subject = ?", (subject,))
    db.execute(
        "UPDATE threads SET intent = '', asked = NULL, slots = NULL, last_error = NULL WHERE session IN (SELECT no FROM sessions WHERE subject = ?)",
        (subject,),
    )
    db.execute("UPDATE requests SET digest = '' WHERE run IN (SELECT no FROM runs WHERE subject = ?)", (subject,))
    remembered = erase_subject(db, subject, at)
    db.execute("UPDATE subjects SET key = NULL, erased_at = ? WHERE no = ?", (at, subject))
    return Outcome(count=done.rowcount + apart.rowcount + said.rowcount + remembered)


def _bare(body: bytes) -> bytes | None:
    """An ``ended`` body of erased content: no result, no word in the header; one that cannot be read goes whole."""
    try:
        ended = msgspec.json.decode(body, type=EndedBody)
    except msgspec.MsgspecError:
        return None
    return ENCODER.encode(msgspec.structs.replace(ended, header=without_words(ended.header), result=NULL))


def sweep(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Null content of one retention class in runs that ended before ``before`` (microseconds)."""
    content_class, before = args["class"], args["before"]
    ended = "run IN (SELECT no FROM runs WHERE ended_at < ?)"
    swept = db.execute(
        f"UPDATE payloads SET bytes = NULL, erased_at = ? WHERE bytes IS NOT NULL AND class = ? AND id IN (SELECT payload FROM records WHERE payload IS NOT NULL AND kind <> 'ended' AND {ended})",
        (args["at"], content_class, before),
    ).rowcount
    kinds = {
        "input": "kind = 'started'",
        "result": "kind = 'child_ended'",
        "model": "kind IN ('intent', 'observation') AND name LIKE 'model%'",
        "verb": "kind IN ('intent', 'observation') AND name NOT LIKE 'model%'",
    }[content_class]
    swept += db.execute(f"UPDATE records SET body = NULL WHERE body IS NOT NULL AND {kinds} AND {ended}", (before,)).rowcount
    said = {"input": "kind = 'message'", "result": "kind <> 'message'"}.get(content_class)
    if said is not None:
        going_on = "SELECT session FROM turns WHERE state <> 'over'"  # an open turn may still refer to what was said
        swept += db.execute(
            f"UPDATE transcript SET body = NULL, decision = NULL WHERE body IS NOT NULL AND at < ? AND {said} AND session NOT IN ({going_on})",
            (before,),
        ).rowcount
        emptied, held = _OF_THREADS[content_class]
        db.execute(f"UPDATE threads SET {emptied} WHERE ({held}) AND touched_at < ? AND session NOT IN ({going_on})", (before,))
    if content_class == "result":
        shown = f"kind = 'ended' AND {ended}"
        db.execute(
            f"UPDATE records SET body = {_WITHOUT_RESULT.format('body')} WHERE body IS NOT NULL AND {shown} AND {_WITH_RESULT.format('body')}",
            (before,),
        )
        db.execute(
            f"UPDATE payloads SET bytes = {_WITHOUT_RESULT.format('bytes')} WHERE bytes IS NOT NULL"
            f" AND id IN (SELECT payload FROM records WHERE {shown}) AND {_WITH_RESULT.format('bytes')}",
            (before,),
        )
    return Outcome(count=swept)


def retake(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The stopped turn ``run`` takes its place in its thread again, if no other turn has it."""
    return Outcome(refused="" if take_place_again(db, args["run"]) else "thread_taken")


def probe(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Write something that changes nothing: whether storage takes a write, not only a transaction."""
    db.execute("INSERT INTO accounts VALUES ('', 'probe', 0, 0)")  # a row that is set to what it was would touch no page
    return Outcome(count=db.execute("DELETE FROM accounts WHERE workspace = '' AND name = 'probe'").rowcount)


OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "resumed": resumed,
    "erase": erase,
    "sweep": sweep,
    "probe": probe,
    "retake": retake,
    "drop_accounts": drop_accounts,
    **ACCESS_OPERATIONS,
    **LEASE_OPERATIONS,
    "keep_catalog": keep_catalog,
    "drop_catalog": drop_catalog,
}
