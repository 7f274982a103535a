"""Work that is handed on in a real house: its cards, its specialists' words, and a flow that hands
on to several at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.flows.act import act_all
from ordain.flows.context import FlowContext
from ordain.flows.fan_in import fan_in
from ordain.flows.kind import Kind, settled_by_error
from ordain.runtime.approvals import ApproverWord
from ordain.testing import ModelScript, call, finish, says
from tests.shapes.cards import given
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House

CARDS: Mapping[str, dict[str, Any]] = {
    "clerk": {"domain": "notes", "allow": ["note_*"]},
    "sender": {"domain": "mail", "allow": ["send_out", "note_down"]},
    "boss": {"domain": "work", "allow": ["agent.clerk", "agent.babbler", "note_*"]},
    "babbler": {"domain": "talk"},
}
POLICY: dict[str, dict[str, Any]] = {
    "profile": {
        "allowed_handoff_targets": list(CARDS),
        "allowed_handoff_modes": ["direct", "delegate", "fanout-fanin"],
        "max_fanout_agents": 8,
    },
    "verbs": {"retry_wait_ms": 1},
    "approvals": {"expires_s": 3600},
}
UNASKED = {**POLICY, "approvals": {"delegation": "never", "expires_s": 3600}}
SCRIPT = (
    ModelScript()
    .on("planner", call("note_down", text="tea"), role="clerk", index=0)
    .on("planner", finish("It is noted."), role="clerk")
    .on("planner", call("note_down", text="tea"), role="clerk_2", index=0)
    .on("planner", finish("It is noted, too."), role="clerk_2")
    .on("planner", call("send_out", text="tea"), role="sender", index=0)
    .on("planner", finish("It is sent."), role="sender")
    .on("planner", call("agent.clerk", **given()), role="boss", index=0)
    .on("planner", call("agent.babbler", **given()), role="boss", index=1)
    .on("planner", finish("The clerk has done it, the babbler has not."), role="boss")
    .on("planner", says("Well, I would say it is done."), role="babbler")
)


def write_cards(home: Path, cards: Mapping[str, Mapping[str, Any]] = CARDS) -> None:
    """The files of a data folder; JSON is YAML."""
    folder = home / "cards"
    folder.mkdir(parents=True, exist_ok=True)
    for name, card in cards.items():
        (folder / f"{name}.yaml").write_text(
            json.dumps({"name": name, "description": f"The {name}.", **card})
        )


def planned(*steps: Any) -> ModelScript:
    """A planner that goes through these steps, and the specialists behind it."""
    script = SCRIPT
    for number, step in enumerate(steps):
        script = script.on("planner", step, index=number)
    return script


def request(*tools: str, name: str = "golden") -> PlannerRequest:
    """A planning request with these tools."""
    return PlannerRequest.model_validate(
        {
            "request_id": name,
            "caller": "test",
            "goal": {"type": "analysis", "description": "Have it done."},
            "toolset": [{"tool_id": tool} for tool in tools],
        }
    )


async def asked(house: House, *tools: str, name: str = "golden") -> str:
    """Have a plan made with these tools; it may wait for people. Gives the run."""
    return (
        await house.ordain.runtime.accept(request(*tools, name=name), PRINCIPAL, waits=True)
    ).run


async def decide(house: House, *, approve: bool = True) -> list[str]:
    """Say the same to all that waits for a word; what it was of."""
    await house.quiet()
    desk, subjects = house.ordain.runtime.approvals, list[str]()
    for view in await desk.listed(WORKSPACE):
        subjects.append(view.row.subject)
        await desk.decide(
            WORKSPACE,
            view.row.id,
            ApproverWord(approve=approve, digest=view.row.digest),
            "local:ben",
        )
    return subjects


# --- several at once ------------------------------------------------------------------------------


class Spread(Struct, frozen=True, kw_only=True):
    """To whom, each with a task of its own; the same one may come several times."""

    targets: tuple[str, ...]
    wish: dict[str, Any] = {}


class SpreadEnd(Struct, frozen=True, kw_only=True):
    """What they came to."""

    came: dict[str, Any]
    error: str = ""


async def run_spread(context: FlowContext, wanted: Spread) -> SpreadEnd:
    """Hand all of it on at once."""
    calls = [
        Call(verb=f"agent.{target}", args=given(task=f"Part {number}.", **wanted.wish))
        for number, target in enumerate(wanted.targets)
    ]
    return SpreadEnd(came=fan_in(await act_all(context, calls, (0,)), context.run))


def _grant(wanted: Spread, catalog: Catalog) -> CapabilityScope:
    return CapabilityScope(
        allowed=tuple(sorted(catalog.lendable(f"agent.{target}" for target in wanted.targets)))
    )


SPREAD: Kind[Spread, SpreadEnd] = Kind(
    name="spread",
    version=1,
    run=run_spread,
    decode_input=msgspec.json.Decoder(Spread).decode,
    settle=settled_by_error,
    grant=_grant,
    judged=True,
)
