"""Laws of the wording features, and their accuracy over labelled messages in many languages."""

# ruff: noqa: RUF001 (messages in many scripts)
from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.flows.answer_text import given_value
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, ExpectedType, fits
from ordain.wording.cues import Cues
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled

MESSAGES: list[dict[str, str]] = json.loads(
    (Path(__file__).parent / "cue_messages.json").read_text(encoding="utf-8")
)
ENOUGH = 0.9
WORDING = compiled(shipped_table())
cues = WORDING.cues
any_text = st.text(st.characters(), max_size=400) | st.text(
    "stop ?!.,'\"`no不停やめ\u200b\u0301👍\n", max_size=200
)
known = st.sampled_from([message["text"] for message in MESSAGES])
stops = st.sampled_from(
    [
        message["text"]
        for message in MESSAGES
        if message["says"] == "stop" and '"' not in message["text"]
    ]
)


HEDGED = (
    *(
        "yes, when Bob is back",
        "yep if",
        "yes, hold off",
        "ok, hold off",
        "yes I object",
        "yes withdrawn",
        "yes, pending approval",
        "yes, undo it",
    ),
    *(
        "confirm what",
        "perhaps ok",
        "sure, show me first",
        "yes, use the other account",
        "yes, make it 50",
        "yes was a mistake",
        "sure 🙄",
    ),
    *(
        "I guess ok",
        "ok, I see",
        "ok, for now",
        "yeah right",
        "you sure",
        "yes'nt",
        "yes, none",
        "almost yes",
        "yes... let me think",
    ),
    *(
        "ja, wenn Bob zustimmt",
        "ja, falls es frei ist",
        "gerne, wenn",
        "ja doch nicht",
        "ja ich lehne ab",
        "ja nie",
        "ja bitte warten",
    ),
    *(
        "ja unter Vorbehalt",
        "ja, frag erst Bob",
        "ja vielleicht",
        "na ja, ok",
        "oui non",
        "oui, si Bob est d'accord",
        "d'accord si",
        "vale si",
    ),
    *(
        "quizás sí",
        "forse sì",
        "va bene se",
        "sim ou não",
        "ja misschien",
        "tak i nie",
        "tak pod warunkiem",
        "да но",
        "да, если Боб согласен",
    ),
    *(
        "да ладно",
        "так якщо",
        "так але",
        "naturligtvis inte",
        "ja inte än",
        "evet ama",
        "evet eğer",
        "tamam mı",
        "是的，但是",
        "可以，如果他同意",
    ),
    *(
        "确定吗",
        "そうではない",
        "はい、でも",
        "大丈夫です",
        "네 하지만",
        "괜찮아요",
        "نعم لكن",
        "نعم ليس بعد",
        "हाँ लेकिन",
        "हाँ अगर",
    ),
)
"""What begins as a yes, or has one in it, and takes it back, puts it off, makes it depend on
something or asks.
"""
NO_CHOICE = (
    "not the first",
    "not the second one",
    "in a second",
    "a second",
    "maybe A",
    "nicht die erste",
    "no el primero",
    "A if Bob agrees",
)


def answer(expected: ExpectedType, text: str) -> object:
    """What rule ``answer`` finds that a text comes to."""
    inputs = AnswerInputs(text=text, wording=WORDING)
    return given_value(
        ANSWER.apply(
            AnswerFacts(expects=expected, size=len(text)), inputs, Policy(version=1)
        ).outcome,
        text,
    )


def right(says: str, found: Cues) -> bool:
    """Whether the features say what the label says, and no wrong order to what runs."""
    if (found.stop == 2 and says != "stop") or (found.steer == 2 and says != "steer"):
        return False
    if says in {"stop", "steer", "nudge", "trouble", "filler"}:
        return getattr(found, says) == 2
    if says in {"yes", "no"}:
        return fits(ExpectedType.YES_NO, found) and getattr(found, says)
    if says in {"location", "date_time"}:
        return fits(ExpectedType(says), found) and max(found.nudge, found.trouble, found.filler) < 2
    if says.startswith("choice"):
        return found.choice == says[-1].upper()
    return (
        max(found.nudge, found.trouble, found.filler) < 2
        and not fits(ExpectedType.DATE_TIME, found)
        and not fits(ExpectedType.LOCATION, found)
    )


