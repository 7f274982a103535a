"""A turn that is handed to agents, in a real house: approved whole, carried out beside each other,
told under a header that no words change.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordain import verb
from ordain.contracts.approvals import Subject
from ordain.journal.records import RecordKind, Status
from ordain.runtime.replay import replay
from ordain.testing import ModelScript, call, fails, finish, says
from tests.shapes.cards import given
from tests.shapes.handoffs import CARDS, POLICY, SCRIPT, UNASKED, decide, write_cards
from tests.shapes.talk import House
from tests.shapes.workflows import Desk, template, write_templates

BOTH = ["clerk", "babbler"]
WORDS = says("The clerk has noted it, and the babbler did everything, too.")
TOLD = SCRIPT.on("synthesis", WORDS)


def house(home: Path, script: ModelScript = TOLD, policy: Any = UNASKED) -> tuple[House, Desk]:
    write_cards(home)
    desk = Desk()
    return House(home, script=script, policy=policy, verbs=desk.verbs), desk


def lawful(one: House) -> None:
    """Every run of the house replays as it was."""
    for (run,) in one.query("SELECT id FROM runs ORDER BY no"):
        stored = one.ordain.store.stored(run)
        assert stored is not None
        report = replay(stored, one.ordain.catalog, one.ordain.kinds)
        assert report.equal, (report.flow, report.differences)


async def test_a_delegated_turn_waits_for_one_yes_and_is_done(tmp_path: Path) -> None:
    """As shipped nobody is handed anything before; then the agent works, its result comes back, and
    the words about it stand under the header.

    RTE-02 "single-agent delegation"
    """
    one, desk = house(tmp_path, policy=POLICY)
    async with one:
        sent = await one.send("have it noted", delegates=["clerk"])
        await one.quiet()
        assert desk.did == []
        assert await decide(one) == [Subject.CALL]
        answer = await one.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (True, [("note_down", "tea")])
        assert (
            answer.reply.narrative == "The clerk has noted it, and the babbler did everything, too."
        )
        assert "agent.clerk" in (answer.reply.header or "")
        lawful(one)


def planned_step(agent: str, confidence: float = 0.9, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "reason": f"for {agent}", "confidence": confidence, **more}


@pytest.mark.parametrize(
    ("plan", "steps", "ok"),
    [
        (
            {"steps": [planned_step("clerk", tools=["note_down"]), planned_step("clerk")]},
            ["clerk completed", "clerk completed"],
            True,
        ),
        ({"steps": [planned_step("talker", tools=["note_down"])]}, ["talker failed"], False),
        ({"steps": [planned_step("clerk", 0.4)]}, ["general_agent completed"], True),
        ({"steps": [planned_step("clerk")], "confidence": 0.5}, ["general_agent completed"], True),
        ({"agents": ["clerk"]}, ["general_agent completed"], True),
        ("I would ask the clerk.", ["general_agent completed"], True),
    ],
)
async def test_a_models_plan_is_carried_out_as_far_as_it_holds(
    tmp_path: Path, plan: Any, steps: list[str], ok: bool
) -> None:
    """In a real house: two steps in their order; a tool that was planned and not used; a step, and
    a plan, that is unsure; what is no plan at all.

    PLAN-17 "Integration tests: multi-step execution, tool enforcement, confidence fallback,
    fallback-plan behaviour."
    PLAN-21 "Full regression suites prove stability;"
    TST-03 "S4 tests: META-09, PLAN-05, PLAN-11, PLAN-17, PLAN-21."
    """
    own = {
        **UNASKED,
        "profile": {
            **UNASKED["profile"],
            "allowed_handoff_targets": [*CARDS, "talker", "general_agent"],
        },
    }
    sure = finish("It is done, believe me.")
    script = (
        TOLD.on("roster", plan)
        .on("planner", sure, role="talker")
        .on("planner", finish("Hello."), role="general_agent")
    )
    write_cards(
        tmp_path,
        {**CARDS, "talker": {"domain": "talking", "allow": ["note_*"], "tool_first": "enforced"}},
    )
    desk = Desk()
    async with House(tmp_path, script=script, policy=own, verbs=desk.verbs) as one:
        answer = await one.say("What did the till take in October?", verb="roster_runtime")
        assert answer.reply is not None
        assert answer.reply.ok is ok, answer.reply.header
        told = [
            line
            for line in (answer.reply.header or "").splitlines()
            if "step " in line and " of " in line
        ]
        for wanted in steps:
            agent, status = wanted.split()
            assert any(agent in line and status in line for line in told), answer.reply.header
        assert ("fallback applied" in (answer.reply.header or "")) == any(
            wanted.startswith("general") for wanted in steps
        )
        lawful(one)


HELPED = {**CARDS, "babbler": {**CARDS["babbler"], "fallback_agent": "clerk"}}


@pytest.mark.parametrize(
    ("named", "ok"), [(["babbler"], True), (["babbler", "sender"], False), (["sender"], False)]
)
async def test_a_step_that_another_did_is_made_good(
    tmp_path: Path, named: list[str], ok: bool
) -> None:
    """Who takes an agent's place and does the step makes good that the agent did not: the turn is
    ok, and its header still shows both. A step that nobody did leaves it partial.

    B-16 "`fallback_agent` used once on agent failure/unavailability"
    """
    write_cards(tmp_path, HELPED)
    script = TOLD.on("planner", fails("rejected"), role="none")
    silent = {**UNASKED, "verbs": {**UNASKED["verbs"], "default": {"deny": ["agent.sender"]}}}
    async with House(tmp_path, script=script, policy=silent, verbs=Desk().verbs) as one:
        answer = await one.say("have it noted", delegates=named)
        assert answer.reply is not None
        header = answer.reply.header or ""
        assert (answer.reply.ok, header.startswith("✓ ok")) == (ok, ok), header
        if "babbler" in named:
            assert "✗ agent.babbler" in header
            assert "fallback applied: clerk instead of babbler" in header
        lawful(one)


@pytest.mark.parametrize("did", [call("send_out", text="tea"), call("note_down", no=1), None])
async def test_nothing_is_made_good_by_words(tmp_path: Path, did: Any) -> None:
    """Who takes an agent's place and only says that it did the step, without a call or behind one
    that was refused, leaves the turn partial, whatever others did beside it.

    FAIL-04 "never a silent fallback claiming success"
    """
    script = (
        ModelScript()
        .on("planner", fails("rejected"), role="babbler")
        .on("planner", call("note_down", text="tea"), role="boss", index=0)
        .on("planner", finish("It is noted."), role="boss")
    )
    script = script if did is None else script.on("planner", did, role="clerk", index=0)
    script = script.on("planner", finish("It is done."), role="clerk").on("synthesis", WORDS)
    write_cards(tmp_path, HELPED)
    async with House(tmp_path, script=script, policy=UNASKED, verbs=Desk().verbs) as one:
        answer = await one.say("have it noted", delegates=["boss", "babbler"])
        assert answer.reply is not None
        header = answer.reply.header or ""
        assert (answer.reply.ok, header.startswith("✗ partial")) == (False, True), header
        lawful(one)


@pytest.mark.parametrize("reason", ["domain", "fallback"])
async def test_no_reason_frees_an_agent_of_its_tools(tmp_path: Path, reason: str) -> None:
    """A model that hands work on as if somebody's place were taken does not free an agent whose
    tools are enforced of calling one: a plan alone has somebody take another's place.

    PLAN-15 "(semantics → C6)"
    """
    clerk = {**CARDS["clerk"], "tool_preference": ["note_*"], "tool_first": "enforced"}
    write_cards(tmp_path, {**CARDS, "clerk": clerk})
    script = (
        ModelScript()
        .on("planner", finish("It is noted."), role="clerk")
        .on("planner", call("agent.clerk", **given(reason=reason)), index=0)
        .on("planner", finish("All is done."))
    )
    async with House(tmp_path, script=script, policy=UNASKED, verbs=Desk().verbs) as one:
        answer = await one.say(
            "Please have the tea noted.", mode="agent", allowed_verbs=["agent.clerk", "note_down"]
        )
        assert answer.reply is not None
        assert not answer.reply.ok
        assert "what clerk says does not count" in (answer.reply.header or "")
        lawful(one)


async def test_an_agent_whose_only_call_somebody_refused_has_done_nothing(tmp_path: Path) -> None:
    """A person says no to the one call that an agent proposes, and it says that all is done: its
    words do not count, and what depends on it is not begun on them.
    """
    one, desk = house(tmp_path)
    async with one:
        sent = await one.send("have it noted", delegates=["sender"])
        await decide(one, approve=False)
        answer = await one.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (False, [])
        assert "what sender says does not count" in (answer.reply.header or "")
        assert "It is sent." not in answer.reply.narrative
        lawful(one)


async def test_an_agent_turn_may_hand_work_on(tmp_path: Path) -> None:
    """The card's verb is a tool like any other where the message allows it: the specialist has what
    its card is for, and the planner itself has not.

    HND-03 "Sub-agents run with explicit capability scope and inherited policy constraints."
    """
    asked = call(
        "agent.clerk", task="Note tea.", intent="to have it noted", reason="domain", payload={}
    )
    script = ModelScript().on(
        "planner", call("note_down", text="coffee"), role="", index=1, when=lambda one: not one.role
    )
    script = script.on("planner", asked, index=0, when=lambda one: not one.role)
    script = script.on("planner", finish("The clerk has noted it."), when=lambda one: not one.role)
    one, desk = house(tmp_path, script=ModelScript((*script.lines, *SCRIPT.lines)))
    async with one:
        answer = await one.say(
            "What did the till take in October?", mode="agent", allowed_verbs=["agent.clerk"]
        )
        assert answer.reply is not None
        assert desk.did == [("note_down", "tea")], answer.reply.header
        assert "note_down · step.tool.outside_toolset" in answer.reply.header
        assert (answer.reply.ok, answer.reply.verdict) == (
            False,
            "partial",
        )  # what the planner asked for by itself was refused, and stays undone
        lawful(one)


async def test_whoever_follows_a_plan_sees_its_steps_start_and_end(tmp_path: Path) -> None:
    """As records of the plan's run, each when it happens: a step that starts is seen before its
    agent's run has ended.

    PLAN-16 "Guardrails, scheduler and review capture per-step metadata."
    """
    one, _ = house(tmp_path)
    async with one:
        await one.say("have it noted", delegates=BOTH)
        ((plan,),) = one.query("SELECT id FROM runs WHERE flow = 'roster'")
        seen = [record async for record in one.ordain.runtime.events(plan, -1)]
        told = [
            (json.loads(record.body or b"{}")["facts"], record.seq)
            for record in seen
            if record.name == "step_event"
        ]
        assert [(facts["step"], facts["event"], facts["agent"]) for facts, _ in told] == [
            (0, "accepted", "clerk"),
            (1, "accepted", "babbler"),
            (0, "scheduled", "clerk"),
            (1, "scheduled", "babbler"),
            (0, "started", "clerk"),
            (1, "started", "babbler"),
            (0, "completed", "clerk"),
            (1, "failed", "babbler"),
            (1, "scheduled", "general_agent"),
            (1, "failed", "general_agent"),
        ]
        ends = [record.seq for record in seen if record.kind is RecordKind.CHILD_ENDED]
        assert told[5][1] < min(ends) < max(ends) < told[6][1]


async def test_a_fan_out_is_partial_whatever_the_words_say(tmp_path: Path) -> None:
    """One of two fails: the header says who, and the turn is not ok though its text claims it.

    RTE-04 "Every delegated result returns to the primary orchestrator for final synthesis and the
    user reply."
    RTE-12 "failures must not be summarised away"
    B-30 "; at run time collect per-target results, status `partial` with failures listed in the
    header."
    """
    one, desk = house(tmp_path)
    async with one:
        answer = await one.say("have it noted and talked about", delegates=BOTH)
        assert answer.reply is not None
        assert (answer.reply.ok, answer.reply.verdict, desk.did) == (
            False,
            "partial",
            [("note_down", "tea")],
        )
        assert "babbler" in (answer.reply.header or "")
        assert "outcome fan_out" in (answer.reply.header or "")
        result = json.loads(bytes((await one.ordain.runtime.view(answer.run_id or "")).result))
        assert [step["status"] for step in result["structured"]["steps"]] == ["completed", "failed"]


async def test_without_a_model_for_words_code_lists_the_results(tmp_path: Path) -> None:
    """What was found, agent by agent; the turn is as ok as its acts."""
    one, _ = house(tmp_path, SCRIPT)
    async with one:
        answer = await one.say("have it noted", delegates=["clerk"])
        assert answer.reply is not None
        assert (answer.reply.ok, answer.reply.narrative) == (True, "clerk:\n> It is noted.")


async def test_the_template_that_hands_a_task_on_works(tmp_path: Path) -> None:
    """``delegate_to_agent`` is a workflow whose one step is a plan for the agent that it names; an
    agent that there is not is refused by name.
    """
    one, desk = house(tmp_path)
    async with one:
        given = {
            "template": "delegate_to_agent",
            "args": {"agent": "clerk", "task": "Note that tea is ready."},
        }
        answer = await one.say("please do", workflow=given)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did) == (True, [("note_down", "tea")]), answer.reply.header
        refused = await one.say(
            "please do",
            workflow={"template": "delegate_to_agent", "args": {"agent": "nobody", "task": "x"}},
        )
        assert refused.reply is not None
        assert "(unknown_agent)" in refused.reply.narrative


async def test_a_workflow_is_as_ok_as_the_acts_of_whom_it_hands_work_to(tmp_path: Path) -> None:
    """Its specialist's only tool fails, and it says that all is sent: the turn is partial, as it is
    where the agent is named itself.

    B-34 "`ok=true` only if all required steps succeeded."
    FAIL-04 "never a silent fallback claiming success"
    """
    script = (
        ModelScript()
        .on("planner", call("break_off", text="tea"), role="clerk", index=0)
        .on("planner", finish("All sent."), role="clerk")
    )
    one, desk = house(tmp_path, script)
    write_cards(tmp_path, {"clerk": {"domain": "notes", "allow": ["break_off"]}})
    hints: list[dict[str, Any]] = [
        {"delegates": ["clerk"]},
        {
            "workflow": {
                "template": "delegate_to_agent",
                "args": {"agent": "clerk", "task": "Send it."},
            }
        },
    ]
    async with one:
        for hint in hints:
            answer = await one.say("have it sent", **hint)
            assert answer.reply is not None
            assert (answer.reply.ok, answer.reply.verdict, desk.did) == (False, "partial", []), (
                answer.reply.header
            )
            assert one.status(answer.run_id) is Status.FAILED
        lawful(one)


@pytest.mark.parametrize(
    "after", [says("I was not allowed to."), fails("server_error"), fails("timed_out")]
)
async def test_a_no_below_a_step_is_asked_for_by_nobody_else(tmp_path: Path, after: Any) -> None:
    """Whatever the specialist makes of it, or whatever becomes of its model: the step ends as not
    approved, neither tried again nor taken by its fallback agent.

    B-16 "`fallback_agent` used once on agent failure/unavailability"
    """
    script = ModelScript()
    for name in ("clerk", "sender", "general_agent"):
        script = script.on("planner", call("send_out", text="tea"), role=name, index=0).on(
            "planner", after, role=name
        )
    one, desk = house(tmp_path, script)
    write_cards(
        tmp_path, {"clerk": {"domain": "mail", "allow": ["send_out"], "fallback_agent": "sender"}}
    )
    write_cards(tmp_path, {"sender": {"domain": "post", "allow": ["send_out"]}})
    async with one:
        sent = await one.send("have it sent", delegates=["clerk"])
        await one.quiet()
        assert await decide(one, approve=False) == [Subject.CALL]
        answer = await one.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, desk.did, one.query("SELECT count(*) FROM approvals")) == (
            False,
            [],
            [(1,)],
        )
        assert one.query("SELECT count(*) FROM runs WHERE flow = 'handoff'") == [(1,)]
        assert "not_approved" in (answer.reply.narrative or "")
        lawful(one)


@pytest.mark.parametrize(("calls", "done"), [(1, 0), (2, 1), (3, 2), (4, 2), (9, 2)])
async def test_a_fan_out_of_which_not_all_fits_is_told_and_faults_nowhere(
    tmp_path: Path, calls: int, done: int
) -> None:
    """The plan's own call takes one of the turn's verb calls, each handoff another: who is left
    without is refused by budget, what the others found is kept.

    RTE-12 "failures must not be summarised away"
    """
    script = (
        ModelScript()
        .on("planner", finish("Nothing to note."), role="clerk")
        .on("planner", finish("Nothing to send."), role="sender")
    )
    policy = {**UNASKED, "budget": {"run_verb_calls": calls}}
    one, _ = house(tmp_path, script, policy)
    write_cards(
        tmp_path,
        {
            name: {"domain": name, "allow": ["note_*"], "tool_first": "optional"}
            for name in ("clerk", "sender")
        },
    )
    async with one:
        answer = await one.say("have it noted and sent", delegates=["clerk", "sender"])
        assert answer.reply is not None
        assert one.query("SELECT count(*) FROM runs WHERE status = 'faulted'") == [(0,)]
        assert answer.reply.ok == (done == 2), answer.reply.header
        assert ("authorize.budget" in (answer.reply.header or "")) == (done < 2)
        assert [
            words
            for words in ("Nothing to note.", "Nothing to send.")
            if words in answer.reply.narrative
        ] == [
            "Nothing to note.",
            "Nothing to send.",
        ][:done]
        lawful(one)


PLAN = {
    "steps": [{"agent": "clerk", "reason": "notes"}, {"agent": "babbler", "reason": "talk"}],
    "confidence": 0.9,
}


@pytest.mark.parametrize("die", [0, 1, 2, 3, 5, 8])
async def test_a_plan_goes_on_where_its_process_died(tmp_path: Path, die: int) -> None:
    """Whenever that is: what was noted is noted once, what nobody can know is told as that, and the
    turn comes to its own end.
    """
    one, desk = house(tmp_path)
    async with one:
        sent = await one.send("have it noted and talked about", delegates=BOTH)
        commits = one.ordain.store.writer.commits + die
        await one.until(
            "so many commits",
            lambda: one.ordain.store.writer.commits >= commits or one.over(one.so_far(sent).run_id),
        )
        await one.reopen()
        answer = await one.told(sent)
        assert answer.reply is not None
        assert (answer.reply.ok, one.status(answer.run_id)) == (False, Status.FAILED)
        assert desk.did == [("note_down", "tea")] or (desk.did, answer.reply.verdict) == (
            [],
            "unknown",
        )


async def test_a_workflows_step_may_hand_work_to_a_card(tmp_path: Path) -> None:
    """What the template names is approved whole, the card has the verbs that it is for, and nothing
    beyond; without its yes nothing runs.

    HND-04 "Least privilege by default; requested `forward_skills` are untrusted and clamped by
    server policy."
    """
    wish = {
        "task": {"$arg": "text"},
        "intent": "to have it noted",
        "reason": "domain",
        "payload": {},
    }
    write_templates(
        tmp_path, {"have_noted": template("have_noted", [{"verb": "agent.clerk", "args": wish}])}
    )
    one, desk = house(tmp_path, policy=POLICY)
    async with one:
        for approve, did in ((False, []), (True, [("note_down", "tea")])):
            sent = await one.send(
                "have it noted", workflow={"template": "have_noted", "args": {"text": "Note tea."}}
            )
            await one.quiet()
            assert await decide(one, approve=approve) == [Subject.WORKFLOW]
            answer = await one.told(sent)
            assert answer.reply is not None
            assert (answer.reply.ok, desk.did) == (approve, did), answer.reply
        (started,) = one.query("SELECT id FROM runs WHERE flow = 'handoff'")
        stored = one.ordain.store.stored(started[0])
        assert stored is not None
        first = json.loads(stored.records[0].body or b"{}")
        assert "send_out" not in first["grant"]["allowed"]
        assert set(first["grant"]["allowed"]) <= set(one.ordain.catalog.lendable(["agent.clerk"]))
        lawful(one)


@pytest.mark.parametrize(("score", "looks"), [(0.1, 3), (0.9, 1)])
async def test_policys_moderation_looks_at_every_task(
    tmp_path: Path, score: float, looks: int
) -> None:
    """Whatever its sender may use, and whatever a specialist hands on to others: a task is scored,
    and one that scores high is a person's to look at.

    B-40 "review = approval queue shared with WFL."
    """
    seen: list[str] = []

    @verb(effect="read")
    def mod_score(text: str) -> dict[str, float]:
        """Score a task."""
        seen.append(text)
        return {"score": score}

    write_cards(tmp_path)
    desk = Desk()
    own = {
        **UNASKED,
        "guardrails": {"moderation": "mod_score", "risk": {"read": 0.0, "private": 0.0}},
    }
    async with House(tmp_path, script=TOLD, policy=own, verbs=[*desk.verbs, mod_score]) as one:
        sent = await one.send("have it noted", delegates=["boss"])
        if looks == 1:
            assert await decide(one, approve=False) == [Subject.REVIEW]
        answer = await one.told(sent)
        header = "" if answer.reply is None else answer.reply.header
        assert (len(seen), "no score" in header, "out_of_scope" in header) == (
            looks,
            False,
            False,
        ), header
        assert desk.did == ([("note_down", "tea")] if looks == 3 else [])


async def test_who_wanted_what_it_may_not_use_has_done_nothing(tmp_path: Path) -> None:
    """An agent whose every call code kept back says that all is sent: its run and the turn are no
    success alike, whoever puts it into words.

    RTE-12 "Code enforces error visibility: failures must not be summarised away."
    """
    script = (
        ModelScript()
        .on("planner", call("send_out", text="tea"), role="clerk", index=0)
        .on("planner", finish("It is sent."), role="clerk")
    )
    one, desk = house(tmp_path, script=ModelScript((*script.lines, *SCRIPT.lines)), policy=UNASKED)
    async with one:
        answer = await one.say("have it sent", delegates=["clerk"])
        assert answer.reply is not None
        assert "step.tool.outside_toolset" in (answer.reply.header or "")
        assert (answer.reply.ok, desk.did) == (False, []), answer.reply.header
        assert "tool_first.refused" in (answer.reply.header or "")
        lawful(one)
