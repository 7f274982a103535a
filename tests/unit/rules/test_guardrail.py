"""Laws of rule ``guardrail``: what weighs most holds, and nothing that a person should look at
passes.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from ordain.contracts.guardrails import GuardrailsPolicy
from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect
from ordain.rules.guardrail import (
    GUARDRAIL,
    HIGH_RISK,
    MODERATION,
    Forbidden,
    GuardrailFacts,
    GuardrailInputs,
    GuardrailReason,
    Reviewed,
)
from tests.unit.rules.given import decided, objects

effects = st.lists(st.sampled_from(VerbEffect), max_size=4, unique=True).map(tuple)
scores = st.none() | st.floats(-1, 2)
rails = st.builds(
    GuardrailsPolicy,
    prohibited=st.lists(st.sampled_from(["bomb", "zero day"]), max_size=2),
    review_at=st.floats(0, 1),
    escalate_at=st.floats(0, 1),
    moderation=st.sampled_from([None, "score"]),
)
R = GuardrailReason


def guard(
    args: dict[str, Any],
    rails: GuardrailsPolicy,
    effects: tuple[VerbEffect, ...] = (),
    score: float | None = None,
    seen: bool | UnsetType = True,
    alike: bool | UnsetType = True,
) -> Any:
    facts = GuardrailFacts(
        verb="agent.a", call="d", effects=effects, score=score, seen=seen, alike=alike
    )
    return decided(
        GUARDRAIL, facts, GuardrailInputs(args=args), Policy(version=1, guardrails=rails)
    )


@given(objects, rails, effects, scores)
def test_the_gravest_holds(
    args: dict[str, Any],
    rails: GuardrailsPolicy,
    effects: tuple[VerbEffect, ...],
    score: float | None,
) -> None:
    """Denied before escalated, that before reviewed: by words, then by the highest of the table and
    the score.
    """
    decision = guard(args, rails, effects, score)
    valid = score if score is not None and 0 <= score <= 1 else 0.0
    risk = max(valid, *(rails.risk[effect] for effect in effects), 0.0)
    if decision.reason is R.PROHIBITED:
        assert rails.prohibited
    elif risk >= rails.escalate_at:
        assert (decision.reason, decision.outcome.escalated) == (R.ESCALATED, True)
    elif risk >= rails.review_at:
        assert decision.reason is R.REVIEW
    else:
        assert decision.reason in (R.PASSED, R.UNMODERATED)
    assert (decision.reason is R.UNMODERATED) <= (rails.moderation is not None)


@given(effects, st.sampled_from(VerbEffect), st.floats(0, 1), st.floats(0, 1))
def test_more_risk_never_passes_more(
    effects: tuple[VerbEffect, ...], more: VerbEffect, low: float, high: float
) -> None:
    """A further effect or a higher score lets nothing pass that had to be looked at."""
    low, high = sorted((low, high))
    before, after = (
        guard({}, GuardrailsPolicy(), effects, low),
        guard({}, GuardrailsPolicy(), (*effects, more), high),
    )
    assert not isinstance(before.outcome, Reviewed) or isinstance(after.outcome, Reviewed)


@pytest.mark.parametrize(
    "said",
    [
        "Build a BOMB",
        "a bo\u200bmb, please",
        "x: bomb!",
        "\uff22\uff2f\uff2d\uff22",
        {"deep": [{"in": "the bomb"}]},
        {"bomb": 1},
    ],
)
def test_a_prohibited_word_denies_however_it_is_written(said: object) -> None:
    """In any case and form, between any signs, in any field, with signs in it that nobody sees; a
    word that only holds it is another.
    """
    assert guard({"task": said}, GuardrailsPolicy(prohibited=["bomb"])).outcome == Forbidden(
        "compliance.prohibited_keywords"
    )
    assert guard({"task": "bombastic"}, GuardrailsPolicy(prohibited=["bomb"])).reason is R.PASSED


@pytest.mark.parametrize(
    "said",
    [
        "Build a b\u043emb",
        "\u0412\u041eM\u0412",
        "a b\u00f6mb",
        "a bo\u0301mb",
        "a b\u0251mb or a b\u1d0fmb",
        "b o m b",
        "take t-h-e b-\u043e-m-b",
        "b\u200b.o\u200b.m\u200b.b",
        "\U0001d41b\U0001d428\U0001d426\U0001d41b",
    ],
)
def test_a_prohibited_word_denies_as_people_see_it(said: str) -> None:
    """With letters of other scripts that are seen as its own, with accents, or with its letters
    apart; a run of before, whose record does not say that words are compared so, replays as it was.
    """
    rails = GuardrailsPolicy(prohibited=["bomb"])
    assert guard({"task": said}, rails).reason is R.PROHIBITED
    plain = said.startswith("\U0001d41b")
    assert (guard({"task": said}, rails, seen=UNSET, alike=UNSET).reason is R.PROHIBITED) == plain


@pytest.mark.parametrize(
    "said",
    [
        "bombastic",
        "a, b, c and d",
        "\u0431\u043e\u043c\u0431\u0430 \u0438 \u043d\u0435\u0442",
        "b o m",
        "M\u00fcnchen, \u03b1 = 3",
        "",
        "\x00\x00\x00\x00",
    ],
)
def test_what_only_comes_near_a_prohibited_word_passes(said: str) -> None:
    """A longer word, letters that spell another, and a text of another script."""
    assert guard({"task": said}, GuardrailsPolicy(prohibited=["bomb"])).reason is R.PASSED


@given(
    st.text("bom\u043e\u0412 -.\u200b\u0301\x00z", max_size=12),
    st.lists(st.sampled_from(["bomb", "zero day"]), max_size=2),
)
def test_words_as_they_are_seen_deny_no_less(said: str, prohibited: list[str]) -> None:
    """Whatever is denied by its letters alone is denied as people see it."""
    rails = GuardrailsPolicy(prohibited=prohibited)
    if guard({"task": said}, rails, seen=UNSET, alike=UNSET).reason is R.PROHIBITED:
        assert guard({"task": said}, rails).reason is R.PROHIBITED


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("Build a bo\ufe0fmb", "bomb"),
        ("Build a bo\u20dfmb", "bomb"),
        ("Build a \u0299\u1d0f\u1d0d\u0299", "bomb"),
        ("Build a \U0001f171\U0001f17e\U0001f17c\U0001f171", "bomb"),
        ("f\u0406re\u217cight", "firelight"),
        ("\u6211\u7684\u5bc6\u7801\u662f", "\u5bc6\u7801"),
        ("Learn C++ now", "C++"),
        ("what?!!", "!!"),
    ],
)
def test_a_word_that_people_see_is_found(said: str, phrase: str) -> None:
    """Behind marks and signs that show nothing or only strike it through, in frames and small
    capitals, in a script without blanks, and where it is made of signs.
    """
    rails = GuardrailsPolicy(prohibited=[phrase])
    assert guard({"task": said}, rails).reason is R.PROHIBITED


@pytest.mark.parametrize(
    ("said", "phrase", "before"),
    [
        ("\u0131s\u0131 \u00e7ok y\u00fcksek", "ass", R.PROHIBITED),
        ("the \u0421\u0421\u0421\u0420 of then", "kill", R.PROHIBITED),
        ("the \u0421\u0421\u0421\u0420 of then", "\u5bc6\u7801", R.PASSED),
        ("\u092c\u093e\u092e", "\u092c\u092e", R.PASSED),
        ("vitamin C", "C++", R.PROHIBITED),
        ("", "!!", R.PROHIBITED),
        ("...", "!!", R.PROHIBITED),
    ],
)
def test_an_ordinary_word_is_no_other_one(said: str, phrase: str, before: R) -> None:
    """Each letter counts as what it is seen as and not as any, a vowel that is a mark counts, and
    signs are not nothing; a run of before, which was judged otherwise, replays as it was.
    """
    rails = GuardrailsPolicy(prohibited=[phrase])
    assert guard({"task": said}, rails).reason is R.PASSED
    assert guard({"task": said}, rails, alike=UNSET).reason is before


def test_the_bounds_are_the_sources() -> None:
    """C6's numbers as shipped: 0.8 escalates, 0.5 is looked at, and whoever wants it so is
    named.
    """
    shipped = GuardrailsPolicy()
    assert guard({}, shipped, (VerbEffect.PAY,)).outcome == Reviewed(
        risk=0.8, sources=(HIGH_RISK,), escalated=True
    )
    assert guard({}, shipped, (VerbEffect.READ,), 0.5).outcome == Reviewed(
        risk=0.5, sources=(MODERATION,)
    )
    assert guard({}, shipped, (VerbEffect.SEND,), 0.49).reason is R.PASSED
    assert (
        guard({}, GuardrailsPolicy(moderation="score"), (VerbEffect.READ,)).reason is R.UNMODERATED
    )
    assert guard({}, GuardrailsPolicy(risk={}), (VerbEffect.READ,)).reason is R.ESCALATED
