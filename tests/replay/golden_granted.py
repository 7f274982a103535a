"""How the golden conversation over grants and other arguments is made: every way in which a grant
is used or is none, and every end of what was proposed anew.

``python -m tests.replay.golden_granted FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import VerbRequest
from ordain.ports.model import ModelRequest
from ordain.runtime.approvals import ApprovalView, ApproverWord, GrantWanted
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.grants import GrantOffer
from ordain.testing import call
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.lines import about, script_of
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House
from tests.shapes.workflows import Desk, write_templates


def _planned(request: ModelRequest) -> bool:
    """A plan that belongs to no message."""
    return "send it to tea" in str(request.inputs.get("goal", ""))


POLICY: dict[str, dict[str, Any]] = {
    "verbs": {"retry_wait_ms": 1},
    "approvals": {"expires_s": 3600},
}
SCRIPT = (
    script_of()
    .on("planner", call("send_out", text="tea"), index=0, when=about("send tea"))
    .on("planner", call("send_out", text="tea"), index=1, when=about("send tea twice"))
    .on("planner", call("send_out", text="tea"), index=0, when=_planned)
    .on("planner", call("pay_out", text="tea"), index=0, when=about("pay for tea"))
)
AGENT: dict[str, Any] = {"mode": "agent", "allowed_verbs": ["send_out", "pay_out"]}
BEN = "local:ben"
TEA, COFFEE, WATER = {"text": "tea"}, {"text": "coffee"}, {"text": "water"}


class Played:
    """The house, and what is granted, proposed and said in it."""

    def __init__(self, house: House) -> None:
        """Nothing is granted."""
        self.house = house
        self.desk, self.grants = house.ordain.runtime.approvals, house.ordain.runtime.grants

    async def give(self, *targets: str, **more: Any) -> str:
        """A grant for sending to these, to anybody where none is named; gives its id."""
        offer = {
            "principal": PRINCIPAL,
            "capabilities": ("send_out",),
            "ttl_s": 7200,
            "targets": targets or None,
            **more,
        }
        return (await self.grants.give(WORKSPACE, GrantOffer(**offer), BEN)).grant_id

    async def take_back(self) -> None:
        """Every grant that stands."""
        for grant in await self.grants.listed(WORKSPACE):
            await self.grants.revoke(WORKSPACE, grant.grant_id, BEN, "it was enough")

    async def open(self) -> Sequence[ApprovalView]:
        """What somebody is asked."""
        await self.house.quiet()
        return await self.desk.listed(WORKSPACE)

    async def asked(self, text: str, **more: Any) -> Acknowledged:
        """A message of which somebody is asked."""
        sent = await self.house.send(text, **(more or AGENT))
        assert len(await self.open()) == 1
        return sent

    async def decide(self, approve: bool | None, grant: GrantWanted | None = None) -> None:
        """Yes or no to what is open; None: nobody says anything until it is too late."""
        if approve is None:
            await self.house.pass_time(4000)
        else:
            (view,) = await self.open()
            word = ApproverWord(approve=approve, digest=view.row.digest, why="because", grant=grant)
            await self.desk.decide(WORKSPACE, view.row.id, word, BEN)
        await self.house.quiet()

    async def propose(self, *instead: dict[str, Any]) -> None:
        """Other arguments for what is open, one after the other."""
        for args in instead:
            (view,) = await self.open()
            await self.desk.resubmit(WORKSPACE, view.row.id, args, BEN)
        await self.house.quiet()


async def granted(played: Played) -> None:
    """Used in one turn and in several, used up, come with a yes; of other targets, of too few
    calls, taken back, over, and of what is approved each time.
    """
    house = played.house
    await played.give("tea", uses=2)
    await house.say("please send tea twice", **AGENT)
    last = await played.asked("please send tea")
    await played.decide(True, GrantWanted(ttl_s=3000, uses=1))
    await house.told(last)
    await house.say("please send tea", **AGENT)
    await played.give("coffee")
    other = await played.asked("please send tea")
    await played.decide(False)
    await house.told(other)
    await played.take_back()
    await played.give(constraints={"send_*": Constraint(max_calls=1)})
    second = await played.asked("please send tea twice")
    await played.decide(None)
    await house.told(second)
    await played.take_back()
    gone = await played.asked("please send tea")
    await played.decide(True)
    await house.told(gone)
    await played.give("tea", ttl_s=60)
    await house.pass_time(100)
    over = await played.asked("please send tea")
    await played.decide(True)
    await house.told(over)
    await played.give(capabilities=("*",))
    paid = await played.asked("please pay for tea")
    await played.decide(True)
    await house.told(paid)
    # no grant says yes to a workflow
    whole = await played.asked("tell them", workflow={"template": "announce", "args": TEA})
    await played.decide(True)
    await house.told(whole)
    await played.take_back()


async def proposed_anew(played: Played) -> None:
    """Approved, denied, proposed once more, left to time, covered by a grant, called off; of a
    turn, and of what is approved each time.
    """
    house = played.house
    for instead, approve in (
        ((COFFEE,), True),
        ((COFFEE, WATER), False),
        ((COFFEE,), None),
        ((COFFEE, TEA), True),
    ):
        sent = await played.asked("please send tea")
        await played.propose(*instead)
        await played.decide(approve)
        await house.told(sent)
    paid = await played.asked("please pay for tea")
    await played.propose(COFFEE)
    await played.decide(True)
    await house.told(paid)
    await played.give("coffee", uses=1)
    covered = await played.asked("please send tea")
    await played.propose(COFFEE)
    await house.told(covered)
    stopped = await played.asked("please send tea")
    await played.propose(WATER)
    await house.say("stop", reply_to=stopped.message_id)
    await house.told(stopped)


async def outside(played: Played) -> None:
    """Runs of no session, which wait for people or do not: granted, denied, approved, proposed
    anew.
    """
    runtime = played.house.ordain.runtime
    plan = {
        "goal": {"type": "analysis", "description": "send it to tea"},
        "toolset": [{"tool_id": "send_out"}],
    }
    for waits in (False, True):
        await played.give("tea", uses=1, risk_level=RiskLevel.WRITE)
        for number in range(2):
            request = VerbRequest(verb_id="send_out", payload=TEA, caller="test")
            await runtime.accept(request, PRINCIPAL, waits=waits)
            if waits and number:
                await played.propose(COFFEE)
                await played.decide(True)
            await played.house.quiet()
    await played.give("water", uses=1)
    await runtime.accept(PlannerRequest.model_validate(plan), PRINCIPAL, waits=True)
    await played.open()
    await played.propose(WATER)
    await played.house.say("and a last word about everything")


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    write_templates(home)
    async with House(home, script=SCRIPT, policy=POLICY, verbs=Desk().verbs) as house:
        played = Played(house)
        for part in (granted, proposed_anew, outside):
            await part(played)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
