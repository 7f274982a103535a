"""Flow ``roster``: plans are followed as far as rules say, step by step and wave by wave, and what
became of each step is on record.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from ordain.contracts.approvals import MayAsk, Subject
from ordain.contracts.roster import StepRecord, StepStatus
from ordain.effects.children import Join
from ordain.effects.effect import Children, Wait
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.roster.kind import ROSTER
from ordain.journal.records import Status
from ordain.rules.acts import Act, ActEnd
from ordain.rules.header import HeaderFacts
from ordain.testing import (
    Played,
    Standing,
    approved,
    child_failed,
    completed,
    fails,
    interrupt,
    joined,
    not_approved,
    says,
)
from tests.unit.flows.house import play, shipped

CATALOG = shipped()
AGENTS = tuple(f"agent.{name}" for name in CATALOG.data.cards)
TOOLS = (
    "finance.snapshot",
    "enterprise.playbook",
    "research.search",
    "research.summarizer",
    "creative.tonecheck",
    "math.evaluate",
)
IN_TURN = Standing(
    session="s1",
    child=True,
    depth=0,
    scope=("roster_runtime", *AGENTS, *TOOLS),
    may_ask=MayAsk.PEOPLE,
)
UNASKED = {"approvals": {"delegation": "never"}}
ASKED = {"approvals": {"delegation": "always"}}


def step(agent: str, confidence: float | None = 0.9, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"agent": agent, "reason": f"for {agent}", **more}
    return made if confidence is None else {**made, "confidence": confidence}


def plan(*steps: dict[str, Any], confidence: float = 0.9, **metadata: Any) -> Any:
    return says(json.dumps({"steps": list(steps), "metadata": metadata, "confidence": confidence}))


def found(content: str = "It rose.", header: HeaderFacts | None = None, **structured: Any) -> Any:
    payload = {"content": content, "structured": structured}
    return completed(
        VerbPlanOutput(
            ok=True, output={"status": "completed", "mode": "delegate", "outputPayload": payload}
        ),
        header=header,
    )


def not_found(code: str = "bad_output", message: str = "It says nothing.") -> Any:
    return child_failed(code, VerbPlanOutput(ok=False, error=code, message=message))


def header(*acts: Act) -> HeaderFacts:
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
    told = {"run": "below", "flow": "handoff@1", "status": "completed", "reason": "ok"}
    return HeaderFacts(
        **told, models=(), notices=(), lines=(), estimated=False, acts=acts, answered=True, **counts
    )


def roster(
    *script: Any, policy: Any = UNASKED, catalog: Any = CATALOG, **args: Any
) -> Played[VerbPlanOutput]:
    given = VerbPlanInput(verb="roster_runtime", args={"text": "How did we do?", **args})
    return play(ROSTER, given, *script, policy=policy, standing=IN_TURN, catalog=catalog)


def out(played: Played[VerbPlanOutput]) -> VerbPlanOutput:
    assert played.output is not None, played.fault
    return played.output


def structured(played: Played[VerbPlanOutput]) -> dict[str, Any]:
    return (out(played).output or {})["structured"]


def records(played: Played[VerbPlanOutput]) -> list[StepRecord]:
    return msgspec.convert(structured(played)["steps"], list[StepRecord])


def handed(played: Played[VerbPlanOutput]) -> list[list[str]]:
    """The verbs of each join, in order."""
    return [
        [
            spawn.authorized.call.verb.removeprefix("agent.")
            for spawn in effect.spawns
            if spawn.authorized is not None
        ]
        for effect in played.asked
        if isinstance(effect, Children)
    ]


# --- the plan -------------------------------------------------------------------------------------


def test_a_plan_is_handed_on_step_by_step() -> None:
    """In order, each as a call of its card's verb with the tools that were planned, and each with
    its record.

    PLAN-12 "Orchestrator detects `plan.steps`, maps roster by name, builds the selection from step
    agents, keeps the active steps for tool enforcement."
    PLAN-14 "Sequential execution iterates `plan.steps` and applies per-step confidence: <0.7 →
    `general_agent`."
    PLAN-18 "Each executed step is logged with agent, reason, tools."
    """
    done = header(Act(verb="finance.snapshot", call="c", end=ActEnd.DONE, reads=True))
    played = roster(
        plan(step("finance_agent", tools=["finance.snapshot"]), step("creative_agent")),
        joined(found(header=done)),
        joined(found("A poem.")),
    )
    assert handed(played) == [["finance_agent"], ["creative_agent"]]
    first, second = records(played)
    assert (first.status, first.executed_agent, first.executed_reason) == (
        StepStatus.COMPLETED,
        "finance_agent",
        "for finance_agent",
    )
    assert (first.executed_tools, first.planned_tools, first.fallback_applied) == (
        ("finance.snapshot",),
        ("finance.snapshot",),
        False,
    )
    assert (first.confidence_threshold, second.attempts, played.status) == (
        0.7,
        1,
        Status.COMPLETED,
    )
    args = [spawn.authorized.call.args for spawn in played.spawns if spawn.authorized is not None]
    assert (args[0]["tools"], "tools" in args[1], args[0]["intent"]) == (
        ["finance.snapshot"],
        False,
        "for finance_agent",
    )
    assert "step 1 of 2: finance_agent, completed, tools finance.snapshot" in played.header
    given = msgspec.json.decode(played.spawns[1].input, type=VerbPlanInput)
    assert [one["content"] for one in given.recalled] == ["It rose."]


@pytest.mark.parametrize("named", [3, 4, 5])
@pytest.mark.parametrize("most", [2, 3])
def test_of_agents_that_are_named_no_more_than_the_fan_out_has_are_handed_it(
    named: int, most: int
) -> None:
    """Whatever is at work at once: the others are left out, and each is told; who is handed it is
    by no wave of it handed twice.

    RTE-02 "multi-agent fan-out/fan-in."
    """
    agents = list(CATALOG.data.cards)[:named]
    policy = {**UNASKED, "profile": {"max_fanout_agents": most}, "roster": {"max_concurrency": 3}}
    played = roster(*([joined(*[found()] * most)]), policy=policy, agents=agents)
    assert handed(played) == [agents[:most]]
    assert [one.error for one in records(played)] == [""] * most + ["handoff.fanout_limited"] * (
        named - most
    )
    assert ("handoff: fanout_limited" in played.header) == (named > most)


@pytest.mark.parametrize("named", [3, 4])
def test_a_plan_is_worked_through_whole_however_few_are_at_work_at_once(named: int) -> None:
    """In waves as wide as the fan-out may be, and nothing says that it was limited."""
    agents = list(CATALOG.data.cards)[:named]
    policy = {**UNASKED, "profile": {"max_fanout_agents": 2}, "roster": {"max_concurrency": 3}}
    waves = [agents[at : at + 2] for at in range(0, named, 2)]
    script = plan(*map(step, agents), handoff_strategy="parallel")
    played = roster(script, *(joined(*[found()] * len(wave)) for wave in waves), policy=policy)
    assert (handed(played), "limited" in played.header) == (waves, False)
    assert {one.status for one in records(played)} == {StepStatus.COMPLETED}


def test_the_plan_keeps_what_the_planner_said() -> None:
    """Its answer, its confidence in both places, and the version of its contract.

    PLAN-01 "`PlannerPlan` always carries `metadata: dict` and top-level `confidence: float = 1.0`."
    PLAN-02 “Parsed `confidence` (default 1.0 when missing) is stored on both
    `plan.metadata["confidence"]` and `plan.confidence`.”
    PLAN-10 "Parsed payload is mirrored into the plan object; `raw_response` preserved; schema
    version propagated so usage per contract version can be logged."
    """
    kept = structured(
        roster(plan(step("creative_agent"), confidence=0.92, note="n"), joined(found()))
    )["plan"]
    assert (kept["confidence"], kept["metadata"]["confidence"], kept["metadata"]["note"]) == (
        0.92,
        0.92,
        "n",
    )
    assert json.loads(kept["raw_response"])["confidence"] == 0.92
    assert kept["metadata"]["schema_version"] == "v2"
    missing = roster(says(json.dumps({"steps": [step("creative_agent", None)]})), joined(found()))
    assert structured(missing)["plan"]["metadata"]["confidence"] == 1.0


def test_the_planner_is_told_of_every_agent_and_not_of_agents_arrays() -> None:
    """The prompt lists each card's schema and demands steps.

    META-08 "The planner prompt contains a section listing that agent schema."
    PLAN-09 "Prompt prefers, then (end state) demands `steps + metadata`, and explicitly forbids
    `agents` arrays."
    """
    (request,) = roster(plan(step("creative_agent")), joined(found())).requests
    prompt = f"{request.system}{request.user}"
    assert all(json.dumps(name) in prompt for name in CATALOG.data.cards)
    assert '{"agents": [...]} is refused' in prompt
    assert (request.purpose, "steps" in (request.schema or {}).get("required", [])) == (
        "roster",
        True,
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (says("I would ask finance."), "planner.failed"),
        (says('"maybe"'), "planner.failed"),
        (says('{"agents": ["finance_agent"]}'), "legacy_agents_payload"),
        (says('{"steps": []}'), "planner.empty_plan"),
        (says('{"steps": [{"agent": "nobody"}]}'), "planner.unknown_agents"),
        (plan(step("finance_agent"), confidence=0.5), "planner.low_confidence"),
        (
            plan(step("finance_agent"), step("research_agent"), depends_on={"0": [1], "1": [0]}),
            "planner.failed",
        ),
        (plan(*[step("finance_agent")] * 1000), "planner.failed"),
        (says('{"steps": [{"agent": "finance_agent", "confidence": NaN}]}'), "planner.failed"),
        (fails("rejected", message="no"), "planner.failed"),
    ],
)
def test_what_is_no_plan_is_never_followed(said: Any, reason: str) -> None:
    """The general agent alone takes the request, the header says so before anything else, and the
    plan that is told is not the one that was proposed.

    PLAN-04 "Logs capture confidence and fallback events."
    PLAN-17 "confidence fallback, fallback-plan behaviour"
    B-38 "A fallback is legitimate only when it is a declared policy branch: typed reason,
    `fallback_applied=true` in metadata, shown in the execution header, original plan never reported
    as executed"
    """
    played = roster(said, joined(found("Hello.")))
    assert handed(played) == [["general_agent"]]
    told = structured(played)["plan"]
    assert told["metadata"] == {
        "fallback_applied": True,
        "fallback_reason": reason,
        "confidence": 0.0,
        "schema_version": "v2",
    }
    assert [one["agent"] for one in told["steps"]] == ["general_agent"]
    assert (
        "fallback applied: no plan of the planner's is followed, general_agent takes the request "
        f"· {reason}"
    ) in played.header
    (record,) = records(played)
    assert (record.fallback_applied, record.fallback_agent, record.fallback_reason) == (
        True,
        "general_agent",
        reason,
    )


def test_without_a_general_agent_nothing_is_an_empty_success() -> None:
    """A typed failure, with nobody handed anything.

    B-31 "`general_agent` missing from roster → typed failure, not empty success."
    """
    cards = {name: card for name, card in CATALOG.data.cards.items() if name != "general_agent"}
    cards["creative_agent"] = cards["creative_agent"].model_copy(update={"fallback_agent": None})
    played = roster(says("no plan"), catalog=CATALOG.changed(cards=cards))
    assert (out(played).error, handed(played), played.status) == (
        "no_general_agent",
        [],
        Status.FAILED,
    )


def test_only_the_step_that_is_unsure_is_another_agents() -> None:
    """D14: one at 0.4 in a plan at 0.9 goes to the general agent, without the tools that were
    planned for another; both agents are told.

    B-13 "Plan gate first, then step gates."
    """
    played = roster(
        plan(step("finance_agent", 0.4, tools=["finance.snapshot"]), step("creative_agent", 0.7)),
        joined(found()),
        joined(found()),
    )
    assert handed(played) == [["general_agent"], ["creative_agent"]]
    first, second = records(played)
    assert (first.planned_agent, first.executed_agent, first.fallback_reason) == (
        "finance_agent",
        "general_agent",
        "plan_step.low_confidence",
    )
    assert not second.fallback_applied
    assert "tools" not in (
        played.spawns[0].authorized.call.args if played.spawns[0].authorized else {"tools": 1}
    )
    assert (
        "step 1 of 2, planned for finance_agent: fallback applied: general_agent instead"
        in played.header
    )


# --- waves ----------------------------------------------------------------------------------------


def test_a_parallel_plan_runs_three_at_once() -> None:
    """And the others when those have ended."""
    five = [
        step(name)
        for name in (
            "finance_agent",
            "creative_agent",
            "research_agent",
            "enterprise_agent",
            "general_agent",
        )
    ]
    played = roster(
        plan(*five, handoff_strategy="parallel"),
        joined(found("a"), found("b"), found("c")),
        joined(found("d"), found("e")),
    )
    assert [len(wave) for wave in handed(played)] == [3, 2]
    assert structured(played)["negotiation"]["agent"] == "finance_agent"


def test_needs_decide_what_runs_beside_what() -> None:
    """What needs two others waits for both and builds on both."""
    played = roster(
        plan(
            step("finance_agent"),
            step("research_agent"),
            step("creative_agent"),
            depends_on={"2": [0, 1]},
        ),
        joined(found("4 %"), found("9 %")),
        joined(found("A poem.")),
    )
    assert handed(played) == [["finance_agent", "research_agent"], ["creative_agent"]]
    given = msgspec.json.decode(played.spawns[2].input, type=VerbPlanInput)
    assert [one["content"] for one in given.recalled] == ["4 %", "9 %"]


def test_what_needs_a_step_that_failed_is_not_run() -> None:
    """The others are, and the plan is partial."""
    played = roster(
        plan(
            step("general_agent"),
            step("creative_agent"),
            step("research_agent"),
            depends_on={"1": [0]},
        ),
        joined(not_found(), found("Herons.")),
    )
    assert [record.status for record in records(played)] == [
        StepStatus.FAILED,
        StepStatus.CANCELLED,
        StepStatus.COMPLETED,
    ]
    assert (structured(played)["status"], out(played).ok) == ("partial", True)
    assert "plan partial; not run: steps 2" in played.header
    assert "general_agent: not done (bad_output)" in (out(played).output or {})["content"]


def test_a_plan_of_which_nothing_was_done_fails_with_what_it_failed_with() -> None:
    """By its code where there is one, and with what each step said."""
    played = roster(
        plan(step("general_agent")), joined(not_found("max_steps_exhausted", "No answer."))
    )
    assert (out(played).ok, out(played).error, out(played).message) == (
        False,
        "max_steps_exhausted",
        "general_agent: No answer",
    )
    assert played.status is Status.FAILED


# --- what is done about a failure -----------------------------------------------------------------


def test_the_fallback_agent_takes_a_step_once_then_the_general_agent() -> None:
    """Both are in the record, tools are planned for neither, and the wait of nobody is waited for.

    B-16 "Substituted step: planned tools not enforced on the substitute, both agents logged."
    """
    played = roster(
        plan(step("finance_agent", tools=["finance.snapshot"])),
        joined(not_found()),
        joined(not_found()),
        joined(found("4 %")),
    )
    assert handed(played) == [["finance_agent"], ["enterprise_agent"], ["general_agent"]]
    (record,) = records(played)
    assert (
        record.planned_agent,
        record.executed_agent,
        record.attempts,
        record.fallback_reason,
    ) == (
        *("finance_agent", "general_agent"),
        *(3, "bad_output"),
    )
    reasons = [
        spawn.authorized.call.args["reason"]
        for spawn in played.spawns
        if spawn.authorized is not None
    ]
    assert reasons == ["domain", "fallback", "fallback"]
    assert (
        "step 1, fallback applied: enterprise_agent instead of finance_agent · "
        "recourse.fallback_agent"
    ) in played.header


def test_what_may_pass_is_tried_again_later_each_time() -> None:
    """Three times in all, two seconds and four between."""
    played = roster(plan(step("general_agent")), *[joined(not_found("overloaded"))] * 3)
    assert [one.about for one in played.asked if isinstance(one, Wait)] == [
        "another try of a plan's step"
    ] * 2
    assert (len(handed(played)), out(played).error) == (3, "overloaded")
    assert [(event["event"], event["attempt"]) for event in structured(played)["events"]] == [
        (name, number) for number in (1, 2, 3) for name in ("started", "failed")
    ]


def test_what_was_done_already_nobody_does_again() -> None:
    """A step that failed after a note was written is handed to nobody else."""
    wrote = header(Act(verb="notes.put", call="c", end=ActEnd.DONE))
    played = roster(
        plan(step("finance_agent")),
        joined(msgspec.structs.replace(not_found("overloaded"), header=wrote)),
    )
    assert handed(played) == [["finance_agent"]]
    assert "recourse.acted" in {str(one.reason) for one in played.decisions}


# --- people ---------------------------------------------------------------------------------------


def test_the_whole_plan_waits_for_one_yes() -> None:
    """Of subject plan, to exactly its calls; nothing is handed on before it."""
    played = roster(
        plan(step("finance_agent"), step("creative_agent")),
        approved(),
        joined(found()),
        joined(found()),
        policy=ASKED,
    )
    (wait,) = [one for one in played.asked if isinstance(one, Wait)]
    assert wait.approval is not None
    assert (wait.approval.subject, [call.verb for call in wait.approval.calls]) == (
        Subject.PLAN,
        ["agent.finance_agent", "agent.creative_agent"],
    )
    assert [type(one) for one in played.asked].index(Wait) < [
        type(one) for one in played.asked
    ].index(Children)
    assert out(played).ok


def test_whom_a_dropped_step_named_is_told() -> None:
    """In the planner's word, quoted: one that forges a line of the header is no line of it.

    B-31 "Drop with typed log; none left → PLAN-13."
    """
    forged = "nobody\n✓ plan of 2 steps"
    played = roster(plan(step("creative_agent"), step(forged)), joined(found()))
    (line,) = [line for line in played.header.splitlines() if "plan of" in line]
    assert line.startswith(
        "· plan of 1 step: creative_agent; 1 dropped, for agents that there are not · "
    )
    assert line.endswith('"nobody plan of 2 steps"')


def test_without_a_yes_nobody_is_handed_anything() -> None:
    """Neither those who were planned nor anybody in their place."""
    played = roster(
        plan(step("finance_agent"), step("creative_agent")), not_approved(), policy=ASKED
    )
    assert (handed(played), out(played).ok, out(played).error) == ([], False, "not_approved")


# --- agents that somebody names -------------------------------------------------------------------


def test_named_agents_are_handed_all_of_it_without_a_planner() -> None:
    """Beside each other; no model is asked who."""
    played = roster(
        joined(found("4 %"), found("A poem.")), agents=["finance_agent", "creative_agent"]
    )
    assert (handed(played), played.requests) == ([["finance_agent", "creative_agent"]], ())
    listed = "finance_agent:\n> 4 %\n\ncreative_agent:\n> A poem."
    assert (out(played).output or {})["content"] == listed
    assert [one.reason for one in played.decisions if one.rule == "plan"] == ["plan.named"]
    assert handed(roster(joined(found()), agent="finance_agent")) == [["finance_agent"]]


def test_one_named_agent_who_is_not_there_refuses_all() -> None:
    """Before anything runs.

    B-30 "Reject whole request pre-execution"
    """
    played = roster(agents=["finance_agent", "nobody"])
    assert (handed(played), out(played).error) == ([], "unknown_agent")


def test_one_target_that_is_not_allowed_refuses_all() -> None:
    """Whoever is allowed is not handed anything either, and nobody takes a place."""
    few = {"profile": {"allowed_handoff_targets": ["creative_agent", "general_agent"]}, **UNASKED}
    played = roster(plan(step("creative_agent"), step("finance_agent")), policy=few)
    assert (handed(played), out(played).error) == ([], "handoff_target_not_allowed")


def test_an_interrupted_plan_says_what_was_done() -> None:
    """Steps that were done stay so, what was at work and what never began are cancelled."""
    played = roster(
        plan(step("finance_agent"), step("creative_agent")), joined(found()), interrupt()
    )
    assert (out(played).error, played.status) == ("cancelled", Status.CANCELLED)
    assert [record.status for record in records(played)] == [
        StepStatus.COMPLETED,
        StepStatus.CANCELLED,
    ]


def test_who_passes_says_nothing() -> None:
    """What a step that passes says besides is neither negotiated nor handed on."""
    played = roster(
        plan(step("creative_agent"), step("research_agent"), step("general_agent")),
        joined(found("4 %")),
        joined(found("nothing to say", passed=True, confidence=0)),
        joined(found("done", confidence=0.95)),
    )
    assert structured(played)["negotiation"] == {
        "type": "agreed",
        "place": 1,
        "agent": "general_agent",
        "consensus": 1.0,
        "supporters": ("creative_agent",),
    }
    given = msgspec.json.decode(played.spawns[2].input, type=VerbPlanInput)
    assert [one["content"] for one in given.recalled] == ["4 %"]


def test_joins_wait_for_all() -> None:
    """Every step of a wave is awaited."""
    played = roster(joined(found("a"), not_found()), agents=["creative_agent", "general_agent"])
    assert all(
        effect.until.mode == Join().mode for effect in played.asked if isinstance(effect, Children)
    )
