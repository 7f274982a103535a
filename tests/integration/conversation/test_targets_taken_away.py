"""A target, a way or a fan-out that the pinned profile takes away after work was to be handed on
so: it is not handed on any more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import Conflict
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApproverWord
from ordain.testing import ModelScript, call, finish
from tests.integration.conversation.test_profiles import SESSION, all_replay_equal, pin, put
from tests.shapes.cards import given
from tests.shapes.handoffs import CARDS, POLICY, UNASKED, decide, write_cards
from tests.shapes.lines import Held, script_of
from tests.shapes.talk import WORKSPACE, House, Puppet, talk_settings
from tests.shapes.workflows import Desk

WIDE: dict[str, Any] = {
    "allowedHandoffTargets": ["clerk", "sender", "babbler"],
    "allowedHandoffModes": ["delegate", "fanout-fanin"],
    "defaultHandoffMode": "fanout-fanin",
    "maxFanoutAgents": 3,
}
ONE, TWO = ["clerk"], ["clerk", "sender"]
TAKEN: dict[str, tuple[list[str], dict[str, Any]]] = {
    "target": (ONE, {"allowedHandoffTargets": ["sender"]}),
    "every target": (ONE, {"allowedHandoffTargets": []}),
    "mode": (ONE, {"allowedHandoffModes": ["direct"], "defaultHandoffMode": "direct"}),
    "one target of two": (TWO, {"allowedHandoffTargets": ["clerk"]}),
    "mode of two": (TWO, {"allowedHandoffModes": ["delegate"], "defaultHandoffMode": "delegate"}),
    "skill": (ONE, {"skills": ["note_*"]}),
}
AT_ONCE: tuple[list[str], dict[str, Any]] = ([*TWO, "babbler"], {"maxFanoutAgents": 2})


def script() -> ModelScript:
    """Specialists of which each would leave something behind."""
    made = ModelScript()
    for name in TWO:
        made = made.on("planner", call("note_down", text=name), role=name, index=0).on(
            "planner", finish("Noted."), role=name
        )
    return made


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("taken", [*TAKEN, "so many at once"])
async def test_a_yes_to_what_a_profile_has_taken_away_is_stale(
    tmp_path: Path, taken: str, *, moved: bool
) -> None:
    """Whether the profile is written otherwise or the session pinned to another: the approval says
    so, is withdrawn, and nothing is handed on.

    RTE-10 "Code enforces capability scope, tool allowlists, delegated skill-forwarding limits."
    """
    write_cards(tmp_path)
    desk = Desk()
    agents, tighter = AT_ONCE if taken == "so many at once" else TAKEN[taken]
    async with House(tmp_path, script=script(), policy=POLICY, verbs=desk.verbs) as house:
        await put(house, "profile", "p", WIDE)
        await pin(house, SESSION, "p")
        sent = await house.send("have it noted", delegates=agents)
        await house.quiet()
        approvals = house.ordain.runtime.approvals
        (view,) = await approvals.listed(WORKSPACE)
        assert not view.void
        await put(house, "profile", "q" if moved else "p", {**WIDE, **tighter})
        await pin(house, SESSION, "q" if moved else "p")
        assert (await approvals.one(WORKSPACE, view.row.id)).void
        with pytest.raises(Conflict) as refused:
            await approvals.decide(
                WORKSPACE,
                view.row.id,
                ApproverWord(approve=True, digest=view.row.digest),
                "local:ben",
            )
        assert refused.value.code == "approval_stale"
        answer = await house.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (False, [])
        assert (await approvals.one(WORKSPACE, view.row.id)).row.state == ApprovalState.WITHDRAWN
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'handoff'") == [(0,)]
        assert await all_replay_equal(house)


@pytest.mark.parametrize("taken", TAKEN)
async def test_what_is_at_work_for_what_was_taken_away_does_nothing_more(
    tmp_path: Path, taken: str
) -> None:
    """Where nobody is asked, it is held to the profile of the moment as each of its calls goes out.

    HND-04 "Least privilege by default"
    """
    write_cards(tmp_path)
    desk, (agents, tighter) = Desk(), TAKEN[taken]
    lines = script().lines
    puppet = Puppet(
        script_of(*(Held(purpose="planner", index=0, role=name) for name in agents), *lines)
    )
    async with House(tmp_path, puppet=puppet, policy=UNASKED, verbs=desk.verbs) as house:
        await put(house, "profile", "p", WIDE)
        await pin(house, SESSION, "p")
        sent = await house.send("have it noted", delegates=agents)
        await house.quiet()
        await put(house, "profile", "p", {**WIDE, **tighter})
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert not answer.reply.ok
        assert "withdrawn" in json.dumps(answer.reply.header)
        gone = ["sender"] if taken == "one target of two" else agents
        assert [text for _, text in desk.did if text in gone] == []
        assert await all_replay_equal(house)


@pytest.mark.parametrize("by", ["profile", "policy"])
async def test_a_fan_out_at_work_is_cut_to_how_many_may_be_now(tmp_path: Path, by: str) -> None:
    """Where nobody is asked: of those who are at work beside each other the first ones go on, as
    many as may be by now; the others do nothing more.

    PRF-02h "strictly populated, governs privilege expansion downstream"
    """
    agents = [*TWO, "third"]
    write_cards(tmp_path, {**CARDS, "third": {"domain": "lists", "allow": ["note_*"]}})
    targets = {"allowed_handoff_targets": agents, "default_handoff_mode": "fanout-fanin"}
    policy = {**UNASKED, "profile": {**UNASKED["profile"], **targets}}
    desk = Desk()
    lines = (
        script()
        .on("planner", call("note_down", text="third"), role="third", index=0)
        .on("planner", finish("Noted."), role="third")
        .lines
    )
    puppet = Puppet(
        script_of(*(Held(purpose="planner", index=0, role=name) for name in agents), *lines)
    )
    wide = {**WIDE, "allowedHandoffTargets": agents}
    async with House(tmp_path, puppet=puppet, policy=policy, verbs=desk.verbs) as house:
        if by == "profile":
            await put(house, "profile", "p", wide)
            await pin(house, SESSION, "p")
        sent = await house.send("have it noted", delegates=agents)
        await house.quiet()
        if by == "profile":
            await put(house, "profile", "p", {**wide, "maxFanoutAgents": 2})
        else:
            await house.kill()
            house.settings = talk_settings(
                tmp_path, {**policy, "profile": {**policy["profile"], "max_fanout_agents": 2}}
            )
            await house.open()
            await house.quiet()
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert not answer.reply.ok
        assert sorted(text for _, text in desk.did) == TWO
        assert "so many agents are not at work at once any more" in json.dumps(answer.reply.header)
        assert await all_replay_equal(house)


async def test_what_is_at_work_by_a_card_that_is_deleted_does_nothing_more(tmp_path: Path) -> None:
    """What is taken away is taken away at once, and the header says so.

    HND-04 "Least privilege by default"
    """
    write_cards(tmp_path)
    desk = Desk()
    puppet = Puppet(script_of(Held(purpose="planner", index=0, role="clerk"), *script().lines))
    async with House(tmp_path, puppet=puppet, policy=UNASKED, verbs=desk.verbs) as house:
        sent = await house.send("have it noted", delegates=ONE)
        await house.quiet()
        for gone in ("clerk", "boss"):
            (tmp_path / "cards" / f"{gone}.yaml").unlink()
        assert (await house.ordain.reload()).changed
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (False, [])
        assert "agent.clerk is no longer registered" in json.dumps(answer.reply.header)
        assert await all_replay_equal(house)


NARROWED: dict[str, dict[str, Any]] = {
    "not allowed": {"domain": "mail", "allow": ["note_down"]},
    "denied": {"domain": "mail", "allow": ["send_out", "note_down"], "deny": ["send_out"]},
}


@pytest.mark.parametrize("approved", [False, True])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("card", NARROWED)
async def test_a_card_that_is_narrowed_takes_the_single_call_away(
    tmp_path: Path, card: str, *, asked: bool, approved: bool
) -> None:
    """The specialist at work is told that this call is not for it any more, and goes on with what
    it still may use: whether somebody is asked for a yes to it or not, and whether the work rests
    on a yes.

    HND-04 "Least privilege by default"
    """
    write_cards(tmp_path)
    desk = Desk()
    made = (
        ModelScript()
        .on("planner", call("send_out", text="tea"), role="sender", index=0)
        .on("planner", call("note_down", text="tea"), role="sender", index=1)
        .on("planner", finish("It is noted; it could not be sent."), role="sender")
    )
    held = () if asked else (Held(purpose="planner", index=0, role="sender"),)
    puppet = Puppet(script_of(*held, *made.lines))
    async with House(
        tmp_path, puppet=puppet, policy=POLICY if approved else UNASKED, verbs=desk.verbs
    ) as house:
        sent = await house.send("have it sent", delegates=["sender"])
        await house.quiet()
        approvals = house.ordain.runtime.approvals
        if approved:
            await decide(house)
            await house.quiet()
        assert len(await approvals.listed(WORKSPACE)) == asked
        write_cards(tmp_path, {"sender": NARROWED[card]})
        assert (await house.ordain.reload()).changed
        if asked:
            (view,) = await approvals.listed(WORKSPACE)
            assert view.void == "the card of agent.sender no longer names send_out"
            with pytest.raises(Conflict) as refused:
                await approvals.decide(
                    WORKSPACE,
                    view.row.id,
                    ApproverWord(approve=True, digest=view.row.digest),
                    "local:ben",
                )
            assert refused.value.code == "approval_stale"
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        header = json.dumps(answer.reply.header)
        assert "the card of agent.sender no longer names send_out" in header
        assert desk.did == [("note_down", "tea")]
        assert (answer.reply.ok, answer.reply.verdict) == (False, "partial")
        assert "It is noted" in answer.reply.narrative
        assert await all_replay_equal(house)


async def test_a_narrowed_card_reaches_those_whom_its_work_was_handed_on_to(tmp_path: Path) -> None:
    """What a card lent and does not name any more its specialist's specialists may not use either.

    HND-04 "Least privilege by default"
    """
    write_cards(tmp_path)
    desk = Desk()
    made = (
        script()
        .on("planner", call("agent.clerk", **given()), role="boss", index=0)
        .on("planner", finish("Done."), role="boss")
    )
    puppet = Puppet(script_of(Held(purpose="planner", index=0, role="clerk"), *made.lines))
    async with House(tmp_path, puppet=puppet, policy=UNASKED, verbs=desk.verbs) as house:
        sent = await house.send("have it noted", delegates=["boss"])
        await house.quiet()
        write_cards(tmp_path, {"boss": {**CARDS["boss"], "deny": ["note_down"]}})
        assert (await house.ordain.reload()).changed
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (False, [])
        assert "the card of agent.boss no longer names note_down" in json.dumps(answer.reply.header)
        assert await all_replay_equal(house)


async def test_a_card_that_is_widened_meanwhile_goes_on_by_what_it_was(tmp_path: Path) -> None:
    """Nothing was taken away: the specialist at work ends its task.

    HND-04 "Least privilege by default"
    """
    write_cards(tmp_path)
    desk = Desk()
    puppet = Puppet(script_of(Held(purpose="planner", index=0, role="clerk"), *script().lines))
    async with House(tmp_path, puppet=puppet, policy=UNASKED, verbs=desk.verbs) as house:
        sent = await house.send("have it noted", delegates=ONE)
        await house.quiet()
        write_cards(tmp_path, {"clerk": {**CARDS["clerk"], "allow": ["note_*", "send_out"]}})
        assert (await house.ordain.reload()).changed
        puppet.let_go()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, [text for _, text in desk.did]) == (True, ONE)
