"""``act``: authorised, attempted, tried again, or opened as a child; whatever becomes of it is a
value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.verbs import Argument, ArgumentRole, PlanStep, Retry, VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.results import VerbFailed, VerbReturned, VerbTimedOut, VerbUnknown
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import Carrying, FlowContext, micros
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import shipped_kinds
from ordain.flows.verb_plan.kind import VERB_PLAN_KIND
from ordain.testing import (
    Played,
    ScriptedEffects,
    Standing,
    after,
    catalog_of,
    child_cancelled,
    child_failed,
    child_timed_out,
    child_unknown,
    completed,
    failed,
    hung,
    joined,
    kind_of,
    returned,
    withdrawn,
)

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


def leaf(name: str, effect: VerbEffect = VerbEffect.READ, tries: int = 1, **more: Any) -> VerbSpec:
    return VerbSpec(
        name=name,
        description=name,
        effect=effect,
        input_schema=TEXT,
        output_schema=TEXT,
        retry=Retry(max_attempts=tries),
        timeout_ms=5000,
        **more,
    )


WRITE = leaf(
    "write", VerbEffect.PRIVATE, 2, arguments={"text": Argument(role=ArgumentRole.CONTENT)}
)
PLAN = VerbSpec(
    name="plan",
    description="plan",
    effect=VerbEffect.READ,
    prompt_template="t",
    plan=[PlanStep(name="a", order=0)],
    input_schema=TEXT,
    timeout_ms=7000,
)
CATALOG = catalog_of(
    verbs=[leaf("look"), leaf("try", tries=3), WRITE, PLAN, leaf("other")],
    prompts={"t": "a\n=====\nb\n"},
)
DONE = returned({"text": "done"})


async def _act(context: FlowContext, verb: str) -> Acted:
    return await act(context, Call(verb=verb, args={"text": "a"}))


def play(verb: str, *script: Any, **policy: Any) -> Played[Acted]:
    kind = kind_of(_act, verbs=("look", "try", "write", "plan"))
    played = ScriptedEffects(kind, CATALOG, policy=policy).play(verb, script)
    assert played.replayed().equal
    return played


def result(played: Played[Acted]) -> Any:
    assert played.output is not None
    return played.output.result


def test_a_permitted_call_is_made_once() -> None:
    """With the address of the decision that allows it."""
    played = play("look", DONE)
    assert isinstance(result(played), VerbReturned)
    assert played.verb_calls[0].authorized.decision == played.decided("authorize")[0].address


def test_how_a_verb_is_carried_out_is_its_kinds_to_say() -> None:
    """Which kind that is the verb says: not how long it has, nor which verbs it works with."""
    spec = VerbSpec(
        name="flow",
        description="flow",
        effect=VerbEffect.READ,
        flow="carrier",
        input_schema=TEXT,
        timeout_ms=7000,
    )
    catalog = catalog_of(verbs=[spec, leaf("look")])
    for how in (
        Carrying(),
        Carrying(waits=True),
        Carrying(inherits=True),
        Carrying(waits=True, inherits=True),
    ):
        caller = kind_of(_act, verbs=("look", "flow"))
        carrier = replace(VERB_PLAN_KIND, name="carrier", prompts=(), carrying=how)
        played = ScriptedEffects(
            caller, catalog, standing=Standing(session="s"), kinds=Kinds((caller, carrier))
        ).play("flow", [joined(completed(VerbPlanOutput(ok=True, output={})))])
        (spawn,) = played.spawns
        assert (spawn.scope == ("flow", "look")) == how.inherits
        assert (spawn.deadline - micros(Standing().at) > 7_000_000) == how.waits
        assert played.replayed().equal
    ways = {name: (how.waits, how.inherits) for name, how in shipped_kinds().carrying.items()}
    assert {name for name, way in ways.items() if way == (True, True)} == {
        "supervisor",
        "question",
        "agent_chain",
        "roster",
        "subgoal",
    }
    assert ways["verb_plan"] == (False, False)


def test_what_is_out_of_scope_does_not_go_live() -> None:
    """The refusal is a value with its reason."""
    played = play("other")
    assert (
        played.output or Acted(verb="", result=VerbUnknown(message=""), seq=0)
    ).denied == "authorize.out_of_scope"
    assert (result(played).code, played.asked) == ("out_of_scope", ())


def test_what_may_pass_is_tried_again_under_the_same_key() -> None:
    """After policy's waits, as often as the verb declares."""
    played = play("try", failed("busy", retryable=True), hung(), DONE)
    assert [call.attempt for call in played.verb_calls] == [1, 2, 3]
    assert len(set(played.keys)) == 1
    assert len(played.waits) == 2


