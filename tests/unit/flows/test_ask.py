"""``ask``: lane, attempt, fallback and hedge, each a decision on record, and nothing asked that is
not covered.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Lane
from ordain.effects.effect import ModelCall
from ordain.effects.results import Beside, ModelAnswer, ModelFailed
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.values import PromptInputs, Values
from ordain.testing import Played, ScriptedEffects, after, fails, interrupt, kind_of, proposes
from tests.unit.flows.house import lanes

ANSWER = proposes("probe", {"word": "yes"}).used(20, 5)


def _asked(_: FlowContext, word: str) -> ModelQuestion:
    return ModelQuestion(refs=(0,), args={"word": word}, prompt_tokens=200, max_tokens=50)


def _built(_: Catalog, call: ModelCall, __: Values) -> PromptInputs:
    return PromptInputs(inputs={"word": call.args["word"]}, schema={"type": "object"})


PROMPT: PromptKind[str] = PromptKind(
    purpose="probe",
    template="probe_step",
    contract="probe",
    lane=lambda _: Lane.LOCAL,
    ask=_asked,
    build=_built,
)
ONE, TWO = lanes(local=["a"]), lanes(local=["a", "b"], brain=["c"])


async def _probe(context: FlowContext, word: str) -> Any:
    return await ask(context, PROMPT, word)


def probe(catalog: Catalog, *script: Any, **policy: Any) -> Played[Any]:
    played = ScriptedEffects(kind_of(_probe, prompts=(PROMPT,)), catalog, policy=policy).play(
        "hello", script
    )
    assert played.replayed().equal, played.replayed()
    return played


def asked(played: Played[Any]) -> list[str]:
    return [call.profile for call in played.model_calls]


def test_one_call_answers() -> None:
    """Lane, reservation, one attempt, settlement."""
    played = probe(ONE, ANSWER)
    assert isinstance(played.output, ModelAnswer)
    assert [made.rule for made in played.decisions] == ["lane", "reserve", "settle"]
    assert (played.spent.tokens, played.spent.model_calls) == (25, 1)


def test_a_lane_without_models_asks_nothing() -> None:
    """It is a typed failure."""
    played = probe(lanes(local=[]))
    assert isinstance(played.output, AskFailed)
    assert played.asked == ()


def test_a_call_that_is_not_covered_is_not_made() -> None:
    """Its bound does not fit what the run has left."""
    played = probe(ONE, budget={"run_tokens": 100})
    assert played.output == AskFailed(code="budget_exceeded", message=played.output.message)
    assert played.asked == ()


def test_a_failure_that_may_pass_is_tried_again_after_a_wait() -> None:
    """At the same profile, after the delay that the provider names or policy's."""
    played = probe(ONE, fails("rate_limited", retry_after_ms=900), ANSWER)
    assert asked(played) == ["a", "a"]
    (wait,) = played.waits
    assert wait.deadline - played.stored.records[0].at == 900_000


def test_without_a_wait_it_is_tried_at_once() -> None:
    """Where neither provider nor policy has one."""
    assert probe(ONE, fails("overloaded"), ANSWER, fallback={"backoff_ms": 0}).waits == ()


def test_the_next_profile_comes_after_the_first_is_spent() -> None:
    """Attempts at one profile, then the next."""
    assert asked(probe(TWO, fails("overloaded"), fails("overloaded"), ANSWER)) == ["a", "a", "b"]


def test_an_error_of_the_profile_goes_on_to_the_next() -> None:
    """Without another try."""
    assert asked(probe(TWO, fails("authentication"), ANSWER)) == ["a", "b"]


def test_the_next_lane_comes_last() -> None:
    """Where policy names one, and its models are asked in their order."""
    policy = {"lanes": {"next_lane": {"local": "brain"}}}
    assert asked(probe(TWO, fails("not_found"), fails("not_found"), ANSWER, **policy)) == [
        "a",
        "b",
        "c",
    ]


def test_attempts_in_all_are_bounded() -> None:
    """The last error is what the caller gets."""
    policy = {"lanes": {"next_lane": {"local": "brain"}}, "fallback": {"attempts_total": 2}}
    played = probe(TWO, fails("not_found"), fails("quota_exceeded"), **policy)
    assert played.output.code == "quota_exceeded"


def test_a_time_out_takes_the_profiles_time_and_goes_on() -> None:
    """What nobody answered is booked at its bound."""
    played = probe(TWO, after(10_000_000, ANSWER), ANSWER)
    assert asked(played) == ["a", "b"]
    assert played.spent.tokens == 250 + 25


