"""``python -m bench.council``: CPU per proposal of a round with five seats, beside a single plan's
in the same process; printed, and kept by hand in ``bench.report.TOGETHER``.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.page import table
from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.council import DeliberationRequest
from ordain.contracts.planner import PlannerRequest
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings

COUNT, REPEATS, AT_ONCE = 100, 5, 16
SEATS = 5
CALL = {
    "thought": "count",
    "finish": False,
    "action": {"tool_id": "math.evaluate", "input": {"expression": "2 + 2"}},
    "final_answer": None,
}
DONE = {
    "thought": "done",
    "finish": True,
    "action": None,
    "final_answer": {"content": "4", "structured": {}},
}
STEPS = [CALL, CALL, CALL, DONE]
SCRIPT = make_script(
    planner=STEPS,
    seat={"*": [{"text": "I think so, for the reasons that the others give."}]},
    chair=[{"proposed_answer": "Yes.", "scores": {"risk": 0.2}}],
    auditor=[{"action": "accept"}],
)
PLAN = PlannerRequest.model_validate(
    {
        "goal": {"type": "analysis", "description": "Work it out."},
        "toolset": [{"tool_id": "math.evaluate"}],
    }
)
COUNCIL = DeliberationRequest(prompt="Should the library open on Sundays?", universe="relational")
PROPOSALS = {"plan": len(STEPS), "council": SEATS + 2}


async def _cpu_ms(once: Callable[[], Awaitable[None]], proposals: int) -> float:
    """CPU per proposal in milliseconds, ``AT_ONCE`` runs beside each other."""
    began = time.process_time()
    for _ in range(COUNT // AT_ONCE):
        await asyncio.gather(*(once() for _ in range(AT_ONCE)))
    return (time.process_time() - began) * 1000 / (COUNT // AT_ONCE * AT_ONCE * proposals)


async def _measured(home: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"plan": [], "council": []}
    async with Ordain(
        load_settings({}, home), extras=Extras(models={"default": ScriptedModel(SCRIPT)})
    ) as ordain:

        async def once(request: PlannerRequest | DeliberationRequest) -> None:
            view = await ordain.runtime.wait(
                (await ordain.runtime.accept(request, "local:bench")).run
            )
            assert view.stored.reason == "ok", view.header

        for repeat in range(REPEATS + 1):
            for name, request in (("plan", PLAN), ("council", COUNCIL)):
                taken = await _cpu_ms(lambda request=request: once(request), PROPOSALS[name])
                if repeat:  # the first warms up
                    found[name].append(taken)
    return found


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as home:
        found = asyncio.run(_measured(Path(home)))
    rows = [
        [
            name,
            str(PROPOSALS[name]),
            f"{statistics.median(took):.2f}",
            f"{min(took):.2f}",
            f"{max(took):.2f}",
        ]
        for name, took in found.items()
    ]
    print(table(["run", "proposals", "CPU per proposal, ms", "least", "most"], rows))
    ratios = [council / plan for plan, council in zip(found["plan"], found["council"], strict=True)]
    print(
        f"council to plan: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
