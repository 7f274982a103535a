"""``python -m bench.verbs``: CPU per verb call by what stands behind the verb, above the bare
function; printed and not written.

Every call is a durable run of its own, through intake, authorisation, journal and header, over a
file with its real fsync.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench.page import table
from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings

CALLS, ROUNDS = 150, 7
FACTS = {
    "facts": [
        {"text": "The lamp is red.", "subject": "The lamp", "predicate": "is", "object": "red"}
    ],
    "method": "analysed",
}


@verb(name="bench.awaited", effect="read")
async def awaited(text: str) -> dict[str, int]:
    """Count the words."""
    return {"words": len(text.split())}


@verb(name="bench.threaded", effect="read")
def threaded(text: str) -> dict[str, int]:
    """Count the words."""
    return {"words": len(text.split())}


WAYS = {
    "async function": ("bench.awaited", {"text": "a b c"}),
    "plain function, in a thread": ("bench.threaded", {"text": "a b c"}),
    "math.evaluate": ("math.evaluate", {"expression": "1200 * (1 - 0.075)"}),
    "prompt plan (extract_facts), scripted model": ("extract_facts", {"text": "The lamp is red."}),
}


async def _timed(call: Callable[[], Awaitable[object]], calls: int, at_once: int) -> float:
    left = iter(range(calls))

    async def work_on() -> None:
        for _ in left:
            await call()

    gc.collect()
    began = time.process_time()
    await asyncio.gather(*(work_on() for _ in range(at_once)))
    return (time.process_time() - began) * 1000 / calls


async def measured(folder: Path) -> list[tuple[str, float, float]]:
    """CPU milliseconds per call of each way, one at a time and 16 at once: medians of the
    rounds.
    """
    settings = load_settings({}, folder).model_copy(
        update={
            "profiles": {
                "default": ModelProfile(provider="scripted", model="scripted", script="in memory")
            }
        }
    )
    model = ScriptedModel(make_script(verbs={"extract_facts": [FACTS]}))
    async with Ordain(
        settings, extras=Extras(models={"default": model}, verbs=(awaited, threaded))
    ) as ordain:
        found: dict[tuple[str, int], list[float]] = {
            (way, at_once): [] for way in WAYS for at_once in (1, 16)
        }

        def call_of(way: str) -> Callable[[], Awaitable[object]]:
            name, args = WAYS[way]

            async def call() -> object:
                reply = (await ordain.execute(name, args)).wire
                assert reply["ok"], reply
                return reply

            return call

        for number in range(ROUNDS + 1):
            for (way, at_once), figures in found.items():
                took = await _timed(call_of(way), CALLS, at_once)
                if number:  # the first round warms
                    figures.append(took)
    return [(way, median(found[way, 1]), median(found[way, 16])) for way in WAYS]


def main() -> None:
    """Measure in a folder of its own and print."""
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measured(Path(folder)))
    print(
        table(
            ["verb", "CPU ms, one at a time", "16 at once"],
            [[way, f"{one:.2f}", f"{many:.2f}"] for way, one, many in rows],
        )
    )


if __name__ == "__main__":
    main()