def apart(code: ModelErrorCode, wait_ms: int | None = None) -> ModelFailed:
    """Held back here, or lost with its process."""
    lost = code is ModelErrorCode.LOST
    return ModelFailed(
        code=code,
        message="",
        provider="scripted",
        model="a",
        retry_after_ms=wait_ms,
        live=lost,
        apart=True,
    )


HELD = apart(ModelErrorCode.CIRCUIT_OPEN, 1000)


def test_a_rest_that_the_provider_names_is_no_attempt() -> None:
    """A refusal that names a delay is waited for as often as the time allows; one that names none,
    or hardly any, is an attempt as ever.
    """
    played = probe(
        ONE, *[fails("rate_limited", retry_after_ms=1000)] * 9, fails("overloaded"), ANSWER
    )
    assert isinstance(played.output, ModelAnswer)
    assert played.spent.model_calls == 11
    reasons, facts = fallbacks(played)
    assert reasons == ["fallback.rests"] * 9 + ["fallback.retry"]
    assert [(one["attempts"], one.get("held"), one.get("rests")) for one in facts] == [
        (0, n, True) for n in range(1, 10)
    ] + [(1, None, None)]
    assert len(played.waits) == 10
    for unnamed in (None, 0, 100, 999):
        spinning = probe(
            ONE,
            *[fails("rate_limited", retry_after_ms=unnamed)] * 6,
            fallback={"attempts_at_last": 6},
        )
        assert isinstance(spinning.output, AskFailed)
        assert fallbacks(spinning)[0][-1] == "fallback.exhausted"


def test_a_model_that_rests_gives_way_to_another() -> None:
    """Where another model can answer, a rest is waited for no more often than there are
    attempts.
    """
    played = probe(
        TWO,
        *[fails("overloaded", retry_after_ms=1000)] * 2,
        ANSWER,
        fallback={"attempts_per_profile": 2},
    )
    assert isinstance(played.output, ModelAnswer)
    assert asked(played) == ["a", "a", "b"]


def test_what_never_went_out_is_no_attempt() -> None:
    """A model that is left alone is waited for, longer each time, as often as the time allows; then
    it has all its attempts.
    """
    played = probe(ONE, *[HELD] * 8, fails("overloaded"), HELD, ANSWER)
    assert isinstance(played.output, ModelAnswer)
    assert played.spent.model_calls == 2
    (reasons, facts), waits = fallbacks(played), [wait.deadline for wait in played.waits]
    assert [reason for reason in reasons if reason != "fallback.held"] == ["fallback.retry"]
    assert [one.get("held") for one in facts] == [*range(1, 9), None, 1]
    assert [one["attempts"] for one in facts] == [*[0] * 8, 1, 1]
    assert waits == sorted(waits)


def fallbacks(played: Played[Any]) -> tuple[list[str], list[dict[str, Any]]]:
    """The decisions of rule ``fallback``: reasons and facts."""
    made = [decision for decision in played.decisions if decision.rule == "fallback"]
    return [decision.reason for decision in made], [dict(decision.facts) for decision in made]


def test_where_there_is_another_the_wait_is_bounded_in_all() -> None:
    """Short waits again and again come to a long one: then the next profile's turn is there, with
    its own waits and attempts.
    """
    policy = {"fallback": {"wait_max_ms": 2500}}
    played = probe(TWO, HELD, HELD, HELD, HELD, fails("overloaded"), ANSWER, **policy)
    assert asked(played) == ["a", "a", "a", "b", "b", "b"]
    assert [one.get("waited_ms") for one in fallbacks(played)[1]] == [0, 1000, 2000, 0, None]


def test_a_wait_beyond_the_time_is_none() -> None:
    """Nothing is waited for that comes after the run's end."""
    played = probe(ONE, apart(ModelErrorCode.RATE_LIMITED, 10**9))
    assert played.output.code == "rate_limited"
    assert fallbacks(played)[0] == ["fallback.no_time"]


def test_what_was_lost_has_a_bound_of_its_own() -> None:
    """Beside every attempt, over all profiles of the question; the next loss is the end."""
    lost = apart(ModelErrorCode.LOST)
    played = probe(ONE, lost, lost, fails("overloaded"), lost, ANSWER)
    assert isinstance(played.output, ModelAnswer)
    assert fallbacks(played)[0] == [
        "fallback.lost",
        "fallback.lost",
        "fallback.retry",
        "fallback.lost",
    ]
    played = probe(TWO, *[lost] * 6)
    assert (played.output.code, fallbacks(played)[0]) == (
        "lost",
        [*["fallback.lost"] * 5, "fallback.lost_too_often"],
    )
    assert len(probe(TWO, *[lost] * 1, fallback={"max_lost": 0}).model_calls) == 1


