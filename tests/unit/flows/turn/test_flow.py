"""Flow ``turn``: one message answered, refused, or typed as what this build cannot do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ExecMode
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verdict import FAILED_BY, RunVerdict
from ordain.effects.calls import Call
from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput
from ordain.flows.commission import MessageFacts, RecallAsked
from ordain.flows.context import Carrying
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import SHIPPED
from ordain.flows.steps.chain import pack_tools
from ordain.flows.turn.kind import TURN, TURN_7
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.verb_plan.kind import VERB_PLAN_KIND
from ordain.flows.verb_plan.prompt import VERB_PROMPT
from ordain.journal.digests import call_digest
from ordain.journal.records import RecordKind, Status
from ordain.rules.acts import Act, ActEnd
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend
from ordain.testing import (
    Played,
    ScriptedEffects,
    Standing,
    carved,
    child_failed,
    completed,
    failed,
    fails,
    interrupt,
    joined,
    read,
    returned,
    routes,
    says,
    unread,
)
from tests.unit.flows.house import history, play, shipped

IN_SESSION = Standing(session="s1")
EMPTY = history()
ROUTING = {"router": {"ask": "local"}}
BOUNDED = {"budget": {"day_tokens": 50_000}}


def turn(
    *script: Any, policy: Any = None, catalog: Catalog | None = None, **given: Any
) -> Played[TurnOutput]:
    after, text = given.pop("after", ""), given.pop("text", "What is 6 * 7?")
    asked = TurnInput(
        seq=5, message=MessageFacts(text=text, user="ada", channel="web", **given), after=after
    )
    return play(TURN, asked, *script, policy=policy, standing=IN_SESSION, catalog=catalog)


def out(played: Played[TurnOutput]) -> TurnOutput:
    assert played.output is not None
    return played.output


def said(content: str = "42") -> Any:
    return joined(completed(VerbPlanOutput(ok=True, output={"content": content})))


def header(*acts: Act, answered: bool = True, proposed: int = 0) -> HeaderFacts:
    """The header of a run below, as its end brings it."""
    counts = dict.fromkeys(
        (
            "steps",
            "model_calls",
            "verb_calls",
            "tokens_in",
            "tokens_out",
            "usd_micros",
            "duration_ms",
        ),
        1,
    )
    told = {"run": "below", "flow": "supervisor@4", "status": "completed", "reason": "ok"}
    return HeaderFacts(
        **told,
        models=(),
        notices=(),
        lines=(),
        estimated=False,
        acts=acts,
        answered=answered,
        proposed=proposed or len(acts),
        **counts,
    )


def worked(*steps: StepResult, below: HeaderFacts | None = None) -> Any:
    ends = (
        Act(
            verb=step.step_name,
            call=step.call,
            end=ActEnd.DONE if step.ok else ActEnd.FAILED,
            reads=True,
        )
        for step in steps
    )
    value = VerbPlanOutput(
        ok=True, output={"content": "42", "structured": {"n": 42}}, step_results=steps
    )
    return joined(completed(value, header=header(*ends) if below is None else below))


def given_of(played: Played[TurnOutput]) -> VerbPlanInput:
    return msgspec.json.decode(played.spawns[-1].input, type=VerbPlanInput)


def test_chat_is_answered_by_its_verb() -> None:
    """The entry verb gets the message and its history, and its text is the reply."""
    played = turn(EMPTY, said())
    assert (played.reply, played.status, out(played).executed) == (
        "42",
        Status.COMPLETED,
        ("chat_general",),
    )
    assert (given_of(played).args, given_of(played).narrate) == ({"text": "What is 6 * 7?"}, True)


def test_output_without_text_is_the_reply_as_json() -> None:
    """And stands in the structured part."""
    played = turn(
        EMPTY,
        joined(completed(VerbPlanOutput(ok=True, output={"facts": ["a"], "method": "x"}))),
        verb="extract_facts",
    )
    assert out(played).structured == {"facts": ["a"], "method": "x"}
    assert out(played).narrative.startswith("{")


def test_a_leaf_answers_too() -> None:
    """A verb without a plan is called with the message as its one argument."""
    result = {"result": "42", "decimal": "42", "exact": True}
    played = turn(EMPTY, returned(result), verb="math.evaluate", text="6 * 7")
    assert [one.args for one in played.calls] == [{"expression": "6 * 7"}]
    assert out(played).ok


def test_what_a_message_leaves_open_rule_authorize_judges() -> None:
    """A verb that requires more is called with the words alone and refused; one that takes what it
    does not name gets them.
    """
    refused = turn(EMPTY, verb="evaluate")
    assert (refused.reasons("completeness"), refused.reasons("authorize")) == (
        ("completeness.incomplete",),
        ("authorize.schema",),
    )
    assert (out(refused).error or {})["code"] == "schema"
    catalog = shipped()
    anything = catalog.data.verbs["evaluate"].model_copy(
        update={"input_schema": {"anyOf": [{"properties": {"text": {"type": "string"}}}]}}
    )
    taken = turn(
        EMPTY,
        said(),
        verb="evaluate",
        catalog=catalog.changed(verbs={**catalog.data.verbs, "evaluate": anything}),
    )
    assert (taken.reasons("completeness"), out(taken).ok) == (("completeness.incomplete",), True)
    assert given_of(taken).args == {"text": "What is 6 * 7?"}


def test_of_what_nobody_knows_it_is_not_said_that_it_was_not_done() -> None:
    """Nor where a later message asks what went wrong; a turn that began before says what it said,
    byte for byte.
    """
    lost = joined(
        child_failed(
            "outcome_unknown",
            VerbPlanOutput(
                ok=False, error="outcome_unknown", message="nobody knows whether it went"
            ),
        )
    )
    assert turn(EMPTY, lost).reply == "Nobody knows whether it went (outcome_unknown)."
    asked = TurnInput(seq=5, message=MessageFacts(text="What is 6 * 7?", user="ada", channel="web"))
    before = play(TURN_7, asked, EMPTY, lost, standing=IN_SESSION)
    assert before.reply == "This was not done: nobody knows whether it went (outcome_unknown)."


@pytest.mark.parametrize(
    ("name", "seen"),
    [("n\u043epe", "n\\u043epe"), ("no\u202epe", "no\\u202epe"), ("größe", "größe")],
)
def test_a_name_that_is_mistaken_for_another_is_spelled(name: str, seen: str) -> None:
    """The reply is the one place where who asked sees that what he named is not what it looks
    like.
    """
    assert turn(verb=name).reply == f"This was not done: there is no verb {seen} (unknown_verb)."


def test_a_failed_verb_is_told_by_code() -> None:
    """No model writes why it failed."""
    played = turn(
        EMPTY,
        joined(
            child_failed(
                "bad_output",
                VerbPlanOutput(ok=False, error="bad_output", message="it does not fit"),
            )
        ),
    )
    assert played.reply == "This was not done: it does not fit (bad_output)."
    assert played.status is Status.FAILED


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"verb": "no.such"}, "unknown_verb"),
        ({"verb": "agent_runtime"}, "reserved_verb"),
        ({"mode": ExecMode.AGENT, "packs": ("no_such",)}, "unknown_pack"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(given: Any, code: str) -> None:
    """Before anything is read or asked."""
    played = turn(**given)
    assert ((out(played).error or {})["code"].partition(":")[0], played.asked) == (code, ())


def test_an_agent_works_as_a_child() -> None:
    """With its tools in scope and its caps in the call; steps that went well make the turn ok."""
    step = StepResult(step_name="math.evaluate", order=0, ok=True)
    played = turn(EMPTY, worked(step), mode=ExecMode.AGENT, allowed_verbs=("math.evaluate",))
    (spawn,) = played.spawns
    assert spawn.flow == "supervisor"
    assert "math.evaluate" in spawn.scope
    assert given_of(played).args["tools"] == ["math.evaluate"]
    assert (out(played).ok, out(played).executed, out(played).structured) == (
        True,
        ("math.evaluate",),
        {"n": 42},
    )
    assert (out(played).plan, out(played).skipped) == (
        ("planner_react/PlannerReactService",),
        ("agent_chain/AgentChainService",),
    )


def test_a_council_turn_enters_the_supervisor() -> None:
    """By its own verb and with its own plan; what it escalates to may be had.

    EXE-02 "`mode∈{agent,council}` or `extra.supervised` → supervisor path."
    """
    played = turn(EMPTY, worked(below=header()), mode=ExecMode.COUNCIL)
    (spawn,) = played.spawns
    assert (spawn.flow, given_of(played).verb, out(played).path) == (
        "supervisor",
        "council_runtime",
        "council",
    )
    assert "agent_chain" in spawn.scope
    assert (out(played).ok, out(played).plan, out(played).skipped) == (
        True,
        ("council_supervisor/CouncilService",),
        (),
    )


def chained(step: StepResult | None = None, **changes: Any) -> Any:
    """The end of a chain's run; ``changes`` of its result."""
    directive = {
        "thought": None,
        "finish": True,
        "action": None,
        "final_answer": {"content": "42", "structured": {"n": 42}},
    }
    result = {
        "mode": "agent",
        "text": "42",
        "structured": {"n": 42},
        "planner_raw": {"directive": directive, "answer": 3},
        **changes,
    }
    steps = () if step is None else (step,)
    acts = [
        Act(
            verb=one.step_name,
            call=one.call,
            end=ActEnd.DONE if one.ok else ActEnd.FAILED,
            reads=True,
        )
        for one in steps
    ]
    return joined(
        completed(VerbPlanOutput(ok=True, output=result, step_results=steps), header=header(*acts))
    )