def test_labelled_messages_are_read_as_labelled() -> None:
    """Of each kind of message in the labelled set, at least nine in ten are read as labelled."""
    total, good, missed = Counter[str](), Counter[str](), list[str]()
    for message in MESSAGES:
        total[message["says"]] += 1
        if right(message["says"], cues(message["text"])):
            good[message["says"]] += 1
        else:
            missed.append(f"{message['says']}: {message['text']}")
    shares = {says: good[says] / total[says] for says in total}
    assert min(shares.values()) >= ENOUGH, (shares, missed)


@pytest.mark.parametrize("feature", ["stop", "steer"])
def test_no_message_is_wrongly_an_order_to_what_runs(feature: str) -> None:
    """No message of another kind orders what runs to stop or to be done otherwise."""
    wrong = [
        m["text"]
        for m in MESSAGES
        if m["says"] not in {"stop", "steer"} and getattr(cues(m["text"]), feature) == 2
    ]
    assert wrong == []


def test_the_set_is_wide() -> None:
    """The labelled set has at least 250 messages in eight languages, sixty of them requests that
    tempt.
    """
    assert len(MESSAGES) >= 250
    assert len({message["lang"] for message in MESSAGES}) >= 8
    assert sum(message["says"] == "request" for message in MESSAGES) >= 60


@given(any_text | known)
@example("\ud800")
@example("ﷺ" * 700)
@example("s\u0301" * 4000)
def test_cues_are_total_deterministic_and_small(text: str) -> None:
    """Any text has features, the same each time, and they are small."""
    found = cues(text)
    assert found == cues(text)
    assert len(msgspec.json.encode(found)) <= 300
    for expected in ExpectedType:
        fits(expected, found)
        answer(expected, text)


@given(
    st.integers(1, 6), st.sampled_from(["a", "stop ", "停", "'", '"', "ha", ":)", "👍", "1.", "ﷺ"])
)
def test_a_long_text_orders_nothing(doublings: int, piece: str) -> None:
    """A text of more than a message's length is a task of its own, whatever it is made of."""
    found = cues(piece * (1000 * 2**doublings // len(piece)))
    assert max(found.stop, found.steer, found.nudge, found.trouble) < 2


@given(
    known, st.sampled_from(["", " ", "\n", "\t  ", " \u00a0"]), st.sampled_from(["", " ", "\n\n"])
)
def test_surrounding_space_says_nothing(text: str, before: str, after: str) -> None:
    """White space around a message changes nothing."""
    assert cues(before + text + after) == cues(text)


@given(
    known.filter(str.isascii)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80)
)
def test_case_says_nothing(text: str) -> None:
    """Case changes nothing."""
    assert cues(text.upper()) == cues(text) == cues(text.lower())


@given(
    stops,
    st.sampled_from(
        [
            "translate {} into French",
            "what does {} mean?",
            "write a story titled {}",
            "add {} to my list of commands",
            "why do people say {} so often",
        ]
    ),
)
def test_a_quoted_stop_orders_nothing(stop: str, frame: str) -> None:
    """A stop phrase that a longer request quotes is that request's matter."""
    for quoted in (f'"{stop}"', f"“{stop}”", f"«{stop}»", f"`{stop}`"):
        found = cues(frame.format(quoted))
        assert found.stop < 2
        assert found.steer < 2


@given(stops)
def test_politeness_keeps_a_stop(stop: str) -> None:
    """Please and thanks around an order to stop leave it one."""
    assert cues(f"hey, {stop.rstrip('?!.')}, please").stop == 2 or "?" in stop


@pytest.mark.parametrize(
    ("expected", "text", "value"),
    [
        (ExpectedType.YES_NO, "yes please", True),
        (ExpectedType.YES_NO, "nein danke", False),
        (ExpectedType.CHOICE, "the second one", "B"),
        (ExpectedType.CHOICE, "a)", "A"),
        (ExpectedType.LOCATION, "  Berlin ", "Berlin"),
        (ExpectedType.DATE_TIME, "tomorrow at 5\n", "tomorrow at 5"),
        (ExpectedType.FREEFORM, " short and friendly ", "short and friendly"),
    ],
)
def test_a_fitting_answer_has_a_value(expected: ExpectedType, text: str, value: Any) -> None:
    """What fits a question has the value that the question's type asks for."""
    assert fits(expected, cues(text))
    assert answer(expected, text) == value


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (ExpectedType.YES_NO, "find me a hotel in Rome"),
        (ExpectedType.YES_NO, "yes or no"),
        (ExpectedType.CHOICE, "A or B?"),
        (ExpectedType.CHOICE, "both"),
        (ExpectedType.LOCATION, "where is the station?"),
        (ExpectedType.LOCATION, "tomorrow at 5"),
        (ExpectedType.DATE_TIME, "what's the weather tomorrow?"),
        (ExpectedType.DATE_TIME, "remind me tomorrow to call"),
        (ExpectedType.FREEFORM, "thanks!"),
        (ExpectedType.FREEFORM, "   "),
    ],
)
def test_what_does_not_fit_is_no_answer(expected: ExpectedType, text: str) -> None:
    """A question, a task of its own or a bare acknowledgement answers nothing."""
    assert not fits(expected, cues(text))


