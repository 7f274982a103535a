"""Every way to a verb passes the door: driven with a verb that is denied, none of them calls it;
driven with its allowed twin, each does.

Where people can be asked, a yes lets it go out, and what allowed it is the door's own decision on
that yes. So each entry is noticed that passes by the door, and one where something else asks first
as well.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import ArgumentRole, VerbRequest
from ordain.effects.calls import Call
from ordain.effects.children import Join, Spawn
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.workflow_run import WORKFLOW_KIND, WorkflowInput
from ordain.journal.records import SETTLED, Status, raw
from ordain.runtime.approvals import ApproverWord
from ordain.testing import ModelScript, call, finish, kind_of, routes
from ordain.verbs.functions import FunctionVerb, verb
from tests.shapes.lines import about, script_of, steps
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House
from tests.shapes.workflows import step, template, write_templates

SPY, TEMPLATE = "spy", "calls_it"
TEXT = {"text": "x"}


async def _makes_it(context: FlowContext, _: Any) -> str:
    return (await act(context, Call(verb=SPY, args=TEXT))).denied


async def _carries_out_a_workflow(context: FlowContext, _: Any) -> str:
    """Nobody proposes the steps to anybody: a run that may ask no people asks the door alone."""
    given = WorkflowInput(template=TEMPLATE, args=TEXT)
    spawn: Spawn[Any] = Spawn(
        flow=WORKFLOW_KIND,
        input=raw(given),
        scope=(SPY,),
        deadline=context.hard,
        allowance=context.share(1),
        keep_thoughts=True,
    )
    (ended,) = await context.fx.children((spawn,), Join(deadline=context.hard))
    return str(ended.__struct_config__.tag)


OWN = kind_of(_makes_it, verbs=(SPY,))
STEPS = replace(kind_of(_carries_out_a_workflow, verbs=(SPY,)), name="steps")


def spying(effect: str, seen: list[str]) -> FunctionVerb[..., Any]:
    """A verb of this effect that tells when it is called."""

    @verb(name=SPY, effect=effect, arguments={"text": ArgumentRole.RECIPIENT}, idempotent=True)  # type: ignore[arg-type]
    def spy(text: str) -> str:
        """Tell that it was called."""
        seen.append(text)
        return text

    return spy


async def _plan(house: House) -> None:
    goal = {"type": "analysis", "description": "call it"}
    asked = PlannerRequest.model_validate({"goal": goal, "toolset": [{"tool_id": SPY}]})
    await house.ordain.runtime.accept(asked, PRINCIPAL)


async def _waiting_plan(house: House) -> None:
    goal = {"type": "analysis", "description": "call it"}
    asked = PlannerRequest.model_validate({"goal": goal, "toolset": [{"tool_id": SPY}]})
    await house.ordain.runtime.accept(asked, PRINCIPAL, waits=True)


async def _verb(house: House) -> None:
    await house.ordain.runtime.accept(
        VerbRequest(verb_id=SPY, payload=TEXT, caller="test"), PRINCIPAL
    )


async def _waiting_verb(house: House) -> None:
    await house.ordain.runtime.accept(
        VerbRequest(verb_id=SPY, payload=TEXT, caller="test"), PRINCIPAL, waits=True
    )


async def _own_kind(house: House) -> None:
    await house.ordain.runtime.open(OWN.name, None, PRINCIPAL)  # type: ignore[arg-type]


async def _steps_alone(house: House) -> None:
    await house.ordain.runtime.open(STEPS.name, None, PRINCIPAL)  # type: ignore[arg-type]


async def _agent(house: House) -> None:
    await house.send("call it", mode="agent", allowed_verbs=[SPY])


async def _supervised(house: House) -> None:
    await house.send("call it", supervised=True, allowed_verbs=[SPY])


async def _workflow(house: House) -> None:
    await house.send("call it", workflow={"template": TEMPLATE, "args": TEXT})


async def _named(house: House) -> None:
    await house.send("x", verb=SPY)


async def _delegated(house: House) -> None:
    await house.send("call it", delegates=["worker"], allowed_verbs=[SPY, "agent.worker"])


async def _planned_for(house: House) -> None:
    await house.send("call it", verb="roster_runtime", allowed_verbs=[SPY, "agent.worker"])


async def _subgoal(house: House) -> None:
    asked = {
        "goal": {"type": "analysis", "description": "have it called"},
        "toolset": [{"tool_id": SPY}, {"tool_id": "plan.subgoal"}],
    }
    await house.ordain.runtime.accept(PlannerRequest.model_validate(asked), PRINCIPAL, waits=True)


async def _chained(house: House) -> None:
    await house.send("longer work", mode="agent", allowed_verbs=[SPY])


BELOW = call("plan.subgoal", goal="Call it.", tools=[SPY])
PLANNED = {
    "steps": [{"agent": "worker", "reason": "it calls", "confidence": 0.9}],
    "metadata": {},
    "confidence": 0.9,
}
CALLING = steps(call(SPY, **TEXT), finish("done"))
SCRIPT = script_of(
    ModelScript()
    .on("router", routes("agent_chain", confidence=1.0), when=about("longer work"))
    .on("router", routes("react_lite"))
    .on("roster", PLANNED)
    .on("synthesis", {"content": "It was called."})
    .on("planner", BELOW, index=0, when=about("have it called"))
    .on("planner", finish("done"), when=about("have it called")),
    CALLING,
)
POLICY: dict[str, Any] = {
    "approvals": {"delegation": "never"},
    "router": {"ask": "local"},
    "profile": {"allowed_handoff_targets": ["worker", "general_agent"]},
}
CARD = {
    "name": "worker",
    "description": "It calls.",
    "domain": "calling",
    "tool_preference": [SPY],
    "allow": [SPY],
}

ENTRIES: Mapping[str, Callable[[House], Awaitable[None]]] = {
    "plan": _plan,
    "plan that waits": _waiting_plan,
    "verb": _verb,
    "verb that waits": _waiting_verb,
    "a kind of one's own": _own_kind,
    "steps that nobody was asked about": _steps_alone,
    "agent": _agent,
    "supervised": _supervised,
    "workflow": _workflow,
    "verb of a message": _named,
    "delegation": _delegated,
    "plan of specialists": _planned_for,
    "subgoal": _subgoal,
    "chain": _chained,
}
ASKING = tuple(
    entry
    for entry in ENTRIES
    if entry not in {"plan", "verb", "a kind of one's own", "steps that nobody was asked about"}
)
"""Where people can be asked."""
LOOKED_AT = ("delegation", "plan of specialists")
"""Where somebody looks at the handoff itself first: what it is for pays."""


class Driven(Struct, frozen=True, kw_only=True):
    """What was called, of how many people were asked, and the reasons for which the door let a call
    of the spy through.
    """

    called: list[str]
    asked: int
    allowed: list[str]


async def _driven(home: Path, entry: str, effect: str, *, approve: bool = False) -> Driven:
    """Come in by an entry, and say yes or no to whatever is asked."""
    seen: list[str] = []
    write_templates(home, {TEMPLATE: template(TEMPLATE, [step(SPY)])})
    (home / "cards").mkdir(exist_ok=True)
    (home / "cards" / "worker.yaml").write_text(json.dumps(CARD))
    async with House(
        home, script=SCRIPT, policy=POLICY, verbs=[spying(effect, seen)], kinds=[OWN, STEPS]
    ) as house:
        await ENTRIES[entry](house)
        await house.quiet()
        asked = 0
        while views := await house.ordain.runtime.approvals.listed(WORKSPACE):
            asked += len(views)
            for view in views:
                assert seen == []
                word = ApproverWord(approve=approve, digest=view.row.digest)
                await house.ordain.runtime.approvals.decide(
                    WORKSPACE, view.row.id, word, "local:ben"
                )
            await house.quiet()
        ended = {Status(status) for (status,) in house.query("SELECT status FROM runs")}
        assert ended <= SETTLED, ended
        made = [
            json.loads(body)
            for (body,) in house.query(
                "SELECT CAST(body AS TEXT) FROM journal WHERE kind = 'decision' AND name = "
                "'authorize'"
            )
        ]
    of_spy = [
        one for one in made if one["facts"]["verb"] == SPY and one["outcome"]["type"] == "allow"
    ]
    return Driven(called=seen, asked=asked, allowed=[one["reason"] for one in of_spy])


@pytest.mark.parametrize("entry", ENTRIES)
async def test_no_entry_calls_what_is_denied(tmp_path: Path, entry: str) -> None:
    """The spy stays uncalled, whether nobody can be asked or somebody says no, and the door has
    allowed nothing.
    """
    driven = await _driven(tmp_path, entry, "pay")
    assert (driven.called, driven.allowed, driven.asked) == ([], [], int(entry in ASKING))


@pytest.mark.parametrize("entry", ASKING)
async def test_what_a_yes_lets_out_the_door_has_allowed(tmp_path: Path, entry: str) -> None:
    """Once, and for the reason that somebody approved it, whoever asked for that yes."""
    driven = await _driven(tmp_path, entry, "pay", approve=True)
    assert (driven.called, driven.allowed, driven.asked) == (
        ["x"],
        ["authorize.approved"],
        1 + (entry in LOOKED_AT),
    )


@pytest.mark.parametrize("entry", ENTRIES)
async def test_every_entry_would_have_called_it(tmp_path: Path, entry: str) -> None:
    """The same drive with a verb of one's own space calls it: what kept the other back was the
    door.
    """
    driven = await _driven(tmp_path, entry, "private")
    assert (driven.called, driven.allowed, driven.asked) == (["x"], ["authorize.private"], 0)