@pytest.mark.parametrize(
    ("verb", "script"),
    [
        ("look", [failed("busy", retryable=True)]),
        ("try", [failed("broken")]),
        ("try", [failed("busy", retryable=True)] * 3),
        ("try", [failed("busy", retryable=True, retry_after_ms=3_600_000)]),
        ("try", [withdrawn()]),
    ],
)
def test_a_failure_that_stands_is_the_result(verb: str, script: list[Any]) -> None:
    """Not declared to be tried again, not one that passes, tried often enough, too long a wait,
    withdrawn.
    """
    played = play(verb, *script)
    assert len(played.verb_calls) == len(script)
    assert not isinstance(result(played), VerbReturned)


def test_an_effect_that_nobody_knows_of_is_never_tried_again() -> None:
    """Of a write that was lost, or hung, nobody says that it did not happen."""
    assert isinstance(result(play("write", failed("lost", happened=None))), VerbUnknown)
    assert isinstance(result(play("write", hung())), VerbUnknown)
    assert isinstance(result(play("look", hung())), VerbTimedOut)


def test_a_rest_that_is_named_uses_up_no_attempt() -> None:
    """Nor does the permit: the same call goes out until it is answered, under the same key and ever
    higher numbers.
    """
    resting = failed("busy", retryable=True, retry_after_ms=1000)
    played = play("look", resting, resting, DONE)
    assert [call.attempt for call in played.verb_calls] == [1, 2, 3]
    assert len(set(played.keys)) == 1
    assert isinstance(result(played), VerbReturned)
    assert play("try", resting, failed("busy", retryable=True), failed("busy", retryable=True),
        DONE).reasons("retry") == (
        "verb.rests", "verb.retry", "verb.retry"
    )  # fmt: skip


def test_a_call_that_takes_too_long_times_out() -> None:
    """At the verb's own time."""
    played = play("look", after(6000, DONE))
    assert isinstance(result(played), VerbTimedOut)
    assert played.stored.records[-1].at - played.stored.records[0].at == 5_000_000


def test_spent_calls_stop_the_tries() -> None:
    """The budget of verb calls is the run's."""
    played = play("try", failed("busy", retryable=True), budget={"run_verb_calls": 1})
    assert played.reasons("retry") == ("budget.verb_calls",)


@given(
    st.lists(
        st.sampled_from([failed("busy", retryable=True), failed("broken"), hung(), DONE]),
        min_size=3,
        max_size=3,
    )
)
def test_attempts_never_exceed_what_the_verb_declares(results: list[Any]) -> None:
    """Whatever comes back, and the last one is the result."""
    left = iter(results)
    effects = ScriptedEffects(kind_of(_act, verbs=("try",)), CATALOG)
    played = effects.play(
        "try", lambda effect: next(left) if type(effect).__name__ == "VerbCall" else None
    )
    assert 1 <= len(played.verb_calls) <= 3
    assert (
        len(played.verb_calls) == 3
        or isinstance(result(played), VerbReturned)
        or result(played).code == "broken"
    )
    assert played.replayed().equal


# --- children -------------------------------------------------------------------------------------


def test_a_plan_is_a_child_with_nothing_in_scope() -> None:
    """It gets the call, the verb's own time, and all that is left but the call itself."""
    played = play(
        "plan",
        joined(completed(VerbPlanOutput(ok=True, output={"text": "x"}))),
        budget={"run_verb_calls": 5},
    )
    (spawn,) = played.spawns
    assert (spawn.flow, spawn.scope, spawn.allowance.verb_calls) == ("verb_plan", (), 4)
    assert spawn.deadline - played.stored.records[0].at == 7_000_000
    assert msgspec.json.decode(spawn.input, type=VerbPlanInput) == VerbPlanInput(
        verb="plan", args={"text": "a"}
    )
    assert result(played).output == {"text": "x"}


@pytest.mark.parametrize(
    ("end", "kind", "code"),
    [
        (
            child_failed("bad_output", VerbPlanOutput(ok=False, error="bad_output", message="m")),
            VerbFailed,
            "bad_output",
        ),
        (child_failed("rejected"), VerbFailed, "rejected"),
        (child_cancelled(), VerbFailed, "cancelled"),
        (child_timed_out(), VerbTimedOut, None),
        (child_unknown(), VerbUnknown, None),
    ],
)
def test_every_end_of_a_child_is_a_result(end: Any, kind: type, code: str | None) -> None:
    """Failed, cancelled, timed out, unknown."""
    found = result(play("plan", joined(end)))
    assert isinstance(found, kind)
    assert code is None or found.code == code
