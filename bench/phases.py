"""Where a turn's CPU goes, by phase. ``python -m bench.phases HOME CONCURRENCY TURNS [SYSTEM]``.

The functions that are a phase's whole work are wrapped in this process only, so the product carries
no clock for it; time in a phase within another belongs to the inner one. Clocks cost a little too:
the shares are right, their sum is a few percent above an unwatched turn's.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import threading
import time
from collections.abc import Callable, Generator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from types import coroutine
from typing import Any

from bench.worker import CHATS, MODULES
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.schema import Schema
from ordain.flows.steps import trace
from ordain.flows.supervisor import prompt as supervisor
from ordain.flows.verb_plan import prompt as verb_plan
from ordain.journal.codec import Scribe
from ordain.runtime import flow_end, gateway, headers
from ordain.runtime.awaited_answers import AwaitedAnswers
from ordain.runtime.consequences import Consequences
from ordain.runtime.execution import Execution
from ordain.store import shared_reads
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore
from ordain.store.writer import Writer

PHASES: dict[str, tuple[tuple[Any, str], ...]] = {
    "render": ((gateway, "prepare"),),
    "validate": (
        *((Schema, "accepts"), (Schema, "errors")),
        *((trace, "parse_object"), (supervisor, "parse_object"), (verb_plan, "read_text")),
        *((PlannerRequest, "model_validate"), (PlannerRequest, "model_validate_json")),
    ),
    "decide": ((Execution, "_decide"),),
    "encode": ((Scribe, "write"),),
    "write": ((Writer, "_commit"),),
    "load": ((SqliteStore, "load"), (SqliteStore, "mail")),
    "attach": ((shared_reads, "read_state"), (Consequences, "decide"), (Consequences, "of")),
    "transcript": (
        (SqliteSessions, "entries"),
        (SqliteSessions, "uncovered"),
        (AwaitedAnswers, "_read"),
    ),
    "header": ((headers, "Fold"), (flow_end, "render_header")),
}


class _Clock:
    """CPU by phase, exclusive of phases within; ``wall`` is of ``write`` alone, which also
    waits.
    """

    def __init__(self) -> None:
        self.cpu: dict[str, int] = dict.fromkeys(PHASES, 0)
        self.calls: dict[str, int] = dict.fromkeys(PHASES, 0)
        self.write_wall = 0
        self._local = threading.local()

    def watch(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function under the clock; one that awaits is timed from each wait to the next, so
        that what others do meanwhile is not its time.
        """

        @wraps(function, updated=())
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.calls[phase] += 1
            return self._step(phase, function, *args, **kwargs)

        @coroutine
        def stepped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            self.calls[phase] += 1
            waiting = function(*args, **kwargs)
            go, given = waiting.send, None
            while True:
                try:
                    awaited = self._step(phase, go, given)
                except StopIteration as ended:
                    return ended.value
                try:
                    go, given = waiting.send, (yield awaited)
                except BaseException as error:  # whatever is thrown at it is its own
                    go, given = waiting.throw, error

        return wraps(function, updated=())(stepped) if iscoroutinefunction(function) else watched

    def _step(self, phase: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        stack: list[int] = self._local.__dict__.setdefault("stack", [])
        stack.append(0)
        wall = time.perf_counter_ns() if phase == "write" else 0
        began = time.thread_time_ns()
        try:
            return function(*args, **kwargs)
        finally:
            took = time.thread_time_ns() - began
            inner = stack.pop()
            if stack:
                stack[-1] += took
            self.cpu[phase] += took - inner
            if phase == "write":
                self.write_wall += time.perf_counter_ns() - wall


def _watched(clock: _Clock) -> None:
    for phase, places in PHASES.items():
        for owner, name in places:
            found = getattr(owner, name)
            function = clock.watch(phase, found)
            setattr(
                owner,
                name,
                staticmethod(function) if getattr(found, "__self__", None) is owner else function,
            )


async def _main(home: Path, concurrency: int, turns: int, system: str) -> dict[str, Any]:
    clock = _Clock()
    _watched(clock)
    async with importlib.import_module({**MODULES, **CHATS}[system]).opened(home, None) as ready:
        left = iter(range(turns // 4))

        async def work_on() -> None:
            for _ in left:
                await ready.turn()

        await asyncio.gather(*(work_on() for _ in range(concurrency)))  # warm
        left = iter(range(turns))
        counted = ready.counted()
        before, calls, wall, cpu = (
            dict(clock.cpu),
            dict(clock.calls),
            clock.write_wall,
            time.process_time_ns(),
        )
        await asyncio.gather(*(work_on() for _ in range(concurrency)))
        total = time.process_time_ns() - cpu
        wall = clock.write_wall - wall
        commits = ready.counted()["commits"] - counted["commits"]
    phases = {
        phase: {
            "us": (clock.cpu[phase] - before[phase]) / turns / 1000,
            "calls": (clock.calls[phase] - calls[phase]) / turns,
        }
        for phase in PHASES
    }
    phases["everything else"] = {
        "us": total / turns / 1000 - sum(row["us"] for row in phases.values()),
        "calls": 0,
    }
    return {
        "concurrency": concurrency,
        "us_per_turn": total / turns / 1000,
        "write_wall_us": wall / turns / 1000,
        "commits_per_turn": commits / turns,
        "phases": {
            name: row for name, row in phases.items() if row["calls"] or name == "everything else"
        },
    }


if __name__ == "__main__":
    print(
        json.dumps(
            asyncio.run(
                _main(
                    Path(sys.argv[1]),
                    int(sys.argv[2]),
                    int(sys.argv[3]),
                    (sys.argv[4:] or ["ordain"])[0],
                )
            )
        )
    )
