"""A process is killed in the midst of a run; the next one goes on. What is on record is not
repeated.

Prints:
    killed: -9
    ok: Both were looked up.
    calls: first 1, second 2
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.testing import ScriptedModels, call, finish

LOOK = [call("look.up", key=key) for key in ("first", "second")]
MODEL = ScriptedModels(planner=[*LOOK, finish("Both were looked up.")])
REQUEST = {
    "request_id": "once",  # the same id with the same body is the same run
    "goal": {"type": "analysis", "description": "Look both up."},
    "toolset": [{"tool_id": "look.up"}],
}


async def work(home: Path) -> None:
    made = home / "calls"

    @verb(name="look.up", effect="read")
    def look_up(key: str) -> str:
        """Look something up; the process dies at the second, once."""
        with made.open("a") as calls:
            calls.write(f"{key}\n")
        if key == "second" and made.read_text().count(key) == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{key} found"

    extras = Extras(verbs=[look_up], models={"default": MODEL})
    async with Ordain(home=home, extras=extras) as ordain:
        result = await ordain.plan(REQUEST)
        print(f"{result.verdict}: {result.content}")
        calls = made.read_text()
        print(f"calls: first {calls.count('first')}, second {calls.count('second')}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(work(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            died = subprocess.run([sys.executable, __file__, folder], check=False)  # noqa: S603 - itself
            print("killed:", died.returncode, flush=True)
            asyncio.run(work(Path(folder)))
