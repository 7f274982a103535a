"""A run is run again from its journal, without model or verb: does everything come out as recorded?

Prints:
    as it was: equal, 12 decisions made again
    a record is missing: journal_corrupt
"""

import asyncio

from msgspec.structs import replace

from ordain import Ordain
from ordain.app import Extras
from ordain.flows.shipped import shipped_kinds
from ordain.runtime.replay import replay

REQUEST = {
    "goal": {"type": "analysis", "description": "What is 6 * 7?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}


async def main() -> None:
    """Run, replay, and replay what somebody took a record from."""
    async with Ordain(extras=Extras(memory=True)) as ordain:
        result = await ordain.plan(REQUEST)
        stored = (await ordain.runtime.view(result.run_id)).stored
        report = replay(stored, ordain.catalog, shipped_kinds())
        print(f"as it was: {report.verdict}, {report.decisions} decisions made again")
        cut = replace(stored, records=stored.records[:-1])
        report = replay(cut, ordain.catalog, shipped_kinds())
        print("a record is missing:", report.verdict)


if __name__ == "__main__":
    asyncio.run(main())
