"""``ask`` in an outage: whoever is held back comes again when its turn does, a lane that was left
alone is asked again from its first model on, and no wait of ours uses up a run.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.effects.results import AwaitedTurn, ModelAnswer, ModelFailed
from ordain.flows.ask import AskFailed
from ordain.rules.fallback import LaneAgain, RetryProfile
from ordain.testing import Played, ScriptError, fails
from tests.unit.flows.house import lanes
from tests.unit.flows.test_ask import ANSWER, ONE, TWO, asked, fallbacks, probe

OPEN, CONNECTION = ModelErrorCode.CIRCUIT_OPEN, ModelErrorCode.CONNECTION


def held(
    turn: AwaitedTurn,
    ms: int,
    *,
    code: ModelErrorCode = OPEN,
    known: bool = True,
    unanswered: bool = False,
) -> ModelFailed:
    """Held back as this build says it."""
    return ModelFailed(
        code=code,
        message="left alone",
        provider="scripted",
        model="m",
        retry_after_ms=ms or None,
        live=False,
        apart=True,
        known=known,
        unanswered=unanswered,
        turn=turn,
    )


def refused(*, known: bool = True) -> ModelFailed:
    """No connection could be made, and nobody is kept from trying."""
    return held("", 0, code=CONNECTION, known=known, unanswered=not known)


def waits_ms(played: Played[Any]) -> list[int]:
    """How long each wait was."""
    return [
        decision.outcome.wait_ms
        for decision in played.decisions
        if isinstance(decision.outcome, RetryProfile | LaneAgain)
    ]


def given_up(catalog: Catalog, failing: ModelFailed, **policy: Any) -> Played[Any]:
    """What becomes of a question that fails so each time, however often that is."""
    for times in range(1, 100):
        with suppress(ScriptError):
            played = probe(catalog, *[failing] * times, **policy)
            if isinstance(played.output, AskFailed):
                return played
    raise AssertionError("nobody gives up")


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=8))
def test_a_turn_is_waited_for_and_no_longer(turns: list[int]) -> None:
    """However often it did not come: who is away when it does would not find out that the endpoint
    answers.
    """
    played = probe(ONE, *[held("rest", ms) for ms in turns], ANSWER)
    assert isinstance(played.output, ModelAnswer)
    assert waits_ms(played) == turns
    assert set(fallbacks(played)[0]) == {"fallback.held"}


def test_what_somebody_is_finding_out_is_waited_for_within_the_time() -> None:
    """Of what is left no more than half at once."""
    played = probe(ONE, *[held("probe", 10**9)] * 3, ANSWER)
    assert isinstance(played.output, ModelAnswer)
    left = [one["left_ms"] for one in fallbacks(played)[1]]
    assert waits_ms(played) == [ms // 2 for ms in left]


def test_turns_make_no_wait_grow() -> None:
    """A connection that fails after many turns is the first in a row."""
    played = probe(ONE, *[held("rest", 10)] * 12, refused(), refused(), ANSWER)
    assert waits_ms(played)[-2:] == [200, 400]
    assert [one["held"] for one in fallbacks(played)[1]][-2:] == [1, 2]


def test_a_lane_that_was_left_alone_is_asked_again_from_its_first_model_on() -> None:
    """In an outage of everything; the first one has answered before, so the second one, which never
    was asked, is not taken for one that does not exist.
    """
    never = {"known": False, "unanswered": True}
    cycle = (held("rest", 5000), held("rest", 900, **never))
    played = probe(TWO, *cycle * 4, held("probe", 200), ANSWER, fallback={"wait_max_ms": 1000})
    assert isinstance(played.output, ModelAnswer)
    assert asked(played)[:4] == ["a", "b", "a", "b"]
    reasons, facts = fallbacks(played)
    assert reasons.count("fallback.lane_again") == 4
    assert not any(one.get("unanswered") for one in facts)
    assert all("before" in one for one in facts if one["profiles_left"] == 0)


def test_a_model_that_has_had_its_attempts_is_not_gone_back_to() -> None:
    """It failed, and was not left alone."""
    played = probe(TWO, *[fails("overloaded")] * 2, held("rest", 10), held("rest", 20), ANSWER)
    assert asked(played) == ["a", "a", "b", "b", "b"]


def test_where_nobody_has_ever_answered_the_bound_is_as_it_was() -> None:
    """Two models at wrong addresses: the last one is waited for so long, and then it is said why."""
    never = refused(known=False)
    played = given_up(TWO, never, fallback={"unanswered_max_ms": 3000})
    assert fallbacks(played)[0][-1] == "fallback.unanswered"
    assert not any("before" in one for one in fallbacks(played)[1])


@pytest.mark.parametrize(("ms", "waits"), [(3, True), (1000, True), (1001, False), (5000, False)])
def test_a_turn_that_is_about_to_come_is_not_missed(ms: int, waits: bool) -> None:
    """Of a model that has never answered: policy's wait is over, and the next try stands before the
    door.
    """
    never: dict[str, Any] = {"known": False, "unanswered": True}
    script = [held("rest", 5000, **never)] * 2 + [held("rest", ms, **never)]
    script += [ANSWER] * waits  # type: ignore[list-item] - what comes then
    played = probe(ONE, *script, fallback={"unanswered_max_ms": 10_000})
    assert isinstance(played.output, ModelAnswer) is waits
    assert (fallbacks(played)[0][-1] == "fallback.unanswered") is not waits


def test_a_turn_that_comes_again_and_again_has_its_bound() -> None:
    """Twice policy's wait, and no more."""
    never = held("probe", 500, known=False, unanswered=True)
    played = given_up(ONE, never, fallback={"unanswered_max_ms": 3000})
    assert fallbacks(played)[0][-1] == "fallback.unanswered"
    assert 6000 <= sum(waits_ms(played)) <= 6500


