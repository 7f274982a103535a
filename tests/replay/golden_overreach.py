"""How the golden runs that reach for more than they have are made: verbs out of scope and too deep,
forged children, forged calls.

``python -m tests.replay.golden_overreach FOLDER`` plays them and writes ``denied.json`` and
``forged.json``; done once. Their flows are the tests' own (``tests.shapes.forgers`` says why), and
whoever replays them adds those to what is shipped.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.flows.kind import Kind, Taken
from ordain.journal.records import Status, raw
from ordain.runtime.intake import Intake
from tests.replay.golden_file import GoldenTalk, write
from tests.replay.golden_told import taken
from tests.shapes.flows import ERRANDS
from tests.shapes.forgers import DELVER, FACTS, FORGER, FORGING_KINDS, SUM, Delve, Forged, Forgery
from tests.shapes.talk import House

DEEPEST = 2
POLICY = {"verbs": {"max_depth": DEEPEST}}
DELVES = {
    "math.evaluate: authorize.out_of_scope": Delve(0, SUM.verb, SUM.args),
    "extract_facts: authorize.out_of_scope": Delve(0, FACTS.verb, FACTS.args, (SUM.verb,)),
    "math.evaluate: returned": Delve(1, SUM.verb, SUM.args, (SUM.verb,)),
    "extract_facts: authorize.depth": Delve(1, FACTS.verb, FACTS.args, (FACTS.verb,)),
    "math.evaluate: authorize.depth": Delve(DEEPEST, SUM.verb, SUM.args, (SUM.verb,)),
    "math.evaluate: authorize.out_of_scope, below": Delve(1, SUM.verb, SUM.args),
}
"""Whither to delve, by what becomes of it."""


async def ran(
    house: House, kind: Kind[Any, Any], given: object, *, keep_thoughts: bool = True
) -> str:
    """Have a run of this kind accepted and wait for its end or stop; gives the run."""
    services = house.ordain.runtime.services
    run = services.clock.new_run_id()
    taken_as = Taken(input=raw(given), request_id=None, digest="", keep_thoughts=keep_thoughts)
    await Intake(services).open(kind, taken_as, run, "test", DEFAULT_WORKSPACE)
    await asyncio.wait_for(house.ordain.runtime.wait(run), 20)
    return run


async def denied() -> GoldenTalk:
    """Calls that rule ``authorize`` denies: the run goes on and tells of it."""
    async with House(None, policy=POLICY, kinds=FORGING_KINDS) as house:
        for becomes, delve in DELVES.items():
            run = await ran(house, DELVER, delve)
            assert house.status(run) is Status.COMPLETED
            assert (
                becomes.partition(",")[0]
                in bytes((await house.ordain.runtime.view(run)).result).decode()
            )
        return taken(house)


async def forged() -> GoldenTalk:
    """Forgeries: the run stops as ``faulted`` and nothing goes live. The last three, one a child,
    are called off afterwards.
    """
    async with House(None, policy=POLICY, kinds=(*FORGING_KINDS, ERRANDS)) as house:
        for what in Forgery:
            below = int(what is Forgery.SCOPE)
            run = await ran(
                house, FORGER, Forged(what, below), keep_thoughts=what is not Forgery.THOUGHTS
            )
            assert house.status(run) is (Status.WAITING if below else Status.FAULTED), what
        await called_off(house, Forged(Forgery.TOKENS))
        await called_off(house, Forged(Forgery.OTHER_CALL))
        await called_off(house, Forged(Forgery.SCOPE, 1))
        return taken(house)


async def called_off(house: House, given: Forged) -> None:
    """Fault, and be cancelled. In the build that made the kept files a forging child stopped once
    more, as ``diverged``, and took a second word.
    """
    run = await ran(house, FORGER, given)
    await house.ordain.runtime.operators.cancel(run, by="ada", why="it cheats")
    await house.until("it is called off", lambda: house.status(run) is Status.CANCELLED)


def main() -> None:
    """Write both into the named folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "denied.json", asyncio.run(denied()))
    write(folder / "forged.json", asyncio.run(forged()))


if __name__ == "__main__":
    main()
