"""Laws of thoughts before words: whatever marks a model puts around them, they are told apart alike
while they arrive and in the whole answer.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordain.rules.proposals import Parsed, parse_object, read_text, without_thought
from ordain.rules.thought_tags import (
    WordsApart,
    begins_within_thought,
    canonical,
    spoken,
    without_thoughts,
)

MARKS = [
    "<think>",
    "</think>",
    "<think foo>",
    "<THINKING>",
    "</thinking>",
    "<reasoning>",
    "</reasoning>",
    "◁think▷",
    "◁/think▷",
    "[THINK]",
    "[/THINK]",
    "Hi. ",
]
CHANNELS = [
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|end|>",
    "<|return|>",
    "final",
    "analysis",
    "assistant",
]


def recorded(answer: str) -> str:
    """An answer in words as it is kept."""
    return canonical(answer, spoken(answer))


answers = st.lists(
    st.sampled_from([*MARKS, *CHANNELS, "<", "[", "`", "```", "\n", " ", "Hi", "secret"])
    | st.text(max_size=5),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    "answer",
    [
        "<think>secret\nplan</think>\n\nHi there",
        "secret</think>Hi there",
        "secret\n</think>\n\nHi there",
        "<think>a<think>secret</think>c</think>Hi there",
        "<think>a<think>secret</think>Hi there",
        "<think>a</think><think>secret</think>Hi there",
        "<think foo>secret</think>Hi there",
        '<think effort="high">secret</think>Hi there',
        "<reasoning>secret</reasoning>Hi there",
        "<thoughts>secret</thoughts> Hi there",
        "<seed:think>secret</seed:think>Hi there",
        "◁think▷secret◁/think▷Hi there",
        "[THINK]secret[/THINK]Hi there",
        "<|START_THINKING|>secret<|END_THINKING|>Hi there",
        (
            "<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Hi "
            "there"
        ),
        (
            "<|start|>assistant<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Hi "
            "there<|return|>"
        ),
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_thoughts_are_not_shown(answer: str, keep: bool) -> None:
    """The words are all that is read of the answer as it is recorded, whether thoughts may be kept
    or not.
    """
    assert spoken(answer) == "Hi there"
    read = read_text(recorded(answer) if keep else spoken(answer), "content")
    assert isinstance(read, Parsed)
    assert read.value == {"content": "Hi there"}
    assert not keep or "secret" in recorded(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Hi <think>there</think>.",
        "It is written so: <think>words</think>",
        "- <think>words</think> in a list",
        "```html\n<think>\nx\n</think>\n```\nis how.",
        "In HTML you write `<think>` like so: ```<think>x</think>``` done.",
        "So. `a <think>b</think>` is code.",
        "Close it with `</think>`.",
        "Write “</think>” at the end.",
        "```html\n</think>\n```\nis the end of it.",
        "<thinker>Rodin</thinker>",
        "<b>Bold</b> words",
        "[1] is a footnote",
        "[Think] of it",
        "1 < 2",
        "",
    ],
)
def test_words_stay(answer: str) -> None:
    """A mark among words, in quotes or in code is one of the words, and other markup is none."""
    assert spoken(answer) == answer
    assert recorded(answer) == answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Words. <think>secret</think> More.", "Words. More."),
        ("Words.<think>secret</think>More.", "Words.More."),
        ("Words!\n<think>secret</think>\nMore.", "Words!\nMore."),
        ("Words\n<think>\nsecret\n</think>\n\nMore", "Words\n\nMore"),
        ("**Words.** <think>secret</think>\nMore", "**Words.** \nMore"),
        ("Sure 👍 <reasoning>secret</reasoning> More", "Sure 👍 More"),
        ("Words.\n<think>secret</think>", "Words.\n"),
        ("Words.\n<think>secret, never closed", "Words.\n"),
        ("Words. <think>secret, never closed", "Words. "),
        ("Words.\n<think>a<think>secret</think>b</think>\nMore", "Words.\nMore"),
        (
            "<think>a</think>Words.\n[THINK]secret[/THINK]\n◁think▷secret◁/think▷More",
            "Words.\nMore",
        ),
        ("  Words.\n<think>secret</think>\nMore", "Words.\nMore"),
        ("```\ncode\n```\n<think>secret</think>\nMore", "```\ncode\n```\nMore"),
    ],
)
def test_thoughts_between_and_after_words_are_not_shown(answer: str, words: str) -> None:
    """A thought that begins a line or follows a sentence is none of the words, closed or not; a
    line that it has for itself goes with it.
    """
    assert spoken(answer) == words
    for kept in (recorded(answer), spoken(answer)):
        read = read_text(kept, "content")
        assert isinstance(read, Parsed)
        assert read.value == {"content": words}
    assert "secret" in recorded(answer)


@given(answers)
@example("<think></think>\n")
@example("<think>secret</think> \n<")
def test_what_is_recorded_reads_as_what_was_said(answer: str) -> None:
    """The recorded form is read by the rule that reads recorded answers, and gives the same words;
    where that rule read it so already, it stays byte for byte.
    """
    words, kept = spoken(answer), recorded(answer)
    assert without_thought(kept) == words
    assert kept == answer or without_thought(answer) != words


@pytest.mark.parametrize(
    "name", ["THINK", "th\u0131nk", "TH\u0130NK", "thin\u212a", "rea\u017foning", "antml:Thoughts"]
)
def test_a_mark_is_one_in_whatever_case(name: str) -> None:
    """With letters that are the same but for their case, of other alphabets too."""
    assert spoken(f"secret</{name}>Hi") == "Hi"
    assert spoken(f"<{name}>secret</{name}>Hi") == "Hi"
    assert spoken(f"Hi. <{name}>secret</{name}>You.") == "Hi. You."


@given(answers, st.lists(st.integers(0, 60), max_size=6))
def test_early_words_do_not_depend_on_the_cuts(answer: str, cuts: list[int]) -> None:
    """However an answer arrives in pieces, the same is shown of it."""
    whole = WordsApart()
    told = whole.feed(answer) + whole.rest()
    at = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = WordsApart()
    assert (
        "".join(pieces.feed(answer[start:end]) for start, end in pairwise(at)) + pieces.rest()
        == told
    )


@given(answers)
def test_what_was_shown_early_is_never_withdrawn(answer: str) -> None:
    """What is shown of an answer while it arrives is what is kept of it, but for blanks before it;
    a thought that only ends in it is known as one beforehand, or shows nothing early.
    """
    early = WordsApart()
    told = early.feed(answer) + early.rest()
    if told and not begins_within_thought(answer):
        assert told.lstrip() == spoken(answer).lstrip()


STEP = '{"finish": false, "action": {"tool_id": "a"}}'


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"<think>{STEP}</think> I refuse.", "I refuse."),
        (f"<think>maybe {STEP}", ""),
        (f"<think>{{draft}}</think>\n{STEP}", STEP),
        (f'maybe {{"a": 1}}</think>{STEP}', STEP),
        (f'maybe {{ "a </think>{STEP}', STEP),
        (f"Well, <think>a<think>{STEP}</think>b</think>{STEP}", f"Well, {STEP}"),
        (f"{STEP}\n[THINK]{STEP}", f"{STEP}\n"),
        (
            f"<|channel|>analysis<|message|>{STEP}<|end|><|start|>assistant<|channel|>final<|message|>{STEP}",
            STEP,
        ),
        (f"Sure: {STEP}", f"Sure: {STEP}"),
        (
            '{"content": "Done. <think>x</think> </think>"}',
            '{"content": "Done. <think>x</think> </think>"}',
        ),
        ('{"content": <think>x</think>{}}', '{"content": <think>x</think>{}}'),
        (f"Write `<think>`: {STEP}", f"Write `<think>`: {STEP}"),
    ],
)
def test_what_stands_in_a_thought_is_no_proposal(answer: str, left: str) -> None:
    """B-26 "thought→answer": thoughts around an object are cut, closed or not, and nothing within
    one is touched.
    """
    assert without_thoughts(answer) == left


@given(st.text('ab {}[]"\n', max_size=20))
def test_an_object_behind_a_thought_is_found(thought: str) -> None:
    """Whatever was thought, the object after it is the proposal, and no object of the thought
    is.
    """
    found = parse_object(without_thoughts(f'<think>{thought}{{"draft": 1}}</think>{STEP}'))
    assert isinstance(found, Parsed)
    assert "draft" not in found.value


@pytest.mark.parametrize(
    ("before", "part", "words"),
    [
        ("", "<think></think>", "Hi"),
        ("", "<think>secret</think>\n", "Hi"),
        ("<think></think>", "</think>", "Hi"),
        ("Hi.\n", "<think></think>\n", "Hi.\nHi"),
        ("Hi. ", "<think>secret</think>Oh. ", f"Hi. {'Oh. ' * 5000}Hi"),
        ("", "<|channel|>analysis<|message|>secret<|end|>", ""),
    ],
)
def test_an_answer_may_be_full_of_thoughts(before: str, part: str, words: str) -> None:
    """However many come in one piece, each is told apart as if it came alone: none is looked at
    within the one before it, and what came behind it is not copied whole for each.
    """
    answer = before + part * 5000 + "Hi"
    whole, letters = WordsApart(), WordsApart()
    told = whole.feed(answer) + whole.rest()
    assert told == words
    assert told == "".join(letters.feed(letter) for letter in answer) + letters.rest()