THREE = lanes(local=["a", "b", "c"])


@pytest.mark.parametrize("code", ["authentication", "quota_exceeded", "overloaded"])
def test_what_has_failed_by_itself_is_not_asked_in_each_round(code: str) -> None:
    """The lane is gone back in to those that were only left alone, and to nobody else."""
    spent = [fails(code)] * (2 if code == "overloaded" else 1)
    away = (held("rest", 60_000), held("rest", 1000))
    script = [away[0], *spent, *[away[1], away[0]] * 4, ANSWER]
    played = probe(THREE, *script, fallback={"attempts_per_profile": 2, "wait_max_ms": 500})
    assert isinstance(played.output, ModelAnswer)
    assert asked(played)[len(spent) + 1 :] == ["c", "a"] * 4 + ["c"]


def test_the_lane_is_gone_back_in_as_soon_as_one_of_it_may_be_asked() -> None:
    """However long the last one is to be left alone, and also where that has failed for good."""
    near, far = held("rest", 6000), held("rest", 60_000)
    for last in (far, fails("authentication")):
        played = probe(TWO, near, last, ANSWER, fallback={"wait_max_ms": 500})
        assert isinstance(played.output, ModelAnswer)
        assert asked(played) == ["a", "b", "a"]
        assert waits_ms(played) == [6000]


def test_a_model_at_a_wrong_address_is_not_gone_back_to() -> None:
    """It has never answered; the last one has, and is waited for alone."""
    never = refused(known=False)
    played = probe(
        TWO, never, never, *[held("rest", 1000)] * 5, ANSWER, fallback={"attempts_per_profile": 2}
    )
    assert asked(played) == ["a", "a", *"b" * 6]


def test_what_one_lane_knew_says_nothing_of_the_next() -> None:
    """Its only model was never there: so it is told, in its time."""
    policy = {
        "lanes": {"next_lane": {"local": "brain"}},
        "fallback": {"unanswered_max_ms": 1000, "wait_max_ms": 500, "attempts_per_profile": 2},
    }
    for times in range(1, 60):
        script = [held("rest", 9000), held("rest", 9000), *[refused(known=False)] * times]
        with suppress(ScriptError):
            played = probe(TWO, *script, **policy)
            break
    assert fallbacks(played)[0][-1] == "fallback.unanswered"
