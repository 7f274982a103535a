"""What housekeeping costs those who ask meanwhile: ``/health`` of a real server over a large store,
while it sweeps, erases, counts and adds up.

``python -m bench.housekeeping`` makes a store of 200,000 runs and 1,000,000 records: a few runs are
really driven, and their rows are copied with other ids and dates. Copies are not replayed by
anybody, so their chains need not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from bench.served import Served
from ordain import Ordain, tune_collector
from ordain.store.run_records import asking, read_opening

ROOT = Path(__file__).resolve().parent.parent
DAY_US = 86_400_000_000
SPAN_DAYS = 60
LARGE = 20_000
"""Runs of the one subject that is erased, and turns of the one session."""
SAID = "copied"
"""That session's id."""
ASKED_EVERY_S = 0.004
SCRIPT = {
    "planner": [
        {
            "thought": "I need a number.",
            "finish": False,
            "action": {"tool_id": "math.evaluate", "input": {"expression": "6 * 7"}},
            "final_answer": None,
        },
        {
            "thought": "That is all.",
            "finish": True,
            "action": None,
            "final_answer": {"content": "42", "structured": {}},
        },
    ]
}
RETENTION = (
    "version = 1\n[retention]\ninput_days = 30\nmodel_days = 30\nverb_days = 30\nresult_days = 30\n"
)
RUN_COLUMNS = (
    "parent, parent_addr, child, root, workspace, session, thread, flow, flow_version, catalog, "
    "status, reason, wake_at, epoch, head_seq,"
    " resumes, resumes_at"
)


async def driven(home: Path, script: Path) -> None:
    """One run that asks a model, and one that only calls a verb."""
    async with Ordain(home=home, script=script) as ordain:
        planned = (
            await ordain.plan(
                {
                    "goal": {"type": "analysis", "description": "what is six times seven?"},
                    "toolset": [{"tool_id": "math.evaluate"}],
                }
            )
        ).wire
        assert planned["status"] == "ok", planned
        await ordain.execute("math.evaluate", {"expression": "6 * 7"})


