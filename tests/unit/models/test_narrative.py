"""The text that may be shown while an answer is being written."""

import gc
import json
import weakref
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.profiles import ModelProfile
from ordain.models.narrative import WHOLE, Narrative, early_text, place_of
from ordain.ports.model import ModelRequest
from ordain.rules.proposals import Parsed, parse_object, read_text
from ordain.rules.thought_tags import WordsApart, spoken

PLACES = ["content", "final_answer.content", "a.b.c", 'q"\\ü😀']
KEYS = st.sampled_from(
    [
        "content",
        "final_answer",
        "contents",
        "conten",
        "thought",
        "a",
        "b",
        "c",
        "",
        'q"\\ü😀',
        "x" * 50,
    ]
) | st.text(max_size=8)
TEXTS = st.text(max_size=30) | st.sampled_from(
    ['"content": "no"', '{}[],:\\"', "😀\u2028\x00\x7f\n", "\\u0041", "\\"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)


def at_place(value: Any, place: str) -> str:
    for key in place.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def chunked(text: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def read(place: str, *fragments: str) -> str:
    narrative = Narrative(place)
    return "".join(narrative.feed(fragment) for fragment in fragments)


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, dict[str, Any], str]:
    place = draw(st.sampled_from(PLACES))
    value = draw(OBJECTS)
    if draw(st.booleans()):  # put something at the place
        inner = value
        *above, last = place.split(".")
        for key in above:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                inner = {}
        inner[last] = draw(TEXTS | VALUES)
    encoded = json.dumps(
        value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 2]))
    )
    before = draw(
        st.sampled_from(
            ["", "  ", "\ufeff", "Here it is:\n", "```json\n", 'The "content": "x" is: ']
        )
    )
    return before + encoded + draw(st.sampled_from(["", "\n```", " So be it."])), value, place


@given(answers(), st.lists(st.integers(0, 5000), max_size=12) | st.just(list(range(5000))))
def test_the_pieces_are_the_value_at_the_place(
    answer: tuple[str, dict[str, Any], str], cuts: list[int]
) -> None:
    """For any object and any chunking the pieces make the string at the place, or nothing where
    there is none.
    """
    text, value, place = answer
    assert read(place, *chunked(text, cuts)) == at_place(value, place)


@given(answers(), st.integers(0, 5000))
def test_a_prefix_of_the_answer_gives_a_prefix_of_the_text(
    answer: tuple[str, dict[str, Any], str], end: int
) -> None:
    """Nothing is given out early that would have to be taken back."""
    text, value, place = answer
    assert at_place(value, place).startswith(read(place, text[:end]))


@given(
    st.text(alphabet='{}[]":,\\u0dD8eEfn ac\n\ud83d', max_size=60) | st.text(max_size=60),
    st.lists(st.integers(0, 100), max_size=8),
)
def test_anything_is_read_the_same_however_it_is_cut(text: str, cuts: list[int]) -> None:
    """No text raises, the chunking changes nothing, and what is given out can always be encoded."""
    for place in ("a", "ac.a", ""):
        whole = read(place, text)
        assert read(place, *chunked(text, cuts)) == whole
        whole.encode()


@given(st.text(alphabet='{}[]":,\\u0dD8a ', max_size=40).map(lambda end: '{"a": "x' + end))
def test_what_a_rule_can_read_agrees(text: str) -> None:
    """Wherever the whole answer is one object, its value and the text that was shown are the
    same.
    """
    parsed = parse_object(text)
    if isinstance(parsed, Parsed):
        assert read("a", text) == at_place(parsed.value, "a")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"content": "a\\n\\u00e9\\ud83d\\ude00\\/"}', "a\né😀/"),
        ('{"c\\u006fntent": "an escaped key"}', "an escaped key"),
        ('{"content": "half \\ud83d', "half "),
        ('{"content": "half \\ud83d more"}', "half "),
        ('{"content": "half \\ude00 more"}', "half "),
        ('{"content": "bad \\x more"}', "bad "),
        ('{"content": "bad \\u12g4 more"}', "bad "),
        ('{"content": "a bare\nbreak"}', "a bare"),
        ('{"content": "first", "content": "second"}', "first"),
        ('{"thought": {"content": "not at the top"}, "content": "at the top"}', "at the top"),
        ('{"thought": "\\"content\\": \\"no\\"", "content": "yes"}', "yes"),
        ('{"content": ["no"]}', ""),
        ('{"content": {"content": "no"}}', ""),
        ('{"other": 1} {"content": "a second object"}', ""),
        ('[{"content": "within a list"}]', ""),
        ('"{\\"content\\": \\"a quoted object\\"}"', ""),
        ('{content: "no key"}', ""),
        ('{"content" "no colon"}', ""),
        ('{"content": "<think>\\"Hm.\\"</think>It is 42."}', "It is 42."),
        ('{"content": "\\u003cthink>Hm.</think>\\n\\nIt is 42.", "x": 1}', "It is 42."),
        ('{"content": "<think>Never closed."}', ""),
        ('{"content": "a < b, and <"}', "a < b, and <"),
        ("", ""),
        ("prose only", ""),
    ],
)
def test_examples(text: str, shown: str) -> None:
    """Escapes are resolved, only the exact place counts, and a broken answer shows nothing beyond
    its fault.
    """
    assert read("content", text) == shown
    assert read("content", *text) == shown