CHAIN_ROUTE = routes("agent_chain", confidence=1.0)


def test_a_routers_path_leads_to_an_agent_chain() -> None:
    """With a chain's steps, time and packs, as far as the budget class allows; the other step of
    the agent's plan did not run.

    ACH-03 "router `agent_chain`"
    EXE-10 "Exec validates and enforces it."
    """
    step = StepResult(step_name="extract_facts", order=0, ok=True)
    played = turn(CHAIN_ROUTE, EMPTY, chained(step), policy=ROUTING, mode=ExecMode.AGENT)
    (spawn,) = played.spawns
    args = given_of(played).args
    assert (spawn.flow, given_of(played).verb, args["max_steps"], args["timeout_ms"]) == (
        "agent_chain",
        "agent_chain",
        6,
        90_000,
    )
    assert args["tools"] == list(pack_tools(shipped()))
    assert set(args["tools"]) <= set(spawn.scope)
    assert (out(played).ok, out(played).narrative, out(played).structured, out(played).path) == (
        True,
        "42",
        {"n": 42},
        "agent_chain",
    )
    assert (out(played).plan, out(played).skipped) == (
        ("agent_chain/AgentChainService",),
        ("planner_react/PlannerReactService",),
    )
    named = turn(
        CHAIN_ROUTE,
        EMPTY,
        chained(),
        policy=ROUTING,
        mode=ExecMode.AGENT,
        allowed_verbs=("math.evaluate",),
        max_steps=2,
    )
    assert (given_of(named).args["tools"], given_of(named).args["max_steps"]) == (
        ["math.evaluate"],
        2,
    )
    assert "extract_facts" not in named.spawns[0].scope


