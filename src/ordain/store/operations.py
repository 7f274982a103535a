"""Operations inside the write transaction, by name: account for resumes, begin an erasure, take a place again, tokens, catalogs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.ports.store import Outcome
from ordain.store.access_operations import ACCESS_OPERATIONS
from ordain.store.catalog_units import drop_catalog, keep_catalog
from ordain.store.conversation import take_place_again
from ordain.store.erasure import begin_erasure


def resumed(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """A start found these runs unfinished: count it, anew where the run has made progress since the last count."""
    db.executemany(
        "UPDATE runs SET resumes = CASE WHEN resumes_at = head_seq THEN resumes + 1 ELSE 1 END, resumes_at = head_seq WHERE id = ?",
        [(run,) for run in args["runs"]],
    )
    return Outcome(count=len(args["runs"]))


def retake(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The stopped turn ``run`` takes its place in its thread again, if no other turn has it."""
    return Outcome(refused="" if take_place_again(db, args["run"]) else "thread_taken")


OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "resumed": resumed,
    "erase": begin_erasure,
    "retake": retake,
    **ACCESS_OPERATIONS,
    "keep_catalog": keep_catalog,
    "drop_catalog": drop_catalog,
}
