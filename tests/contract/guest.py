"""Another process on the same data folder: it opens the store as a guest, posts an answer to a run,
opens another, and goes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run


async def main(folder: str) -> None:
    store = SqliteStore(Path(folder), StoreOptions(threaded=False))
    posted = store.submit(Run("known").post(key="from outside"))
    opened = store.submit(Run("guest").open())
    outcomes = await posted, await opened
    sys.stdout.write(" ".join(outcome.refused or "done" for outcome in outcomes))
    store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
