"""What a thread keeps of a turn that was not done (C5), where the turn ended before a step of it,
or at the door.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.testing import call, finish
from tests.integration.conversation.test_workflows import ADA, Office, office, said
from tests.shapes.lines import steps
from tests.shapes.talk import WORKSPACE


async def kept(house: Office) -> tuple[str, str, str]:
    """Capability, extension and output."""
    error = (await house.thread()).last_error
    return error["capabilityId"], error["extensionId"], error["output"]


@pytest.mark.parametrize("approve", [True, False])
async def test_a_workflow_that_nobody_let_begin_is_named(tmp_path: Path, *, approve: bool) -> None:
    """Its template, its run and who said no; or that its time was over."""
    async with office(tmp_path, policy={"approvals": {"expires_s": 60}}) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea is ready")
        (child,) = house.query("SELECT id FROM runs WHERE flow = 'workflow'")[0]
        if approve:
            await house.pass_time(61)
        else:
            await house.decide(view, approve=False)
        await house.told(sent)
        why = (
            "nobody approved it in time (approval_expired)."
            if approve
            else f"{ADA} said no to it (approval_denied)."
        )
        assert await kept(house) == ("announce", "announce", why)
        assert (await house.thread()).last_error["workflowId"] == child
        wrong = why.removesuffix(".") if approve else f"{ADA} said no"
        assert f"What went wrong: {wrong}" in said(await house.say("what went wrong?"))


async def test_a_workflow_that_there_is_not_is_named(tmp_path: Path) -> None:
    """By what was asked for."""
    async with office(tmp_path) as house:
        await house.carry_out("do it", "nope", text="tea")
        assert await kept(house) == (
            "nope",
            "nope",
            "there is no workflow nope (unknown_template).",
        )


async def test_a_call_that_was_denied_is_named(tmp_path: Path) -> None:
    """Its verb, and no model's words about it."""
    async with office(
        tmp_path, script=steps(call("send_out", text="tea"), finish("I have sent it."))
    ) as house:
        sent = await house.send(
            "please send that out to them", mode="agent", allowed_verbs=["send_out"]
        )
        await house.quiet()
        (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
        await house.decide(view, approve=False)
        answer = await house.told(sent)
        assert said(answer) == "I have sent it."
        capability, _, output = await kept(house)
        assert (capability, "I have sent it" in output) == ("send_out", False)