@pytest.mark.parametrize(
    "changes",
    [
        {"planner_raw": {}},
        {"text": "43"},
        {"structured": {}},
        {"planner_raw": {"directive": "maybe"}},
    ],
)
def test_a_chains_text_is_no_answer_of_a_turn(changes: dict[str, Any]) -> None:
    """Without the directive that led there the turn fails typed, and says nothing of what the chain
    said.

    EXE-07 "AgentChain `text` is never accepted as terminal text without a validated decision that
    led there."
    """
    played = turn(CHAIN_ROUTE, EMPTY, chained(**changes), policy=ROUTING, mode=ExecMode.AGENT)
    assert ((out(played).error or {})["code"], out(played).ok) == ("agent_chain_unfinished", False)
    assert "4" not in (played.reply or "")


def test_a_chain_that_went_wrong_is_judged_by_its_acts() -> None:
    """Whatever its answer says."""
    bad = StepResult(step_name="extract_facts", order=0, ok=False, error="bad_output", call="c")
    played = turn(CHAIN_ROUTE, EMPTY, chained(bad), policy=ROUTING, mode=ExecMode.AGENT)
    assert ((out(played).error or {})["code"], out(played).ok) == ("partial", False)


def test_an_escalation_shows_among_the_plans_steps() -> None:
    """A supervised loop that handed over to a chain has run both steps of the agent's plan."""
    step = StepResult(step_name="agent_chain", order=0, ok=True)
    played = turn(EMPTY, worked(step, below=header()), mode=ExecMode.AGENT)
    assert (out(played).plan, out(played).skipped) == (
        ("planner_react/PlannerReactService", "agent_chain/AgentChainService"),
        (),
    )