def copied(home: Path, runs: int, records: int) -> dict[str, int]:
    """Copy the driven runs until there are so many; the last ones belong to one session."""
    db = sqlite3.connect(home / "ordain.db", isolation_level=None)
    db.executescript("PRAGMA synchronous=OFF; PRAGMA cache_size=-200000;")
    lengths = dict(db.execute("SELECT no, head_seq + 1 FROM runs").fetchall())
    long, short = (
        max(lengths, key=lambda run: lengths[run]),
        min(lengths, key=lambda run: lengths[run]),
    )
    asking = max(
        0, min(runs, (records - runs * lengths[short]) // max(lengths[long] - lengths[short], 1))
    )
    asking = max(asking, runs // 20)
    now = time.time_ns() // 1000
    (made,) = db.execute("SELECT max(no) FROM runs").fetchone()
    db.execute("BEGIN")
    for template, count in ((long, asking), (short, runs - asking)):
        first = db.execute("SELECT max(no) + 1 FROM runs").fetchone()[0]
        db.execute(
            "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "
            "n WHERE i + 1 < ?) SELECT i FROM n",
            (count,),
        )
        db.execute(
            "INSERT INTO subjects(no, workspace, id, key) SELECT 1000000 + ? + i, 'default', "
            "'copy:' || (? + i), randomblob(32) FROM n",
            (first, first),
        )
        db.execute(
            f"INSERT INTO runs(no, id, subject, created_at, ended_at, {RUN_COLUMNS})"
            " SELECT ? + i, printf('copy%012d', ? + i), 1000000 + ? + i, ? - i * ?, ? - i * ?, "
            f"{RUN_COLUMNS.replace('root', '? + i')} FROM n, runs WHERE no = ?",
            (
                first,
                first,
                first,
                now - 1000,
                SPAN_DAYS * DAY_US // count,
                now,
                SPAN_DAYS * DAY_US // count,
                first,
                template,
            ),
        )
        db.execute(
            "INSERT INTO sheets(run, seq, settled, records)"
            " SELECT ? + i, seq, settled, records FROM n, sheets WHERE run = ? ORDER BY i, seq",
            (first, template),
        )
        db.execute("DROP TABLE n")
    subject = 1_000_000 + made + 1
    large = min(LARGE, runs // 4)
    db.execute(
        "UPDATE runs SET subject = ? WHERE no BETWEEN ? AND ?", (subject, made + 1, made + large)
    )
    talked(db, made + large + 1, made + 2 * large, now)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found = dict(
        zip(
            ("runs", "records"),
            db.execute("SELECT count(*), sum(head_seq + 1) FROM runs").fetchone(),
            strict=True,
        )
    )
    db.close()
    return found | {"asking": asking, "large": made + 1}


def talked(db: sqlite3.Connection, first: int, last: int, now: int) -> None:
    """Make turns of one session out of these runs: each with a request id, a thread of its own, a
    message and a reply.
    """
    turns = {"first": first, "last": last, "now": now, "session": SAID}
    (subject,) = db.execute("SELECT max(no) + 1 FROM subjects").fetchone()
    db.execute(
        "INSERT INTO subjects(no, workspace, id, key) VALUES (?, 'default', ?, randomblob(32))",
        (subject, f"session:{SAID}#1"),
    )
    (no,) = db.execute("SELECT coalesce(max(no), 0) + 1 FROM sessions").fetchone()
    many = last - first + 1
    db.execute(
        "INSERT INTO sessions VALUES (?, 'default', ?, ?, 1, ?, randomblob(16), ?, 1, 'web', "
        "'ada', ?, ?)",
        (no, SAID, subject, 2 * many, many, now, now),
    )
    db.execute(
        "UPDATE runs SET session = :session, thread = no - :first + 1, subject = :subject WHERE "
        "no BETWEEN :first AND :last",
        {**turns, "subject": subject},
    )
    of_turns = "FROM runs WHERE no BETWEEN :first AND :last"
    db.execute(
        f"INSERT INTO turns SELECT no, id, :no, no - :first + 1, 'over', 1 {of_turns}",
        {**turns, "no": no},
    )
    db.execute(
        f"INSERT INTO requests SELECT 'default', 'said' || no, hex(randomblob(16)), no {of_turns}",
        turns,
    )
    db.execute(
        "INSERT INTO threads SELECT :no, no - :first + 1, 'done', 'tell me about number ' || no, "
        f"id, NULL, NULL, NULL, created_at {of_turns}",
        {**turns, "no": no},
    )
    for kind, second in (("message", 0), ("reply", 1)):
        db.execute(
            "INSERT INTO transcript(session, seq, kind, at, thread, run, channel, message_id, "
            "edits, timestamp_ms, attached, reason, anchor, size,"
            " through, author, subject, digest, chain, body, decision)"
            " SELECT :no, 2 * (no - :first) + 1 + :second, :kind, created_at, no - :first + 1, "
            "id, 'web', :kind || no, '', 0, '', '', '', 200, 0, 'ada',"
            f" :subject, randomblob(16), randomblob(16), randomblob(200), NULL {of_turns}",
            {**turns, "no": no, "subject": subject, "kind": kind, "second": second},
        )


class Asking(threading.Thread):
    """Asks ``/health`` again and again over one connection, and keeps how long each answer took, in
    milliseconds.
    """

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._http = httpx2.Client(base_url=url, timeout=120, trust_env=False)
        self.took: list[float] = []
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            began = time.perf_counter()
            self._http.get("/health")
            self.took.append((time.perf_counter() - began) * 1000)
            time.sleep(ASKED_EVERY_S)


def while_asking(url: str, work: Callable[[httpx2.Client], Any]) -> dict[str, float]:
    """``/health`` while the work goes on."""
    asking = Asking(url)
    with httpx2.Client(base_url=url, timeout=600, trust_env=False) as http:
        asking.start()
        time.sleep(0.1)
        began = time.perf_counter()
        work(http)
        took = time.perf_counter() - began
        time.sleep(0.1)
    asking.ended = True
    asking.join()
    ordered = sorted(asking.took)
    return {
        "work_s": round(took, 3),
        "asked": len(ordered),
        "p50_ms": round(ordered[len(ordered) // 2], 1),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 1),
        "max_ms": round(ordered[-1], 1),
    }


def swept(home: Path) -> Callable[[httpx2.Client], None]:
    """Wait until the server has written that it swept, or for four seconds where there is nothing
    to sweep.
    """
    at = (home / "log").stat().st_size

    def waiting(_: httpx2.Client) -> None:
        end, quiet = time.monotonic() + 1200, time.monotonic() + 4
        while time.monotonic() < end:
            said = (home / "log").read_bytes()[at:]
            if b"swept " in said or (time.monotonic() > quiet and not _unswept(home)):
                return
            time.sleep(0.05)
        raise SystemExit("the sweep did not end")

    return waiting


def _unswept(home: Path) -> int:
    with sqlite3.connect(f"file:{home / 'ordain.db'}?mode=ro", uri=True) as db:
        before = time.time_ns() // 1000 - 31 * DAY_US
        sql = "SELECT no FROM runs WHERE ended_at < ? ORDER BY ended_at DESC LIMIT 1"
        last = db.execute(sql, (before,)).fetchone()
        opening = read_opening(asking(db), last[0]) if last else None
    db.close()
    return int(opening is not None and opening.body is not None)


def asked(address: str, **query: Any) -> Callable[[httpx2.Client], None]:
    def ask(http: httpx2.Client) -> None:
        http.get(address, params=query).raise_for_status()

    return ask


def measured(home: Path, script: Path) -> dict[str, Any]:
    """Every kind of housekeeping, one after the other."""
    found: dict[str, Any] = {}
    url = ""

    def show(name: str, work: Callable[[httpx2.Client], Any]) -> None:
        found[name] = while_asking(url, work)
        print(f"{name:34} {json.dumps(found[name])}", flush=True)

    def erase(http: httpx2.Client) -> None:
        answer = http.post(f"/runs/{found_run}/erase", json={"why": "bench"})
        answer.raise_for_status()

    with Served(home, script) as served:
        url, found["start_s"] = served.url, round(served.start_s, 2)
        show("idle", lambda _: time.sleep(3))
        show("metrics", lambda http: [asked("/metrics")(http) for _ in range(5)])
        show("runs?status=faulted", asked("/runs", status="faulted"))
        show("runs?status=failed&all", asked("/runs", status="failed", all=True))
        show("runs?status=completed", asked("/runs", status="completed"))
        show("models/cost 60 days by lane", asked("/models/cost", days=60, by="lane"))
        show("models/cost 60 days by session", asked("/models/cost", days=60, by="session"))
        show("ready", lambda http: [asked("/ready")(http) for _ in range(20)])
        found_run = (home / "large").read_text()
        show("erase one of 20,000 runs", erase)
        show(
            "erase a session of 20,000 turns",
            lambda http: http.post(
                f"/sessions/{SAID}/erase", json={"why": "bench"}
            ).raise_for_status(),
        )
    (home / "policy.toml").write_text(RETENTION)
    for name in ("sweep much", "sweep nothing"):
        with Served(home, script) as served:
            url, found[f"{name}: start_s"] = served.url, served.start_s
            show(name, swept(home))
            if name == "sweep nothing":
                show("metrics after", lambda http: [asked("/metrics")(http) for _ in range(5)])
    return found


def main() -> None:
    """Make the store, or take one that was made, and measure on a copy."""
    parser = argparse.ArgumentParser(prog="python -m bench.housekeeping", description=__doc__)
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument(
        "--store", type=Path, help="keep the store here, and take it from here where it is there"
    )
    parser.add_argument("--made", action="store_true", help="only make the store")
    given = parser.parse_args()
    base = Path(
        tempfile.mkdtemp(prefix="housekeeping-", dir=given.store.parent if given.store else None)
    )
    tune_collector()  # else this process looks through its own heap while it asks
    try:
        made = given.store or base / "made"
        if not (made / "ordain.db").exists():
            made.mkdir(parents=True, exist_ok=True)
            (made / "script.json").write_text(json.dumps(SCRIPT))
            asyncio.run(driven(made, made / "script.json"))
            began = time.perf_counter()
            counts = copied(made, given.runs, given.records)
            (made / "large").write_text(f"copy{counts['large']:012d}")
            print(
                f"made {counts} in {time.perf_counter() - began:.1f} s, "
                f"{(made / 'ordain.db').stat().st_size / 1e6:.0f} MB",
                flush=True,
            )
        if not given.made:
            home = base / "home"
            shutil.copytree(made, home)
            figures = measured(home, home / "script.json")
            print(json.dumps({**figures, "load": os.getloadavg()[0]}))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
