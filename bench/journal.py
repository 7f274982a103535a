"""What a turn leaves on disk, by kind of record and by table. ``python -m bench.journal HOME``; the home is closed and unchanged since."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import msgspec

from bench import work
from bench.systems.ordain_turn import PAYLOAD_BYTES

HEADING = "length(r.digest) + length(r.chain) + length(r.kind) + length(r.name) + 24"  # 24: the five numbers and the row's own header


def _trace_bytes(db: sqlite3.Connection) -> int:
    """What the results repeat of the observations."""
    bodies = db.execute("SELECT coalesce(r.body, p.bytes) FROM records r LEFT JOIN payloads p ON p.id = r.payload WHERE r.kind = 'ended'")
    results = (msgspec.json.decode(body).get("result") or {} for (body,) in bodies)
    return sum(len(msgspec.json.encode(result["trace"])) for result in results if result.get("trace"))


def _repeated_bytes(db: sqlite3.Connection) -> tuple[int, int]:
    """Bytes of decisions that were made before in their run on the same facts; in the others, bytes of caps and of outcomes that repeat facts."""
    seen: set[tuple[int, str, str, str]] = set()
    again = within = 0
    for run, rule, body, heading in db.execute(f"SELECT run, name, body, {HEADING} FROM records r WHERE kind = 'decision'"):
        said = msgspec.json.decode(body)
        facts, outcome = said["facts"], said["outcome"]
        key = (run, rule, str(facts), str(outcome))
        if key in seen:
            again += len(body) + heading
            continue
        seen.add(key)
        repeated = [{name: value} for name, value in facts.items() if name.startswith("cap_")]
        repeated += [{name: value} for name, value in outcome.items() if name in facts and facts[name] == value]
        within += sum(len(msgspec.json.encode(item)) - 1 for item in repeated)  # its braces are a comma here
    return again, within


def _main(home: Path) -> dict[str, Any]:
    file = home / "ordain.db"
    db = sqlite3.connect(file)
    (turns,) = db.execute("SELECT count(*) FROM runs").fetchone()
    rows = db.execute(
        f"SELECT r.kind, r.name, count(*), sum(coalesce(length(r.body), 0) + coalesce(length(p.bytes), 0)), sum({HEADING})"
        " FROM records r LEFT JOIN payloads p ON p.id = r.payload GROUP BY r.kind, r.name ORDER BY 4 + 5 DESC"
    ).fetchall()
    kinds = [
        {"kind": f"{kind} {name}" if kind != "ended" else kind, "count": count / turns, "bytes": (body + heading) / turns}
        for kind, name, count, body, heading in rows
    ]
    kinds.sort(key=lambda row: -row["bytes"])
    records = sum(row["bytes"] for row in kinds)
    again, within = _repeated_bytes(db)
    (names,) = db.execute("SELECT sum(length(kind) + length(name) - 2) FROM records").fetchone()
    return {
        "turns": turns,
        "payload_per_turn": PAYLOAD_BYTES,
        "records_per_step": records / work.STEPS,
        "records_beyond_per_step": (records - PAYLOAD_BYTES) / work.STEPS,
        "file_per_step": file.stat().st_size / turns / work.STEPS,
        "file_beyond_per_step": (file.stat().st_size / turns - PAYLOAD_BYTES) / work.STEPS,
        "repeated_trace_per_step": _trace_bytes(db) / turns / work.STEPS,
        "repeated_decisions_per_step": again / turns / work.STEPS,
        "repeated_facts_per_step": within / turns / work.STEPS,
        "names_per_step": names / turns / work.STEPS,
        "kinds": kinds,
    }


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]))))
