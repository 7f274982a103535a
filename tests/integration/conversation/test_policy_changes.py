"""A policy that changes while a conversation goes on: what was decided keeps its catalog, and a
switch reaches all that is open.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordain.runtime.approvals import ApproverWord
from ordain.testing import call, suggests
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.session_laws import broken_at_rest, lawful
from tests.shapes.talk import WORKSPACE, House, talk_settings
from tests.shapes.talks import PATIENT

SLOW = script_of(holds("slowly"))
WHICH = script_of(SLOW, asks("which place", "location"))


async def test_a_turn_opened_by_a_claim_keeps_its_catalog(tmp_path: Path) -> None:
    """A turn that a choice opens under another policy than the question's can still be driven and
    replayed after a restart under a third.
    """
    house = House(tmp_path / "home", script=SLOW)
    await house.open()
    for what in ("cats", "dogs"):
        await house.send(f"tell me slowly about {what}", mode="agent")
    await house.quiet()
    asked = await house.say("use Berlin instead")
    assert asked.question is not None
    for most in (7, 5):
        await house.kill()
        house.settings = talk_settings(tmp_path / "home", {"supervisor": {"max_steps": most}})
        await house.open()
        await house.quiet()
        if most == 7:
            await house.send("B", reply_to=asked.question.message_id)
    house.puppet.let_go()
    await house.quiet()
    assert {status for (status,) in house.query("SELECT status FROM runs")} <= {
        "completed",
        "cancelled",
        "failed",
    }
    assert not broken_at_rest(house.ordain)
    lawful(house.ordain)
    await house.kill()


async def test_a_suggestion_decided_under_a_pinned_policy_replays(tmp_path: Path) -> None:
    """A claim names the catalog whose policy decided it: a later change of policy does not make its
    record differ.
    """
    script = SLOW.on("triage", suggests("status_nudge", thread=1, confidence=0.7))
    house = House(
        tmp_path / "home", script=script, policy={"attach": {"ask": "local", "threshold": 0.5}}
    )
    await house.open()
    await house.send("tell me slowly about cats", mode="agent")
    await house.quiet()
    told = await house.say("well then")
    assert told.attached == "status_nudge"
    await house.kill()
    house.settings = talk_settings(
        tmp_path / "home", {"attach": {"ask": "local", "threshold": 0.9}}
    )
    await house.open()
    house.puppet.let_go()
    await house.quiet()
    lawful(house.ordain)
    await house.kill()


async def test_a_switch_reaches_the_turns_that_wait(tmp_path: Path) -> None:
    """A turn accepted before its verb was switched off is not carried out by it: agents' own verbs
    fall under the kill switch too.
    """
    house = House(tmp_path / "home", script=WHICH)
    await house.open()
    await house.send("tell me slowly about cats", id="m1")
    await house.quiet()
    queued = await house.send(
        "calculate it, which place",
        mode="agent",
        reply_to="m1",
        allowed_verbs=["math.evaluate", "ask_user"],
    )
    await house.kill()
    house.settings = talk_settings(
        tmp_path / "home",
        {"verbs": {"default": {"allow": [], "deny": ["agent_runtime", "ask_user"]}}},
    )
    await house.open()
    await house.until("held", lambda: house.puppet.held)
    house.puppet.let_go()
    answer = await house.told(queued)
    assert answer.question is None
    assert answer.reply is not None
    assert not answer.reply.ok
    assert "withdrawn" in answer.reply.narrative
    assert "agent_runtime" in answer.reply.narrative
    assert not house.puppet.asked("planner")
    assert not broken_at_rest(house.ordain)
    lawful(house.ordain)
    await house.kill()


async def test_a_switch_reaches_a_question_on_its_way(tmp_path: Path) -> None:
    """A supervisor at work whose ask_user is switched off asks nothing more: the call is told as
    withdrawn, and the turn goes on to its end.
    """
    house = House(tmp_path / "home", script=WHICH)
    await house.open()
    work = await house.send(
        "find out slowly which place is meant", mode="agent", allowed_verbs=["ask_user"]
    )
    await house.quiet()
    await house.kill()
    house.settings = talk_settings(
        tmp_path / "home", {"verbs": {"default": {"allow": [], "deny": ["ask_user"]}}}
    )
    await house.open()
    for _ in range(3):
        await house.quiet()
        house.puppet.let_go()
    answer = await house.told(work)
    assert answer.question is None
    assert answer.reply is not None
    assert "withdrawn" in answer.reply.header
    assert house.query("SELECT count(*) FROM transcript WHERE kind = 'question'") == [(0,)]
    assert not broken_at_rest(house.ordain)
    lawful(house.ordain)
    await house.kill()


TELL = {
    "name": "tell.them",
    "description": "Word what they are told.",
    "effect": "send",
    "services": ["LLMGatewayService"],
    "plan": [{"name": "word", "order": 0, "services": ["LLMGatewayService"]}],
    "arguments": {"text": {"role": "recipient"}},
    "input_schema": {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 100}},
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("roles", [["local:cleo"], ["local:ben", "local:cleo"]])
async def test_a_yes_to_a_prompt_plan_counts_while_whoever_gave_it_still_might(
    tmp_path: Path, roles: list[str]
) -> None:
    """Its model is asked when the process dies; afterwards policy wants a role. Of an approver who
    has it the plan goes on, of another it does not.
    """
    verbs = tmp_path / "home" / "verbs"
    verbs.mkdir(parents=True)
    (verbs / "tell.them.yaml").write_text(json.dumps(TELL))
    (verbs / "tell.them_prompt.j2").write_text("Word this: {{ input.text }}")
    script = SLOW.on(
        "planner", call("tell.them", text="slowly tea"), index=0, when=about("tell them")
    )
    house = House(tmp_path / "home", script=script, policy=PATIENT)
    await house.open()
    work = await house.send("please tell them", mode="agent", allowed_verbs=["tell.them"])
    await house.quiet()
    (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
    word = ApproverWord(approve=True, digest=view.row.digest)
    await house.ordain.runtime.approvals.decide(WORKSPACE, view.row.id, word, "local:ben")
    await house.until("the model is asked", lambda: house.puppet.held)
    await house.kill()
    led = {"rules": [{"verb": "tell.*", "role": "leads"}], "roles": {"leads": roles}}
    house.settings = talk_settings(tmp_path / "home", {**PATIENT, "approvals": led})
    await house.open()
    await house.quiet()
    house.puppet.let_go()
    answer = await house.told(work)
    assert answer.reply is not None
    asked = len(house.puppet.asked("verb", verb="tell.them"))
    if "local:ben" in roles:
        assert (answer.reply.ok, asked) == (True, 1)
    else:
        assert (
            "approve.not_an_approver" in answer.reply.narrative + answer.reply.header,
            asked,
        ) == (True, 0)
    assert not broken_at_rest(house.ordain)
    lawful(house.ordain)
    await house.kill()