def test_what_earlier_builds_recorded_counts_as_it_did() -> None:
    """They did not tell what never went out: two of them were two attempts."""
    held, lost = (
        msgspec.structs.replace(failed, apart=False)
        for failed in (HELD, apart(ModelErrorCode.LOST))
    )
    for failed in (held, lost):
        played = probe(ONE, failed, failed, fallback={"attempts_at_last": 0})
        assert isinstance(played.output, AskFailed)
        assert fallbacks(played)[0] == ["fallback.retry", "fallback.exhausted"]
        assert all(not {"held", "waited_ms", "lost"} & one.keys() for one in fallbacks(played)[1])


@given(st.sampled_from(sorted(ModelErrorCode)), st.integers(1, 4))
def test_whatever_fails_ends(code: str, attempts: int) -> None:
    """Any error again and again comes to an end within policy's attempts, and nothing is asked
    beyond.
    """

    def failing(effect: Any) -> Any:
        return fails(code) if isinstance(effect, ModelCall) else None

    effects = ScriptedEffects(
        kind_of(_probe, prompts=(PROMPT,)), TWO, policy={"fallback": {"attempts_total": attempts}}
    )
    played = effects.play("hello", failing)
    assert isinstance(played.output, AskFailed)
    assert 1 <= len(played.model_calls) <= attempts
    assert played.replayed().equal


# --- hedged ---------------------------------------------------------------------------------------

HEDGING = {"fallback": {"hedge_ms": {"local": 500}}}
BESIDE = Beside(profile="b", provider="scripted", model="b", code="abandoned")


def test_one_that_is_held_back_as_the_first_of_two_is_asked_alone() -> None:
    """The wait is the first's; then it is asked like any other, and what it comes to is its first
    attempt.
    """
    played = probe(TWO, HELD, ANSWER, **HEDGING)
    assert [(call.profile, call.hedge) for call in played.model_calls] == [("a", "b"), ("a", "")]


def test_of_two_beside_each_other_the_one_that_was_held_back_has_its_attempts() -> None:
    """The other one's count; each is judged in its turn."""
    both = msgspec.structs.replace(
        HELD,
        model="b",
        profile="b",
        beside=Beside(profile="a", provider="scripted", model="a", code="not_found"),
    )
    played = probe(TWO, both, fails("overloaded"), ANSWER, **HEDGING)
    assert asked(played) == ["a", "b", "b"]
    assert [one["attempts"] for one in fallbacks(played)[1]] == [1, 0, 1]


def test_a_second_model_is_asked_beside() -> None:
    """The call names it and its own bounds, and both are reserved for."""
    answer = ModelAnswer(
        content="{}",
        provider="scripted",
        model="a",
        input_tokens=20,
        output_tokens=5,
        prompt_digest="",
        beside=BESIDE,
    )
    played = probe(TWO, answer, **HEDGING)
    (call,) = played.model_calls
    assert (call.hedge, call.hedge_ms, call.hedge_max_tokens) == ("b", 500, 50)
    assert played.decided("reserve")[0].facts["tokens"] == 500


def test_it_is_not_where_the_budget_does_not_cover_both() -> None:
    """One call is better than none."""
    played = probe(TWO, ANSWER, **HEDGING, budget={"run_tokens": 300})
    assert played.model_calls[0].hedge == ""


def test_where_both_fail_each_is_judged_in_its_turn() -> None:
    """The first one's failure goes on to the second, which has failed already."""
    both = ModelFailed(
        code=ModelErrorCode.NOT_FOUND,
        message="",
        provider="scripted",
        model="b",
        profile="b",
        beside=Beside(profile="a", provider="scripted", model="a", code="not_found"),
    )
    played = probe(TWO, both, ANSWER, **HEDGING, lanes={"next_lane": {"local": "brain"}})
    assert asked(played) == ["a", "c"]
    assert len(played.decided("fallback")) == 2


@pytest.mark.parametrize(("in_flight", "booked"), [(False, 0), (True, 250)])
def test_an_interrupt_books_what_was_in_flight(in_flight: bool, booked: int) -> None:
    """A call that is given up is booked at its bound, one that was not made at nothing."""
    played = probe(ONE, interrupt(in_flight=in_flight))
    assert played.spent.tokens == booked
