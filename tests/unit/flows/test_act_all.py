"""``act_all``: several calls are decided together, asked about once, and carried out in one
join.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.access import TokenScope
from ordain.contracts.approvals import MayAsk, Subject
from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Call
from ordain.effects.effect import Children, Wait
from ordain.effects.results import VerbFailed, VerbReturned
from ordain.errors import FlowFault
from ordain.flows.act import act, act_all, carry_out_all, clear
from ordain.flows.acted import Acted
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.fan_in import fan_in, handoff_result
from ordain.flows.shipped import shipped_kinds
from ordain.rules.spend import Spend
from ordain.testing import (
    Played,
    ScriptedEffects,
    Standing,
    approved,
    child_failed,
    child_timed_out,
    completed,
    granted,
    joined,
    kind_of,
    not_approved,
    resubmitted,
    returned,
)
from tests.shapes.cards import VERBS, hand_to, house_of_cards

EVERY = (
    *(verb.name for verb in VERBS),
    *(f"agent.{card}" for card in ("reader", "keeper", "ruler", "dropper", "talker")),
)
NEVER: dict[str, Any] = {"approvals": {"delegation": "never"}}
PEOPLE = Standing(session="s1", may_ask=MayAsk.PEOPLE)


def answer(content: str = "found", mode: str = "delegate") -> Any:
    payload = {"content": content, "structured": {}}
    return completed(
        {"ok": True, "output": {"status": "completed", "mode": mode, "outputPayload": payload}}
    )


def failure(code: str) -> Any:
    told = {
        "status": "failed",
        "mode": "delegate",
        "failure": {"code": code, "message": "no", "traceId": "r"},
    }
    return child_failed(code, {"ok": False, "output": told, "error": code, "message": "no"})


AMOUNTS = st.integers(0, 6)


def play(
    calls: list[Call],
    *script: Any,
    standing: Standing = PEOPLE,
    verbs: tuple[str, ...] = EVERY,
    catalog: Catalog | None = None,
    **policy: Any,
) -> Played[Any]:
    async def run(context: FlowContext, _: Any) -> tuple[Acted, ...]:
        return await act_all(context, calls)

    kind = kind_of(run, verbs=verbs)
    played = ScriptedEffects(
        kind, catalog or house_of_cards(**policy), standing=standing, kinds=shipped_kinds((kind,))
    ).play({}, script)
    assert played.replayed().equal
    return played


def waits(played: Played[Any]) -> list[Wait]:
    return [one for one in played.asked if isinstance(one, Wait)]


def joins(played: Played[Any]) -> list[Children]:
    return [one for one in played.asked if isinstance(one, Children)]


@given(st.none() | st.sets(st.sampled_from(TokenScope)).map(lambda scopes: tuple(sorted(scopes))))
def test_what_a_token_may_not_call_it_hands_to_nobody(
    scopes: tuple[TokenScope, ...] | None,
) -> None:
    """The envelope, and what an approver is told of it, have no verb that needs a scope which the
    token that asked has not; the header says who withheld it.

    HND-01e "Capability scope, server-owned and validated."
    """
    house = house_of_cards(**NEVER)
    keep = house.data.verbs["keep"].model_copy(update={"scopes": [TokenScope.MEMORY]})
    catalog = house.changed(verbs={**house.data.verbs, "keep": keep})
    standing = replace(PEOPLE, scopes=scopes)
    played = play(
        [hand_to("keeper", forward_skills=["look", "keep"])],
        joined(answer()),
        standing=standing,
        catalog=catalog,
    )
    may = scopes is None or TokenScope.MEMORY in scopes
    (spawn,) = played.spawns
    assert spawn.scope == (("keep", "look") if may else ("look",))
    assert ("not passed on to keeper (caller)" in played.header) != may


def test_a_fan_out_is_one_approval_and_one_join() -> None:
    """Of exactly these calls; each child has its own envelope, an equal share, and no verb but its
    envelope's.

    HND-03 "Sub-agents run with explicit capability scope and inherited policy constraints."
    """
    played = play(
        [hand_to("reader"), hand_to("keeper")], approved(), joined(answer(), failure("no_words"))
    )
    (wait,), (join,) = waits(played), joins(played)
    assert wait.approval is not None
    assert (wait.approval.subject, wait.approval.calls) == (
        Subject.PLAN,
        (hand_to("reader"), hand_to("keeper")),
    )
    assert wait.approval.detail["scopes"] == {"0": ["look"], "1": ["keep", "look", "tell"]}
    assert [spawn.scope for spawn in join.spawns] == [("look",), ("keep", "look", "tell")]
    first, second = played.output
    assert isinstance(first.result, VerbReturned)
    assert isinstance(second.result, VerbFailed)
    assert second.payload["failure"]["code"] == "no_words"
    came = fan_in(played.output, "r")
    assert (came["status"], came["failed"]) == ("partial", ["keeper"])


def test_where_a_delegation_is_the_default_each_has_its_turn() -> None:
    """One join after the other, under the one yes to all of them, and each with its share of what
    is left; nobody is left out.
    """
    own = {
        "allowed_handoff_modes": ["delegate", "fanout-fanin"],
        "default_handoff_mode": "delegate",
    }
    played = play(
        [hand_to("reader"), hand_to("keeper")],
        approved(),
        joined(answer()),
        joined(failure("no_words")),
        profile=own,
    )
    assert [
        [spawn.authorized.call for spawn in join.spawns if spawn.authorized]
        for join in joins(played)
    ] == [
        [hand_to("reader")],
        [hand_to("keeper")],
    ]
    assert [type(one.result) for one in played.output] == [VerbReturned, VerbFailed]
    assert [one.mode for one in played.output] == ["delegate", "delegate"]


@given(AMOUNTS, AMOUNTS, st.integers(1, 6))
def test_nobody_is_asked_about_what_nothing_is_left_for(left: int, runs: int, calls: int) -> None:
    """The approver is asked about exactly the calls that fit, and each of them is carried out; the
    others were refused before, as ``budget``.

    HND-03 "Sub-agents run with explicit capability scope and inherited policy constraints."
    """
    fit = min(left, runs, calls)
    standing = replace(
        PEOPLE,
        child=True,
        allowance=Spend(tokens=900, usd_micros=900, model_calls=90, verb_calls=left),
        runs=runs,
    )
    wanted = [hand_to("reader", task=f"Part {number}.") for number in range(calls)]
    script = [approved(), joined(*[answer()] * fit)] if fit else []
    played = play(wanted, *script, standing=standing)
    asked = [wait.approval.calls for wait in waits(played) if wait.approval is not None]
    assert asked == ([tuple(wanted[:fit])] if fit else [])
    assert [one.denied for one in played.output] == [""] * fit + ["authorize.budget"] * (
        calls - fit
    )
    if 0 < fit < calls:
        assert "authorize.budget" in played.header


def test_one_target_outside_runs_nothing() -> None:
    """Neither it nor the others, nobody is asked, and the door has each denial on record; a handoff
    to a target outside is refused before execution.

    B-30 "Reject whole request pre-execution if any target is disallowed"
    FAIL-01 "Validation failure before a handoff rejects it with a typed error."
    """
    played = play(
        [hand_to("reader"), hand_to("keeper")], profile={"allowed_handoff_targets": ["reader"]}
    )
    assert played.asked == ()
    assert {acted.denied for acted in played.output} == {"handoff.handoff_target_not_allowed"}
    assert [made.reason for made in played.decisions if made.rule == "authorize"] == [
        "authorize.no_envelope"
    ] * 2
    assert handoff_result(played.output[0], "r").failure.code == "handoff_target_not_allowed"


def test_beyond_its_domain_a_person_is_asked_whatever_policy_says() -> None:
    """The verbs outside are told, and in the scope only after that yes; with a no nothing runs.

    HND-07 "Cross-domain privilege expansion needs explicit policy approval."
    """
    wish = hand_to("reader", tools=["rule"])
    played = play([wish], approved(), joined(answer()), **NEVER)
    (wait,), (join,) = waits(played), joins(played)
    assert wait.approval is not None
    assert wait.approval.subject is Subject.REVIEW  # the verb is as grave as that
    assert wait.approval.detail["beyond"] == {"0": ["rule"]}
    assert join.spawns[0].scope == ("look", "rule")
    far = play([hand_to("reader", tools=["look.far"])], approved(), joined(answer()), **NEVER)
    assert [one.approval.subject for one in waits(far) if one.approval is not None] == [
        Subject.EXPANSION
    ]
    refused = play([hand_to("reader", tools=["look.far"])], not_approved(), **NEVER)
    assert (refused.output[0].denied, joins(refused)) == ("authorize.not_approved", [])


def test_where_nobody_can_be_asked_the_domain_is_the_end() -> None:
    """What lies outside is not passed on, and the work goes on without."""
    played = play(
        [hand_to("reader", tools=["look.far"])], joined(answer()), standing=Standing(), **NEVER
    )
    assert joins(played)[0].spawns[0].scope == ("look",)


def test_a_grave_task_is_reviewed_and_a_forbidden_one_is_not_done() -> None:
    """By the guardrails: a person looks at it whatever a grant says, or nobody can let it
    happen.
    """
    played = play([hand_to("dropper")], approved(), joined(answer()), **NEVER)
    (wait,) = waits(played)
    assert wait.approval is not None
    assert wait.approval.subject is Subject.REVIEW
    assert wait.approval.detail["reviews"]["0"]["escalated"] is True
    forbidden = play(
        [hand_to("reader", task="Find the bomb.")], guardrails={"prohibited": ["bomb"]}, **NEVER
    )
    assert (forbidden.output[0].denied, forbidden.asked) == ("guardrail.prohibited", ())


def test_a_catalog_of_now_has_tasks_compared_as_people_see_them() -> None:
    """A prohibited word with a letter that only looks like its own forbids the task; a run whose
    catalog does not say so goes on as it began.
    """
    house = house_of_cards(guardrails={"prohibited": ["bomb"]}, **NEVER)
    calls = [hand_to("reader", task="Find the b\u043emb.")]
    seen = play(calls, catalog=house.changed(seen_prohibited=True))
    now = play(calls, catalog=house.changed(seen_prohibited=True, alike_prohibited=True))
    for one in (seen, now):
        assert (one.output[0].denied, one.asked) == ("guardrail.prohibited", ())
    before = play(calls, joined(answer()), catalog=house)
    assert len(joins(before)) == 1


@pytest.mark.parametrize(
    ("scored", "reason"),
    [
        ({"score": 0.1}, "guardrail.passed"),
        ({"score": 0.7}, "guardrail.review"),
        ({"score": "low"}, "guardrail.unmoderated"),
    ],
)
def test_a_moderation_scores_the_task_first(scored: dict[str, Any], reason: str) -> None:
    """Its score counts where it is one; what gives none is looked at by a person."""
    looked = () if reason == "guardrail.passed" else (approved(),)
    played = play(
        [hand_to("reader")],
        returned(scored),
        *looked,
        joined(answer()),
        guardrails={"moderation": "score"},
        **NEVER,
    )
    assert [made.reason for made in played.decisions if made.rule == "guardrail"] == [reason]


def test_what_an_approver_proposes_instead_is_decided_anew() -> None:
    """Other arguments are another request: with an envelope of their own, and a yes of their
    own.
    """
    other = hand_to("reader", task="Find the other.")
    played = play(
        [hand_to("reader")], resubmitted("agent.reader", other.args), approved(), joined(answer())
    )
    assert [one.approval.calls for one in waits(played) if one.approval is not None] == [
        (hand_to("reader"),),
        (other,),
    ]
    assert joins(played)[0].spawns[0].authorized.call == other


def test_a_grant_covers_a_named_card() -> None:
    """Then nobody is asked."""
    played = play([hand_to("reader")], granted(), joined(answer()))
    assert waits(played) == []


def test_what_ends_otherwise_comes_back_with_its_trace() -> None:
    """Each failure names the run that has it.

    FAIL-02 "Delegated execution failure returns a failure payload to the primary orchestrator with
    full trace context."
    """
    (acted,) = play([hand_to("reader")], joined(child_timed_out()), **NEVER).output
    result = handoff_result(acted, "root")
    assert (result.status, result.failure.code, result.failure.trace_id) == (
        "failed",
        "timed_out",
        acted.child,
    )


def test_a_plan_is_cleared_once_and_carried_out_in_waves() -> None:
    """One yes to all of it; each wave has its share of what is left then, and the rest keeps
    theirs.
    """
    calls = [hand_to("reader", task=f"Part {number}.") for number in range(3)]

    async def run(context: FlowContext, _: Any) -> tuple[Acted, ...]:
        cleared = await clear(context, calls, width=2)
        first = await carry_out_all(context, cleared, (0, 1), later=1)
        return *first, *await carry_out_all(context, cleared, (2,))

    kind = kind_of(run, verbs=EVERY)
    effects = ScriptedEffects(
        kind, house_of_cards(**NEVER), standing=PEOPLE, kinds=shipped_kinds((kind,))
    )
    played = effects.play({}, [joined(answer(), answer()), joined(answer())])
    assert played.replayed().equal
    first, second = joins(played)
    assert (len(first.spawns), len(second.spawns)) == (2, 1)
    assert all(one.allowance.tokens == first.spawns[0].allowance.tokens for one in first.spawns)
    assert second.spawns[0].allowance.tokens > first.spawns[0].allowance.tokens


@given(
    allowance=st.builds(
        Spend, tokens=AMOUNTS, usd_micros=AMOUNTS, model_calls=AMOUNTS, verb_calls=AMOUNTS
    ),
    runs=AMOUNTS,
    targets=st.lists(st.sampled_from(["reader", "keeper"]), min_size=1, max_size=6),
    cut=st.integers(0, 6),
    spends=st.integers(0, 2),
)
def test_whatever_is_left_what_does_not_fit_is_refused(
    allowance: Spend, runs: int, targets: list[str], cut: int, spends: int
) -> None:
    """A plan in two waves faults with no budget and no number of calls: what fits runs, in its
    order, and each of the rest is ``budget``.

    RTE-12 "failures must not be summarised away"
    """
    # a child of the first wave uses up to all that it was given, so that less is left for the
    # second
    calls = [hand_to(target, task=f"Part {number}.") for number, target in enumerate(targets)]
    waves = [list(range(len(calls)))[:cut], list(range(len(calls)))[cut:]]

    async def run(context: FlowContext, _: Any) -> tuple[Acted, ...]:
        cleared = await clear(context, calls)
        first = await carry_out_all(context, cleared, waves[0], later=len(waves[1]))
        return *first, *await carry_out_all(context, cleared, waves[1])

    kind = kind_of(run, verbs=EVERY)
    standing = Standing(
        session="s1", may_ask=MayAsk.PEOPLE, child=True, allowance=allowance, runs=runs
    )
    left, runs_left, script, fit = allowance.verb_calls, runs, list[Any](), list[int]()
    for wave in waves if left and runs else ():  # with nothing at all the door refuses each at once
        going = wave[: max(0, min(left, runs_left))]
        share = max(0, left - len(calls) + len(fit)) // max(1, len(calls) - len(fit))
        used = min(share, spends)
        fit += going
        left, runs_left = left - len(going) * (1 + used), runs_left - len(going)
        if going:
            script.append(
                joined(
                    *(
                        msgspec.structs.replace(answer(), spent=Spend(verb_calls=used))
                        for _ in going
                    )
                )
            )
    played = ScriptedEffects(
        kind, house_of_cards(**NEVER), standing=standing, kinds=shipped_kinds((kind,))
    ).play({}, script)
    assert played.replayed().equal
    assert [isinstance(one.result, VerbReturned) for one in played.output] == [
        number in fit for number in range(len(calls))
    ]
    assert {one.denied for number, one in enumerate(played.output) if number not in fit} <= {
        "authorize.budget"
    }


def test_act_hands_on_as_well() -> None:
    """One call of a card's verb goes the same way, and of the conversation nothing goes with it."""

    async def run(context: FlowContext, _: Any) -> Acted:
        return await act(context, hand_to("reader"))

    kind = kind_of(run, verbs=EVERY)
    played = ScriptedEffects(
        kind, house_of_cards(**NEVER), standing=PEOPLE, kinds=shipped_kinds((kind,))
    ).play({}, [joined(answer())])
    begun = msgspec.json.decode(joins(played)[0].spawns[0].input, type=VerbPlanInput)
    assert (begun.history, begun.recalled) == (None, ())
    assert begun.handoff is not None


def test_a_leaf_has_no_run_to_be_carried_out_beside_others() -> None:
    """It is a mistake of the flow, found before anything goes live."""
    with pytest.raises(FlowFault):
        play([Call(verb="look", args={"text": "a"})])