def test_what_was_denied_was_not_executed() -> None:
    """A denied call is a step of the loop, and no verb that ran (C3)."""
    ran = StepResult(step_name="math.evaluate", order=0, ok=True)
    refused = StepResult(
        step_name="extract_facts", order=1, ok=False, error="authorize.budget", skipped=True
    )
    assert out(turn(EMPTY, worked(ran, refused), mode=ExecMode.AGENT)).executed == (
        "math.evaluate",
    )


@pytest.mark.parametrize(
    ("below", "code"),
    [
        (
            header(Act(verb="notes.add", call="a", end=ActEnd.UNKNOWN, run="below", addr=1)),
            "outcome_unknown",
        ),
        (
            header(
                Act(verb="notes.add", call="a", end=ActEnd.FAILED),
                Act(verb="notes.add", call="b", end=ActEnd.DONE),
            ),
            "partial",
        ),
        (header(Act(verb="notes.add", call="a", end=ActEnd.DENIED)), "partial"),
        (header(proposed=1), "no_tool_succeeded"),
        (header(answered=False), "nothing_done"),
        (header(), ""),
    ],
    ids=["unknown", "another call", "denied", "no tool", "by code", "an answer without tools"],
)
def test_an_agent_is_ok_by_its_verdict_alone(below: HeaderFacts, code: str) -> None:
    """Whatever its words say; and the run's own header comes to the same verdict.

    RTE-12 “failures must not be summarised away”
    """
    played = turn(EMPTY, worked(below=below), mode=ExecMode.AGENT)
    assert (out(played).ok, (out(played).error or {"code": ""})["code"]) == (not code, code)
    assert FAILED_BY.get(RunVerdict(played.facts.verdict), "") == code
    assert out(played).narrative == "42"


def test_a_failure_that_was_not_made_good_is_partial() -> None:
    """Whatever the model says of it."""
    bad = StepResult(
        step_name="math.evaluate",
        order=0,
        ok=False,
        error="overflow",
        call=call_digest(Call(verb="math.evaluate", args={})),
    )
    good = msgspec.structs.replace(bad, order=1, ok=True, error="")
    partial = turn(EMPTY, worked(bad), mode=ExecMode.AGENT)
    assert (out(partial).error or {})["code"] == "partial"
    assert partial.status is Status.FAILED
    assert out(turn(EMPTY, worked(bad, good), mode=ExecMode.AGENT)).ok


def test_a_failed_agent_fails_the_turn() -> None:
    """With its code, and the verbs that ran."""
    steps = (StepResult(step_name="math.evaluate", order=0, ok=True),)
    end = child_failed(
        "timed_out", VerbPlanOutput(ok=False, error="timed_out", message="over", step_results=steps)
    )
    played = turn(EMPTY, joined(end), mode=ExecMode.AGENT)
    assert ((out(played).error or {})["code"], out(played).executed) == (
        "timed_out",
        ("math.evaluate",),
    )


def test_a_router_may_choose_the_agent() -> None:
    """Within the paths of the mode, and only if it is sure enough."""
    played = turn(routes("react_lite"), EMPTY, worked(), policy=ROUTING, supervised=True)
    assert (out(played).path, played.spawns[0].flow) == ("react_lite", "supervisor")


@pytest.mark.parametrize(
    "answer",
    [routes("react_lite", confidence=0.1), routes("council"), says("what?"), fails("rejected")],
)
def test_a_router_that_does_not_settle_it_leaves_the_default(answer: Any) -> None:
    """Too unsure, outside the mode, no answer: the turn goes its mode's way."""
    assert out(turn(answer, EMPTY, said(), policy=ROUTING)).path == "direct"


