"""What must hold of a case after it was killed and taken up again, whatever the moment of the kill
was.

A journal is read here as plain rows and plain JSON, so that what checks the runtime is not the
runtime.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ordain.app import Ordain
from ordain.errors import JournalCorrupt
from ordain.journal.codec import verify
from ordain.journal.digests import derived_id
from ordain.journal.records import SETTLED, Status
from ordain.runtime.replay import replay
from tests.at_once import at_once
from tests.shapes.catalogue import RUN, Shape
from tests.shapes.stored_journal import journal_of

Row = tuple[int, str, str, int, int, bytes, bytes, bytes]
Journals = dict[str, list[Row]]
IDEMPOTENT = frozenset({"note_put", "note_send", "note_refuse"})
"""A call of theirs is repeated, and in doubt while no repeat has run."""

_ROWS = (
    "SELECT u.id, r.seq, r.kind, r.name, r.v, r.at, r.digest, r.chain, coalesce(r.body, p.bytes) "
    "FROM journal r"
    " JOIN runs u ON u.no = r.run LEFT JOIN payloads p ON p.id = r.payload ORDER BY u.no, r.seq"
)


def read_journals(folder: Path) -> Journals:
    """Every journal as it is durable now."""
    journals: Journals = {}
    file = folder / "ordain.db"
    if file.exists():
        db = journal_of(sqlite3.connect(file))
        if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'records'").fetchone()[0]:
            for run, *row in db.execute(_ROWS):
                journals.setdefault(run, []).append(tuple(row))
        db.close()
    return journals


@dataclass(frozen=True, slots=True, kw_only=True)
class Went:
    """One effect as the journal tells it; ``result`` is None while it is open, ``key`` a verb
    call's idempotency key.
    """

    run: str
    addr: int
    kind: str
    verb: str
    key: str
    result: dict[str, Any] | None
    seq: int


def effects(journals: Journals) -> Iterator[Went]:
    """Every announced effect, with what became of it."""
    for run, rows in journals.items():
        seen = {
            body["addr"]: (body["result"], row[0])
            for row in rows
            if row[1] == "observation" and (body := json.loads(row[7]))
        }
        for row in rows:
            if row[1] == "intent":
                body = json.loads(row[7])
                authorized = body["effect"].get("authorized", {})
                result, seq = seen.get(body["addr"], (None, -1))
                yield Went(
                    run=run,
                    addr=body["addr"],
                    kind=row[2],
                    verb=authorized.get("call", {}).get("verb", ""),
                    key=derived_id(run, authorized["decision"]) if authorized else "",
                    result=result,
                    seq=seq,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All there is of a finished case: ``before`` are the journals that each later process found,
    ``after`` the last ones.
    """

    before: Sequence[Journals]
    after: Journals
    calls: Sequence[Mapping[str, Any]]
    diary: Mapping[str, Any]


def outcome(ordain: Ordain) -> str:
    """What the run came to, its trace read back, without how long it took and without the ids of
    children and records: those tell at which effect a child was spawned, and how many attempts came
    before.
    """
    view = at_once(ordain.runtime.view(RUN))
    result = json.loads(bytes(view.result))
    if view.stored.flow == "planner":
        result = {**result, "steps": ordain.runtime.response(view)["trace"]}
    return json.dumps(_without(result), sort_keys=True)