def test_a_value_is_shown_while_it_grows() -> None:
    """Each fragment gives what it adds, and after the string's end nothing is given any more."""
    narrative = Narrative("final_answer.content")
    fragments = [
        '{"thought": "x", "final_answer": {"con',
        'tent": "Go',
        "od \\",
        "n mor\\u00",
        'e9", "structured": "',
        'x"}}',
    ]
    assert [narrative.feed(fragment) for fragment in fragments] == [
        "",
        "Go",
        "od ",
        "\n mor",
        "é",
        "",
    ]


def test_what_is_kept_does_not_grow() -> None:
    """A long key, a long skipped value and a long text leave nothing behind."""
    narrative = Narrative("content")
    for fragment in [
        '{"',
        *["k" * 1000] * 50,
        '": "',
        *["v" * 1000] * 50,
        '", "content": "',
        *["t" * 1000] * 50,
    ]:
        narrative.feed(fragment)
        kept = sum(
            len(value) for value in vars(narrative).values() if isinstance(value, str | list)
        )
        assert kept < 50


def heard(*fragments: str) -> str:
    text = early_text(WHOLE)
    return "".join(text.feed(fragment) for fragment in fragments) + text.rest()


@given(
    st.text(alphabet="ab <>/think\n{}", max_size=30) | st.text(max_size=30),
    st.lists(st.integers(0, 99), max_size=8),
)
def test_of_plain_text_all_is_shown(text: str, cuts: list[int]) -> None:
    """However it is cut, what was shown early is what the answer comes to, unless all of it could
    have become a thought.
    """
    shown, whole = heard(*chunked(text, cuts)), read_text(spoken(text), "content")
    assert shown == heard(text)
    if isinstance(whole, Parsed) and shown:
        assert shown == whole.value["content"]


@pytest.mark.parametrize("tag", ["think", "thinking", "THINK", "Thought"])
@given(cuts=st.lists(st.integers(0, 99), max_size=8))
def test_a_thought_before_the_words_is_not_shown(tag: str, cuts: list[int]) -> None:
    """Neither while it is written nor at its end; what only looks like one in the midst of a text
    is its words.
    """
    text = f"\n <{tag}>It says <b> and </thin and {{}}.</{tag}>\n\nYes, </{tag}> it is <think>.\n"
    assert heard(*chunked(text, cuts)) == f"Yes, </{tag}> it is <think>.\n"
    assert heard(*chunked(f"<{tag}>never ended, and cut off", cuts)) == ""


def test_a_long_thought_takes_as_long_as_it_is() -> None:
    """What is kept of it while it comes is no longer than the tag that ends it."""
    text = WordsApart()
    assert text.feed("<think>") == ""
    for _ in range(50_000):
        assert text.feed("x" * 20) == ""
    assert len(text._kept) < 20
    assert text.feed("</think>Yes.") == "Yes."


def test_only_of_plain_text_all_is_narrative() -> None:
    """Where JSON is asked for the place is the request's, and where nothing may be shown there is
    none.
    """
    values: dict[str, Any] = {
        "purpose": "verb",
        "system": "",
        "user": "",
        "schema_name": "s",
        "inputs": {},
        "index": 0,
    }
    profile = ModelProfile(provider="openai", model="m")
    asked = ModelRequest(
        profile=profile, schema=None, max_tokens=9, timeout_s=1, narrative="content", **values
    )
    assert [
        place_of(one)
        for one in (
            asked,
            structs.replace(asked, schema={}),
            structs.replace(asked, narrative=""),
            structs.replace(asked, schema={}, narrative=""),
        )
    ] == [WHOLE, "content", "", ""]


@pytest.mark.parametrize("head", ["<think>maybe ", "Well. <thin", "<|channel|>analysis<|message|>"])
def test_nothing_of_a_thought_is_shown_early(head: str) -> None:
    """What a thought drafts is no answer and is not shown and taken back; what follows it is shown
    when it is whole.
    """
    follower = Narrative("content")
    rest = (
        'k>{"content": "draft"}</think>{"content": "real"}'
        if head.endswith("<thin")
        else '{"content": "draft"}</think>{"content": "real"}'
    )
    assert follower.feed(head) + follower.feed(rest) == ""


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        (WHOLE, "It is <think>so</think> Wednesday."),
        ("content", '{"content": "It is Wednesday.", "x": [1]}'),
    ],
)
def test_what_followed_an_answer_is_gone_with_it(place: str, answer: str) -> None:
    """Nothing of it is left for the collector of garbage: several stand in each turn."""
    follower = early_text(place)
    gone = weakref.ref(follower)
    was = gc.isenabled()
    gc.disable()
    try:
        follower.feed(answer)
        del follower
        assert gone() is None
    finally:
        if was:
            gc.enable()
