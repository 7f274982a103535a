"""What people see of the words in an answer's JSON: without thoughts, and nothing where nothing is
seen.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.visible import shows_nothing
from ordain.rules.proposals import Parsed, parse_object
from ordain.rules.seen_words import seen_words, with_seen_words

PLACES = ("final_answer.content", "notes", "steps.*.reason")
THOUGHTS = (
    "<think>They must not know.</think>",
    "<thinking>Hm.</thinking>\n\n",
    "Hm, it is their first question.</think>",
    "◁think▷Hm.◁/think▷",
    "[THINK]Hm.[/THINK]",
    "<reasoning>a<think>b</think>c</reasoning> ",
)
UNSEEN = (
    "\u200b",
    "\u200b\u200c\u200d\u2060",
    "\ufeff",
    "\u3164",
    "\u2800",
    "\u00ad\u034f",
    "\U000e0041",
    " \t\n",
    "\u202e\u202c",
    "\x00",
    "\ufe0f",
    "",
)
OBJECTS = st.dictionaries(
    st.sampled_from(["notes", "final_answer", "steps", "other"]),
    st.recursive(
        st.none() | st.integers(-9, 9) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["content", "reason", "x"]), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def read(answer: str) -> dict[str, Any]:
    parsed = parse_object(answer)
    assert isinstance(parsed, Parsed)
    return parsed.value


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("thought", THOUGHTS)
def test_a_thought_within_a_text_is_no_word_of_it(thought: str, *, escaped: bool) -> None:
    """At each of its places, however the mark is written, and what stands around the object stays:
    data that looks alike is left alone.
    """
    value = {
        "final_answer": {
            "content": f"{thought}It is 42.",
            "structured": {"page": f"{thought}kept"},
        },
        "notes": f"{thought}Done.",
        "steps": [{"reason": f"{thought}So."}, {"reason": "So, too."}],
        "input": f"{thought}kept",
    }
    text = json.dumps(value, ensure_ascii=escaped)
    text = text.replace("<", "\\u003c") if escaped else text
    answer = with_seen_words(f"Here: {text} That is all.", PLACES)
    assert answer.startswith("Here: {")
    assert answer.endswith("} That is all.")
    assert read(answer) == {
        "final_answer": {"content": "It is 42.", "structured": {"page": f"{thought}kept"}},
        "notes": "Done.",
        "steps": [{"reason": "So."}, {"reason": "So, too."}],
        "input": f"{thought}kept",
    }


@pytest.mark.parametrize(
    "unseen",
    [
        *UNSEEN,
        "<think>All of it is thought.",
        "<think>So is this.</think>",
        "<think>x</think>\u200b",
    ],
)
def test_what_nobody_sees_is_an_empty_text(unseen: str) -> None:
    """Zero width, blank, of no ink, or all of it a thought, closed or not: such a text says
    nothing.
    """
    assert seen_words(unseen) == ""
    if unseen.strip(" \t\n\x00"):
        assert read(with_seen_words(json.dumps({"notes": unseen}, ensure_ascii=False), PLACES)) == {
            "notes": ""
        }


@pytest.mark.parametrize(
    "seen",
    [
        "a",
        "\u200ba",
        "می\u200cخواهم",  # noqa: RUF001 - other scripts
        "👩\u200d👩",
        "·",
        "\u0603",
        "é",
        "。",
        "ー",
        "\ufffd",
        "\u0301",
    ],
)
def test_what_is_seen_stays_to_the_character(seen: str) -> None:
    """What shows nothing beside something that shows stays where it is."""
    assert not shows_nothing(seen)
    assert seen_words(seen) == seen


@given(OBJECTS, st.booleans(), st.sampled_from(["", "Here: ", "```json\n"]))
def test_all_but_the_words_at_the_places_is_what_it_was(
    value: dict[str, Any], escaped: bool, before: str
) -> None:
    """The words are what is seen of them, blanks that need no sign apart; once is enough; and an
    answer whose words are all seen stays to the byte.
    """
    text = before + json.dumps(value, ensure_ascii=escaped)
    answer = with_seen_words(text, PLACES)
    assert with_seen_words(answer, PLACES) == answer
    found, words = read(answer), value.get("notes")
    assert found.get("other") == value.get("other")
    if isinstance(words, str):
        assert found["notes"].strip() == seen_words(words).strip()
    if found == value:
        assert answer == text


@given(st.text(alphabet='{}[]":,\\u0dD8<think>/a \n\u200b', max_size=60) | st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    """What no object can be read from stays as it is, so that whoever judges it gives the reason
    that it gave.
    """
    answer = with_seen_words(text, PLACES)
    if not isinstance(parse_object(text), Parsed):
        assert answer == text
