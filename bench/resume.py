"""A thousand runs that a killed process left in the middle, and a new process that takes them up.

``python -m bench.resume begin HOME RUNS``: opens the runs; each makes two model calls and one tool
call and then hangs in its second tool call. Says so when all of them hang, and waits to be killed.
``python -m bench.resume again HOME RUNS``: an ordinary start on what the first one left. The
interrupted call is a read, so it is made again; the moment of each run's first one is taken.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import work
from bench.systems.ordain_turn import REQUEST, settings
from ordain import Ordain, VerbContext, verb
from ordain.contracts.planner import PlannerRequest
from ordain.journal.records import Status


async def _begin(home: Path, runs: int) -> None:
    hanging = 0
    all_hang = asyncio.Event()

    @verb(effect="read", name=work.TOOL_NAME, description=work.TOOL_DESCRIPTION)
    async def look_up(record: str) -> str:
        """Look up one record of the warehouse by its id.

        Args:
            record: The record's id.
        """
        nonlocal hanging
        if record == work.ASKED[1]:
            hanging += 1
            if hanging == runs:
                all_hang.set()
            await asyncio.Event().wait()
        return work.looked_up(record)

    async with Ordain(settings(home, None, running=runs), verbs=(look_up,)) as ordain:
        request = PlannerRequest.model_validate(REQUEST)
        for _ in range(runs):
            await ordain.runtime.accept(request, "local:bench")
        await all_hang.wait()
        print("hanging", flush=True)
        await asyncio.Event().wait()


async def _again(home: Path, runs: int) -> None:
    first: dict[str, float] = {}

    @verb(effect="read", name=work.TOOL_NAME, description=work.TOOL_DESCRIPTION)
    async def look_up(record: str, context: VerbContext) -> str:
        """Look up one record of the warehouse by its id.

        Args:
            record: The record's id.
        """
        if record == work.ASKED[1]:
            first.setdefault(context.key, time.monotonic())
        return work.looked_up(record)

    async with Ordain(settings(home, None, running=runs), verbs=(look_up,)) as ordain:
        while (await ordain.runtime.search.counts()).get(Status.COMPLETED, 0) < runs:  # noqa: ASYNC110 - runs of another process end unheard here
            await asyncio.sleep(0.02)
        ended = time.monotonic()
    if len(first) != runs:
        raise AssertionError(f"{len(first)} of {runs} runs made their interrupted call again")
    print(
        json.dumps({"first": min(first.values()), "last": max(first.values()), "ended": ended}),
        flush=True,
    )


def measured(home: Path, runs: int) -> dict[str, Any]:
    """Interrupt and resume ``runs`` runs; seconds from the start of the second process."""
    command = [sys.executable, "-m", "bench.resume"]
    with subprocess.Popen(
        [*command, "begin", str(home), str(runs)], stdout=subprocess.PIPE, text=True
    ) as begun:
        assert begun.stdout is not None
        if begun.stdout.readline().strip() != "hanging":
            raise RuntimeError("the process to be killed did not come so far")
        os.kill(begun.pid, signal.SIGKILL)
    started = time.monotonic()
    said = subprocess.run(
        [*command, "again", str(home), str(runs)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return {name: moment - started for name, moment in json.loads(said).items()}


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run((_begin if sys.argv[1] == "begin" else _again)(Path(sys.argv[2]), int(sys.argv[3])))