def _without(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {
            name: _without(value)
            for name, value in tree.items()
            if name not in {"duration_ms", "run_id"}
        }
    return [_without(value) for value in tree] if isinstance(tree, list) else tree


def broken_laws(ordain: Ordain, shape: Shape, seen: Evidence, expected: str) -> list[str]:
    """Every law that does not hold, in words."""
    return [
        *_everything_settled(ordain, shape, seen),
        *broken_effects(seen),
        *_words_once(ordain, seen),
        *_acknowledged_is_kept(ordain, shape, seen),
        *_same_result(ordain, shape, seen, expected),
    ]


def broken_effects(seen: Evidence) -> list[str]:
    """The laws of effects that do not hold, whatever runs there are."""
    return [
        *_journals_grow_only(seen),
        *_calls_follow_intents(seen),
        *_nothing_twice(seen),
        *_unknown_exactly_where_it_is(seen),
        *_lost_calls_are_decided(seen),
        *_lost_attempts_are_paid(seen),
    ]


def _everything_settled(ordain: Ordain, shape: Shape, seen: Evidence) -> Iterator[str]:
    roots = ordain.store.query("SELECT id FROM runs WHERE parent IS NULL ORDER BY no")
    if roots != [(root,) for root in shape.roots]:
        yield f"roots: {roots}"
    for run in seen.after:
        stored = ordain.store.stored(run)
        assert stored is not None
        if stored.status not in SETTLED:
            yield f"run {run} is {stored.status} ({stored.reason})"
        try:
            verify(run, stored.key, stored.records)
        except JournalCorrupt as error:
            yield f"run {run}: {error.message}"
        report = replay(stored, ordain.catalog, ordain.runtime.services.kinds)
        if not report.equal or not report.settled:
            yield f"run {run} replays {report.verdict}: {report.differences[:2]}"


def _journals_grow_only(seen: Evidence) -> Iterator[str]:
    states = [*seen.before, seen.after]
    for earlier, later in pairwise(states):
        for run, rows in earlier.items():
            if later.get(run, [])[: len(rows)] != rows:
                yield f"the journal of run {run} is no continuation of what the crash left"


def _calls_follow_intents(seen: Evidence) -> Iterator[str]:
    states = [*seen.before, seen.after]
    for call in seen.calls:
        known = {went.key for went in effects(states[min(call["boot"], len(states)) - 1])}
        if call["key"] not in known:
            yield f"call {call} had no durable intent"


def _nothing_twice(seen: Evidence) -> Iterator[str]:
    verbs = {went.key: went.verb for went in effects(seen.after) if went.key}
    for key, verb in verbs.items():
        calls = [call for call in seen.calls if call["key"] == key]
        if verb == "entry_add" and len(calls) > 1:
            yield f"{verb}: called {len(calls)} times"
        if sum(call["applied"] for call in calls) > 1:
            yield f"{verb}: applied more than once"
        for call in calls:
            if call["boot"] > 1 and _result_of(seen.before[call["boot"] - 2], key) is not None:
                yield f"{verb}: called again after it had been observed"


def _result_of(journals: Journals, key: str) -> dict[str, Any] | None:
    return next((went.result for went in effects(journals) if went.key == key), None)


def _unknown_exactly_where_it_is(seen: Evidence) -> Iterator[str]:
    ran = {
        went.key
        for went in effects(seen.after)
        if went.result is not None and went.result["result"] == "returned"
    }
    cut = {
        went.key
        for journals in seen.before
        for went in effects(journals)
        if went.result is None
        and (went.verb == "entry_add" or (went.verb in IDEMPOTENT and went.key not in ran))
    }
    said = {
        went.key
        for went in effects(seen.after)
        if went.result is not None and went.result["result"] == "outcome_unknown"
    }
    if cut - said:
        yield (
            f"{len(cut - said)} calls were cut off and nobody can know, but they are not "
            "outcome_unknown"
        )
    if said - cut:
        yield f"{len(said - cut)} calls are outcome_unknown without need"


def _lost_calls_are_decided(seen: Evidence) -> Iterator[str]:
    """That a call is given up as lost is a rule's decision, whether its run was being stopped or
    not.
    """
    for went in effects(seen.after):
        if not went.key or went.result is None or went.result.get("code") != "lost":
            continue
        decided = [
            json.loads(row[7])
            for row in seen.after[went.run]
            if row[1] == "decision" and row[2] == "recover" and row[0] < went.seq
        ]
        if not any(body["addr"].startswith(f"{went.addr + 1}/") for body in decided):
            yield f"{went.verb}: lost, and no rule has decided so"


def _lost_attempts_are_paid(seen: Evidence) -> Iterator[str]:
    for journals in seen.before:
        for open_one in effects(journals):
            if open_one.kind != "model_call" or open_one.result is not None:
                continue
            (ended,) = [
                went
                for went in effects(seen.after)
                if (went.run, went.addr) == (open_one.run, open_one.addr)
            ]
            if ended.result is None or ended.result.get("code") != "lost":
                yield f"a model call that was cut off ended as {ended.result}"
                continue
            settled = [
                json.loads(row[7])
                for row in seen.after[ended.run]
                if row[1:3] == ("decision", "settle")
            ]
            paid = [body["facts"] for body in settled if body.get("refs") == [ended.seq]]
            if [facts["tokens"] for facts in paid] != [facts["reserved"] for facts in paid] or len(
                paid
            ) != 1:
                yield f"a lost attempt was settled at {paid}"


def _words_once(ordain: Ordain, seen: Evidence) -> Iterator[str]:
    rows = ordain.store.query("SELECT r.id, o.addr FROM outbox o JOIN runs r ON r.no = o.run")
    said = [(went.run, went.addr) for went in effects(seen.after) if went.kind == "say"]
    if sorted(rows) != sorted(said):
        yield f"the outbox holds {len(rows)} rows for {len(said)} says"


def _acknowledged_is_kept(ordain: Ordain, shape: Shape, seen: Evidence) -> Iterator[str]:
    waits = {
        went.addr: went.result or {}
        for went in effects(seen.after)
        if went.run == RUN and went.kind == "wait"
    }
    for name, value in seen.diary.items():
        what, *rest = name.split()
        if (
            what == "answer"
            and value == "sent"
            and waits.get(int(rest[0]), {}).get("by") != rest[1]
        ):
            yield f"the acknowledged answer {name} is not in the journal"
        if (
            what == "cancel"
            and value in {"sent", "already_asked"}
            and _status(ordain) is not Status.CANCELLED
        ):
            yield f"an acknowledged cancellation ended as {_status(ordain)}"


def _status(ordain: Ordain) -> Status | None:
    stored = ordain.store.stored(RUN)
    return None if stored is None else stored.status


def _same_result(ordain: Ordain, shape: Shape, seen: Evidence, expected: str) -> Iterator[str]:
    ends = [went.result for went in effects(seen.after) if went.result is not None]
    if any(end["result"] == "outcome_unknown" for end in ends):
        return
    if shape.ends is Status.CANCELLED and any(end.get("code") == "lost" for end in ends):
        return  # what a crash cut off is not made again for a run that is being stopped
    result = outcome(ordain)
    if _status(ordain) is not shape.ends:
        yield f"ended {_status(ordain)}, undisturbed {shape.ends}"
    if expected and result != expected:
        yield f"result {result}, undisturbed {expected}"
