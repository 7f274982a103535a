"""Maintenance as SQLite carries it out: an erasure holds the write lock, so what it looks through must not grow with the database."""

from __future__ import annotations

import sqlite3

from ordain.store.operations import erase
from ordain.store.schema import prepare


def test_an_erasure_looks_through_no_table() -> None:
    """Runs and payloads of a subject are found by index, however many others there are; the few requests are read through."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    prepare(db)
    db.execute("INSERT INTO subjects VALUES (1, 'w', 'session:s1#1', x'00', NULL)")
    db.execute("INSERT INTO sessions VALUES (1, 'w', 's1', 1, 1, 0, x'00', 0, 0, 'web', 'ada', 0, 0)")
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    erase(db, {"workspace": "w", "session": "s1", "at": 1})
    db.set_trace_callback(None)
    assert len(statements) > 10
    looks = [step[3] for statement in statements for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert {look for look in looks if look.startswith("SCAN")} <= {"SCAN requests"}
