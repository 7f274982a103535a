"""Stores of many rows, put in by SQL: what is asked of them is how much a statement looks at, not
what stands in them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable

from ordain.journal.records import PAYLOAD_BYTES, Record, RecordKind
from ordain.store.sheets import lay_out

DAY = 86_400_000_000


async def looks(db: sqlite3.Connection, *asked: Awaitable[object]) -> list[str]:
    """How SQLite would go about the statements of what is asked of this connection."""
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    for one in asked:
        await one
    db.set_trace_callback(None)
    return [
        step[3]
        for statement in statements
        for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]


def filled(
    db: sqlite3.Connection,
    *,
    runs: int,
    records: int,
    size: int = 8,
    first: int = 1,
    subject: int = 1,
    ended_at: int = DAY,
    rows: bool = False,
) -> None:
    """Settled runs of one subject, one ending after the other, with records that hold so many
    bytes; more than 4096 lie apart.

    They stand in sheets, or with ``rows`` as builds before them stored them.
    """
    db.execute("BEGIN")
    db.execute(
        "INSERT OR IGNORE INTO subjects VALUES (?, 'w', ?, x'00', NULL)",
        (subject, f"subject {subject}"),
    )
    for no in range(first, first + runs):
        db.execute(
            "INSERT INTO runs(no, id, parent_addr, child, root, workspace, subject, flow, "
            "flow_version, catalog, status, reason, epoch,"
            " head_seq, resumes, resumes_at, created_at, ended_at) VALUES "
            "(?,?,-1,0,?,'w',?,'f',1,'c','completed','ok',1,?,0,-1,1,?)",
            (no, f"r{no}", no, subject, records - 1, ended_at + no),
        )

        def put_apart(_: Record) -> int:
            sql = (
                "INSERT INTO payloads(workspace, subject, class, digest, bytes) VALUES ('w', ?, "
                "'verb', x'00', zeroblob(?))"
            )
            return db.execute(sql, (subject, size)).lastrowid or 0

        body = b"x" * size
        made = [
            Record(
                seq=seq,
                kind=RecordKind.OBSERVATION,
                name="verb_call",
                v=1,
                at=1,
                digest=b"0",
                chain=b"0",
                body=body,
            )
            for seq in range(records)
        ]
        if rows:
            _put_rows(db, no, made, put_apart)
            continue
        for seq, settled, laid in lay_out(made, put_apart):
            db.execute(
                "INSERT INTO sheets(run, seq, settled, records) VALUES (?,?,?,?)",
                (no, seq, settled, laid),
            )
    db.execute("COMMIT")


def _put_rows(
    db: sqlite3.Connection, run: int, made: list[Record], put_apart: Callable[[Record], int]
) -> None:
    for r in made:
        payload = put_apart(r) if len(r.body or b"") > PAYLOAD_BYTES else None
        db.execute(
            "INSERT INTO records(run, seq, kind, name, v, at, digest, chain, body, payload) "
            "VALUES (?,?,?,?,?,?,?,?,?,?)",
            (
                run,
                r.seq,
                r.kind,
                r.name,
                r.v,
                r.at,
                r.digest,
                r.chain,
                None if payload else r.body,
                payload,
            ),
        )


def said(
    db: sqlite3.Connection, *, session: int, subject: int, entries: int, at: int = DAY
) -> None:
    """A session with so many messages of its subject."""
    db.execute(
        "INSERT INTO sessions VALUES (?, 'w', ?, ?, 1, ?, x'00', 1, 0, 'web', 'ada', 0, 0)",
        (session, f"s{session}", subject, entries),
    )
    for seq in range(1, entries + 1):
        db.execute(
            "INSERT INTO transcript(session, seq, kind, at, thread, run, channel, message_id, "
            "edits, timestamp_ms, attached, reason, anchor, size,"
            " through, author, subject, digest, chain, body, decision) VALUES "
            "(?,?,'message',?,1,'','web',?,'',0,'','','',1,0,'ada',?,x'00',x'00',x'7b7d',x'7b7d')",
            (session, seq, at + seq, f"m{session}-{seq}", subject),
        )
