"""What a turn leaves on disk, by kind of record and by table. ``python -m bench.journal HOME``; the
home is closed and unchanged since.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench import work
from bench.systems.ordain_turn import PAYLOAD_BYTES
from ordain.store import sheets
from ordain.store.run_records import asking, read_records


class Kept(NamedTuple):
    """A record as it is stored: its run's number, what it says, and the bytes that body and heading
    take, and its share of the row.
    """

    run: int
    kind: str
    name: str
    body: bytes
    size: int


def kept(db: sqlite3.Connection) -> Iterator[Kept]:
    """Every record of a database that this build has written. What the row takes beside its records
    counts for the first of them.
    """
    for (run,) in db.execute("SELECT no FROM runs ORDER BY no").fetchall():
        sizes = Counter[int]()
        for first, row in db.execute("SELECT seq, records FROM sheets WHERE run = ?", (run,)):
            # less the head of a list of one
            each = [len(sheets.encode([laid])) - 1 for laid in sheets.decode(first, row)]
            sizes.update({first + place: size for place, size in enumerate(each)})
            sizes[first] += len(row) - sum(each) + sheets.ROW_BYTES
        for record in read_records(asking(db), run):
            body = record.body or b""
            apart = len(body) if len(body) > sizes[record.seq] else 0
            yield Kept(run, record.kind, record.name, body, sizes[record.seq] + apart)


def _trace_bytes(records: list[Kept]) -> int:
    """What the results repeat of the observations."""
    results = (
        msgspec.json.decode(each.body).get("result") or {}
        for each in records
        if each.kind == "ended"
    )
    return sum(
        len(msgspec.json.encode(result["trace"])) for result in results if result.get("trace")
    )


def _repeated_bytes(records: list[Kept]) -> tuple[int, int]:
    """Bytes of decisions that were made before in their run on the same facts; in the others, bytes
    of caps and of outcomes that repeat facts.
    """
    seen: set[tuple[int, str, str, str]] = set()
    again = within = 0
    for each in records:
        if each.kind != "decision":
            continue
        said = msgspec.json.decode(each.body)
        facts, outcome = said["facts"], said["outcome"]
        key = (each.run, each.name, str(facts), str(outcome))
        if key in seen:
            again += each.size
            continue
        seen.add(key)
        repeated = [{name: value} for name, value in facts.items() if name.startswith("cap_")]
        repeated += [
            {name: value}
            for name, value in outcome.items()
            if name in facts and facts[name] == value
        ]
        # its braces are a comma here
        within += sum(len(msgspec.json.encode(item)) - 1 for item in repeated)
    return again, within


def measured(home: Path) -> dict[str, Any]:
    """The bytes of a home where only turns of ``bench.systems.ordain_turn`` were done."""
    file = home / "ordain.db"
    db = sqlite3.connect(file)
    (turns,) = db.execute("SELECT count(*) FROM runs").fetchone()
    found = list(kept(db))
    db.close()
    counts, sizes = Counter[str](), Counter[str]()
    for each in found:
        kind = f"{each.kind} {each.name}" if each.kind != "ended" else each.kind
        counts[kind] += 1
        sizes[kind] += each.size
    kinds = [
        {"kind": kind, "count": counts[kind] / turns, "bytes": size / turns}
        for kind, size in sizes.most_common()
    ]
    records = sum(sizes.values()) / turns
    again, within = _repeated_bytes(found)
    return {
        "turns": turns,
        "payload_per_turn": PAYLOAD_BYTES,
        "records_per_step": records / work.STEPS,
        "records_beyond_per_step": (records - PAYLOAD_BYTES) / work.STEPS,
        "file_per_step": file.stat().st_size / turns / work.STEPS,
        "file_beyond_per_step": (file.stat().st_size / turns - PAYLOAD_BYTES) / work.STEPS,
        "repeated_trace_per_step": _trace_bytes(found) / turns / work.STEPS,
        "repeated_decisions_per_step": again / turns / work.STEPS,
        "repeated_facts_per_step": within / turns / work.STEPS,
        "kinds": kinds,
    }


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))
