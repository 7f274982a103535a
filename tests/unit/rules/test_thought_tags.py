"""Laws of thoughts before words: whatever marks a model puts around them, they are told apart alike while they arrive and in the whole answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.proposals import Parsed, read_text, without_thought
from ordain.rules.thought_tags import WordsApart, canonical, spoken

MARKS = ["<think>", "</think>", "<think foo>", "<THINKING>", "</thinking>", "<reasoning>", "</reasoning>", "◁think▷", "◁/think▷", "[THINK]"]
CHANNELS = ["<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>", "final", "analysis", "assistant"]
answers = st.lists(
    st.sampled_from([*MARKS, *CHANNELS, "<", "[", "`", "```", "\n", " ", "Hi", "secret"]) | st.text(max_size=5), max_size=12
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
        "<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Hi there",
        "<|start|>assistant<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Hi there<|return|>",
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_thoughts_are_not_shown(answer: str, keep: bool) -> None:
    """The words are all that is read of the answer as it is recorded, whether thoughts may be kept or not."""
    assert spoken(answer) == "Hi there"
    read = read_text(canonical(answer) if keep else spoken(answer), "content")
    assert isinstance(read, Parsed)
    assert read.value == {"content": "Hi there"}
    assert not keep or "secret" in canonical(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Hi <think>there</think>.",
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
    assert canonical(answer) == answer


@given(answers)
def test_what_is_recorded_reads_as_what_was_said(answer: str) -> None:
    """The recorded form is read by the rule that reads recorded answers, and gives the same words; where that rule read it so already, it stays byte for byte."""
    words, kept = spoken(answer), canonical(answer)
    assert without_thought(kept) == words
    assert kept == answer or without_thought(answer) != words


@given(answers, st.lists(st.integers(0, 60), max_size=6))
def test_early_words_do_not_depend_on_the_cuts(answer: str, cuts: list[int]) -> None:
    """However an answer arrives in pieces, the same is shown of it."""
    whole = WordsApart()
    told = whole.feed(answer) + whole.rest()
    at = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = WordsApart()
    assert "".join(pieces.feed(answer[start:end]) for start, end in pairwise(at)) + pieces.rest() == told
