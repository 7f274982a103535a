"""Replay of recorded turns, as ``ordain replay`` does it: every fact, rule, prompt and header anew.
``python -m bench.replays HOME RUNS``.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ordain.app import shipped_kinds
from ordain.cli.policy_findings import RunFate
from ordain.cli.policy_trial import run_judge
from ordain.cli.processes import cores, each
from ordain.cli.replay import replaying
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.journal.records import SETTLED, RecordKind
from ordain.runtime.replay import replay
from ordain.runtime.services import Catalogs
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore, StoreOptions

T = TypeVar("T")
ROUNDS = 5
SHARED = 8
"""How often each is replayed where processes share them: what a process costs to begin is little
beside thousands of runs.
"""


def _one_round(store: SqliteStore, catalogs: Catalogs, runs: list[str]) -> dict[str, float]:
    flows, decisions, effects, records, reading = shipped_kinds(), 0, 0, 0, 0.0
    pinned = asyncio.run(
        catalogs.pinned(next(run.catalog for run in map(store.stored, runs) if run is not None))
    )
    cpu = time.process_time()
    began = time.perf_counter()
    for run in runs:
        at = time.perf_counter()
        stored = store.stored(run)
        reading += time.perf_counter() - at
        assert stored is not None
        found = replay(stored, pinned, flows)
        if not found.equal:
            raise AssertionError(f"run {run}: {found.verdict} {found.differences}")
        decisions += found.decisions
        records += found.records
        effects += sum(record.kind is RecordKind.INTENT for record in stored.records)
    wall, count = time.perf_counter() - began, len(runs)
    return {
        "turns_per_s": count / wall,
        "cpu_ms_per_turn": (time.process_time() - cpu) / count * 1000,
        "reading_ms_per_turn": reading / count * 1000,
        "decisions_per_turn": decisions / count,
        "decisions_per_s": decisions / wall,
        "steps_per_turn": effects / count,
        "records_per_turn": records / count,
    }


def _shared(home: Path, runs: list[str]) -> dict[str, float]:
    """As ``ordain replay --all`` shares them, from beginning its processes to the last report."""
    began = time.perf_counter()
    if not all(report.equal for report in each(partial(replaying, home), runs, cores())):
        raise AssertionError("a run does not replay equal")
    return {"jobs": cores(), "turns_per_s": len(runs) / (time.perf_counter() - began)}


def _judged(home: Path, runs: list[str]) -> dict[str, float]:
    """As ``ordain replay --policy FILE --fail-on …`` judges them by a policy under which nothing
    changes: all of each is compared.
    """
    pinned, began = Policy(version=1), time.perf_counter()
    found = list(each(partial(run_judge, home, pinned), runs, cores()))
    if not all(one.fate is RunFate.UNCHANGED for one in found):
        raise AssertionError("a run is judged otherwise by the policy that it ran under")
    return {"jobs": cores(), "turns_per_s": len(runs) / (time.perf_counter() - began)}


async def _awaited(asked: Awaitable[T]) -> T:
    return await asked


def _main(home: Path, count: int) -> dict[str, Any]:
    store = SqliteStore(home, StoreOptions())
    asked = SqliteSearch(store).runs(
        statuses=sorted(SETTLED), roots_only=False, limit=count, before=None, workspace=None
    )
    settled = asyncio.run(_awaited(asked))
    runs = [row.id for row in reversed(settled)]
    last = store.stored(runs[-1])
    encoded = None if last is None else store.kept_catalog(last.catalog)
    assert encoded is not None
    catalogs = Catalogs(Catalog.from_bytes(encoded), store.catalog)
    _one_round(store, catalogs, runs[: count // 5])
    rounds = [_one_round(store, catalogs, runs) for _ in range(ROUNDS)]
    store.close()
    shared = [_shared(home, runs * SHARED) for _ in range(ROUNDS)]
    judged = [_judged(home, runs * SHARED) for _ in range(ROUNDS)]
    return {
        "runs": len(runs),
        "rounds": rounds,
        "shared": shared,
        "judged": judged,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]), int(sys.argv[2]))))