def test_what_is_recalled_goes_along() -> None:
    """Fragments reach the verb with their trust; how many were found and given is told."""
    fragment = {
        "id": "1",
        "text": "The lamp is red.",
        "title": "",
        "source": "",
        "kind": "note",
        "score": 1.0,
        "created_at": "2026-01-01",
        "trust": "own",
        "author": "ada",
    }
    found = returned(
        {"fragments": [fragment], "method": "text", "mode": "hybrid", "notice": ""},
        verb="recall.fetch_context",
    )
    played = turn(found, EMPTY, said(), recall=RecallAsked())
    assert [one["text"] for one in given_of(played).recalled] == ["The lamp is red."]
    assert (out(played).recall["found"], out(played).recall["given"]) == (1, 1)
    (decided,) = played.decided("recall")
    assert (decided.reason, decided.facts) == (
        "recall.had",
        {"required": False, "found": 1, "given": 1, "own": "recall.fetch_context"},
    )
    assert "recall:" not in played.header


def test_a_required_recall_that_fails_ends_the_turn() -> None:
    """One that is not required is told, and the turn goes on; rule `recall` says so."""
    required = turn(failed("no_library"), recall=RecallAsked(required=True))
    assert (out(required).error or {})["code"] == "recall_failed"
    assert "✗ recall: no_library · recall.required" in required.header
    told = turn(failed("no_library"), EMPTY, said(), recall=RecallAsked())
    assert out(told).ok
    assert "no_library" in out(told).recall["error"]
    assert "· recall: no_library · recall.without" in told.header
    for played, reason in ((required, "recall.required"), (told, "recall.without")):
        (decided,) = played.decided("recall")
        assert (decided.reason, decided.facts["code"]) == (reason, "no_library")
        assert [played.stored.records[seq].kind for seq in decided.refs] == [
            RecordKind.STARTED,
            RecordKind.OBSERVATION,
        ]


@pytest.mark.parametrize("required", [True, False])
def test_a_verb_with_no_place_for_what_is_recalled(required: bool) -> None:
    """Memory is not asked; a turn that requires it ends, another goes on without, and both say
    so.
    """
    script = () if required else (EMPTY, returned({"result": "42", "decimal": "42", "exact": True}))
    played = turn(
        *script, verb="math.evaluate", text="6 * 7", recall=RecallAsked(required=required)
    )
    (decided,) = played.decided("recall")
    assert (decided.facts["code"], decided.refs, out(played).ok) == ("no_place", (0,), not required)
    assert "recall: no_place" in played.header


def test_nothing_is_decided_of_recall_unasked() -> None:
    """A turn that asks nothing of memory has no record of it, whatever becomes of it."""
    assert turn(EMPTY, said()).decided("recall") == ()


@pytest.mark.parametrize(
    ("mode", "asked", "lane"),
    [
        (ExecMode.BRAIN, {"purpose": "verb", "verb": "chat_general"}, "brain"),
        (ExecMode.AGENT, {"purpose": "planner", "verb": None}, "worker"),
    ],
)
def test_the_lane_of_its_child_is_decided_for_the_room_of_the_history(
    mode: ExecMode, asked: dict[str, Any], lane: str
) -> None:
    """On record, by the route table, and said by no line: the child decides its lane itself, and
    says it.
    """
    routed = {
        "lanes": {
            "routes": [{"verb": "chat_general", "lane": "brain", "why": "escalated"}],
            "planner": "worker",
        }
    }
    played = turn(EMPTY, said() if mode is ExecMode.BRAIN else worked(), mode=mode, policy=routed)
    (decided,) = played.decided("lane")
    assert {name: decided.facts.get(name) for name in asked} == asked
    assert (decided.facts["ahead"], decided.outcome.lane) == (True, lane)
    assert "lane" not in played.header


