"""Every way to a verb passes the door: driven with a verb that is denied, none of them calls it; driven with its allowed twin, each does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import ArgumentRole, VerbRequest
from ordain.effects.calls import Call
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.journal.records import SETTLED, Status
from ordain.runtime.approvals import ApproverWord
from ordain.testing import call, finish, kind_of
from ordain.verbs.functions import FunctionVerb, verb
from tests.shapes.lines import steps
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House
from tests.shapes.workflows import step, template, write_templates

SPY = "spy"
TEXT = {"text": "x"}


async def _makes_it(context: FlowContext, _: Any) -> str:
    return (await act(context, Call(verb=SPY, args=TEXT))).denied


OWN = kind_of(_makes_it, verbs=(SPY,))


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
    await house.ordain.runtime.accept(VerbRequest(verb_id=SPY, payload=TEXT, caller="test"), PRINCIPAL)


async def _own_kind(house: House) -> None:
    await house.ordain.runtime.open(OWN.name, None, PRINCIPAL)  # type: ignore[arg-type]


async def _agent(house: House) -> None:
    await house.send("call it", mode="agent", allowed_verbs=[SPY])


async def _workflow(house: House) -> None:
    await house.send("call it", workflow={"template": "calls_it", "args": TEXT})


ENTRIES: Mapping[str, Callable[[House], Awaitable[None]]] = {
    "plan": _plan,
    "plan that waits": _waiting_plan,
    "verb": _verb,
    "a kind of one's own": _own_kind,
    "agent": _agent,
    "workflow": _workflow,
}


async def _driven(home: Path, entry: str, effect: str, *, denied: bool) -> list[str]:
    """Come in by an entry, say no to whatever is asked, and tell what was called."""
    seen: list[str] = []
    write_templates(home, {"calls_it": template("calls_it", [step(SPY)])})
    async with House(home, script=steps(call(SPY, **TEXT), finish("done")), verbs=[spying(effect, seen)], kinds=[OWN]) as house:
        await ENTRIES[entry](house)
        await house.quiet()
        asked = await house.ordain.runtime.approvals.listed(WORKSPACE)
        assert denied or not asked
        for view in asked:
            assert seen == []
            await house.ordain.runtime.approvals.decide(
                WORKSPACE, view.row.id, ApproverWord(approve=False, digest=view.row.digest), "local:ben"
            )
        await house.quiet()
        ended = {Status(status) for (status,) in house.query("SELECT status FROM runs")}
        assert ended <= SETTLED, ended
    return seen


@pytest.mark.parametrize("entry", ENTRIES)
async def test_no_entry_calls_what_is_denied(tmp_path: Path, entry: str) -> None:
    """The spy stays uncalled, whether nobody can be asked or somebody says no."""
    assert await _driven(tmp_path, entry, "pay", denied=True) == []


@pytest.mark.parametrize("entry", ENTRIES)
async def test_every_entry_would_have_called_it(tmp_path: Path, entry: str) -> None:
    """The same drive with a verb of one's own space calls it: what kept the other back was the door."""
    assert await _driven(tmp_path, entry, "private", denied=False) == ["x"]