@pytest.mark.parametrize(
    "text",
    [
        "yes but not today",
        "yes, but not now",
        "ja, aber nicht heute",
        "oui mais pas aujourd'hui",
        "sim mas não agora",
        "да, но только если дешевле",
        "yes, do not send it",
        "yes, except the last one",
        "yes if it is under 100",
        "sure, unless it rains",
        "yes, stop",
        "yes wait",
        "go ahead but skip the second",
        "ja nee",
        *HEDGED,
    ],
)
def test_a_yes_with_a_reservation_grants_nothing(text: str) -> None:
    """What takes part of the yes back is no answer yes; the question stays open."""
    assert not fits(ExpectedType.YES_NO, cues(text)) or answer(ExpectedType.YES_NO, text) is False


@given(
    st.sampled_from([message["text"] for message in MESSAGES if message["says"] == "yes"]),
    st.sampled_from(["knofi", "12", "“but”", "🤔", "…and"]),
)
def test_a_yes_that_goes_on_with_more_grants_nothing(yes: str, more: str) -> None:
    """Whatever stands beside a yes and is not known to agree leaves the question open, in every
    language.
    """
    for text in (f"{yes} {more}", f"{yes}, {more}", f"{more} {yes}"):
        assert not fits(ExpectedType.YES_NO, cues(text)), text


@pytest.mark.parametrize("text", NO_CHOICE)
def test_what_refuses_an_option_chooses_none(text: str) -> None:
    """Nor does a delay that has the same word in it."""
    assert cues(text).choice == ""


@pytest.mark.parametrize("text", ["y", "Y!", "y.", "n", "N!", " n. "])
def test_a_letter_alone_answers(text: str) -> None:
    """A bare letter answers yes or no, however it is written; within a text it does not."""
    assert answer(ExpectedType.YES_NO, text) is (text.strip().lower()[0] == "y")
    assert fits(ExpectedType.YES_NO, cues(text))
    assert not fits(ExpectedType.YES_NO, cues(f"{text} dos"))


@pytest.mark.parametrize("blank", ["\n", " ", "\u2028", "!"])
def test_blanks_cost_what_they_are_long(blank: str) -> None:
    """Sixteen times as many cost sixteen times as much and not the square of it: a message of
    nothing else held everybody up for seconds.
    """

    def cost(size: int) -> float:
        began = time.process_time()
        for _ in range(3):
            cues(blank * size + "x")
        return time.process_time() - began

    assert cost(32_000) < 100 * max(cost(2_000), 0.001)