def test_what_its_child_asks_for_is_the_childs_kind_to_say() -> None:
    """Another kind that carries the verb, with a prompt that nobody else knows, decides the lane;
    where it asks no model, none is decided.
    """
    musing = replace(VERB_PROMPT, purpose="musing", lane=lambda policy: policy.lanes.planner)
    given = TurnInput(seq=5, message=MessageFacts(text="What is 6 * 7?", user="ada", channel="web"))

    def played(how: Carrying) -> Played[TurnOutput]:
        carrier = replace(
            VERB_PLAN_KIND, version=VERB_PLAN_KIND.version + 1, prompts=(musing,), carrying=how
        )
        kinds = Kinds((*SHIPPED, carrier))
        policy = {
            "lanes": {"routes": [{"purpose": "musing", "verb": "chat_general", "lane": "brain"}]}
        }
        return ScriptedEffects(
            TURN, shipped(), policy=policy, standing=IN_SESSION, kinds=kinds
        ).play(given, [EMPTY, said()])

    for how, lane in (
        (Carrying(prompt=musing), "worker"),
        (Carrying(prompt=musing, by_verb=True), "brain"),
    ):
        (decided,) = played(how).decided("lane")
        assert (decided.facts["purpose"], decided.outcome.lane) == ("musing", lane)
    alone = played(Carrying())
    assert alone.decided("lane") == ()
    assert alone.decided("history")[0].facts["room_bytes"] == shipped().policy.history.max_bytes


def test_the_room_of_the_history_is_the_smallest_window_of_that_lane() -> None:
    """What a model that may be asked cannot read is not shown to any; with no model there is no
    room.
    """
    profile = ModelProfile(provider="scripted", model="m", max_tokens=1000)
    windows = {
        name: profile.model_copy(update={"context_tokens": size})
        for name, size in (("wide", 50_000), ("narrow", 20_000))
    }

    def room(*behind: str) -> int:
        catalog = shipped()
        catalog = catalog.changed(profiles={**catalog.data.profiles, **windows})
        policy = {
            "lanes": {
                "verb": "worker",
                "profiles": {"local": ["default"], "worker": list(behind), "brain": ["default"]},
            }
        }
        (decided,) = turn(EMPTY, said(), policy=policy, catalog=catalog).decided("history")
        return decided.facts["room_bytes"]

    assert room("wide") - room("narrow") == 30_000
    assert room("wide", "narrow") == room("narrow") < 19_000
    assert room() == 0


def test_what_was_interrupted_is_told_to_the_agent() -> None:
    """So that nothing is done twice."""
    lines = [{"mark": "ok", "what": "mail.send", "excerpt": "sent"}, {"mark": "fail", "what": "x"}]
    header = {
        "run": "r0",
        "flow": "turn@3",
        "status": "cancelled",
        "reason": "override",
        "models": [],
        "notices": [],
        "lines": lines,
        "steps": 1,
        "model_calls": 1,
        "verb_calls": 1,
        "tokens_in": 0,
        "tokens_out": 0,
        "estimated": False,
        "usd_micros": 0,
        "duration_ms": 0,
    }
    played = turn(
        read({"run": "r0", "status": "cancelled", "header": header}, "run"),
        EMPTY,
        worked(),
        mode=ExecMode.AGENT,
        after="r0",
    )
    assert given_of(played).args["before"] == "mail.send: sent"
    assert any(line.depth == 1 and line.what == "mail.send" for line in played.lines)


@pytest.mark.parametrize("gone", [read(None, "run"), unread(what="run")])
def test_what_was_interrupted_may_be_gone(gone: Any) -> None:
    """Then nothing is told of it."""
    assert (
        "before" not in given_of(turn(gone, EMPTY, worked(), mode=ExecMode.AGENT, after="r0")).args
    )


def test_spent_accounts_refuse_the_turn() -> None:
    """Nothing is asked, and the user is told which account it is."""
    played = turn(carved({"day:2024-10-04": Spend(tokens=50_000)}), policy=BOUNDED)
    assert (
        played.reply
        == "This was not done: account day:2024-10-04 does not cover the turn (budget_exceeded)."
    )


@pytest.mark.parametrize(
    ("what", "why"),
    [("override", "a later message interrupted it"), ("cancel", "stopped by user:ada")],
)
@pytest.mark.parametrize("before", [(), (EMPTY,)])
@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_is_told(what: str, why: str, before: Any, in_flight: bool) -> None:
    """By code, at whatever it was."""
    played = turn(*before, interrupt(what, by="user:ada", in_flight=in_flight))
    assert (played.reply, played.status) == (
        f"This was not done: {why} (interrupted).",
        Status.CANCELLED,
    )
