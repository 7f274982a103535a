"""Cutting text into passages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ordain.ports.library import Section
from ordain.store.passages import OVERLAP_CHARS, PASSAGE_CHARS, cut

WORDS = st.lists(
    st.sampled_from(
        ["a", "word", "Longer.", "line\n", "\n\n", "ü" * 30, "x" * 1000, "end?", "\t", "。"]
    ),
    max_size=80,
)
TEXTS = st.one_of(st.text(max_size=300), WORDS.map(" ".join), WORDS.map("".join))


@given(st.lists(st.tuples(TEXTS, st.integers(0, 10_000), st.integers(0, 3)), max_size=4))
def test_passages_are_exact_bounded_and_leave_nothing_out(
    given_sections: list[tuple[str, int, int]],
) -> None:
    """Every passage is a part of its section at its offsets, none is too long, none is blank, and
    every word stands in one.
    """
    for text, start, page in given_sections:
        passages = cut([Section(text=text, start=start, page=page, heading="  A \n heading ")])
        covered = set[int]()
        for passage in passages:
            assert passage.text == text[passage.start - start : passage.stop - start]
            assert 0 < len(passage.text) <= PASSAGE_CHARS
            assert passage.text.strip() == passage.text
            assert (passage.page, passage.heading) == (page, "A heading")
            covered.update(range(passage.start - start, passage.stop - start))
        assert all(character.isspace() for at, character in enumerate(text) if at not in covered)
        assert [passage.seq for passage in passages] == list(range(len(passages)))
        for one, following in pairwise(passages):
            assert one.start < following.start
            assert one.stop - following.start <= OVERLAP_CHARS


def test_neighbouring_passages_share_a_sentence() -> None:
    """A passage begins with the last sentence of the one before, so that what is said across the
    cut is found.
    """
    sentences = [f"Sentence number {number} says something of its own." for number in range(60)]
    passages = cut([Section(text=" ".join(sentences))])
    assert len(passages) > 2
    for one, following in pairwise(passages):
        assert following.text.startswith(one.text.rsplit(". ", 1)[-1])


def test_a_break_is_taken_where_there_is_one() -> None:
    """A long word is cut anywhere, and nothing else is."""
    (first, *_, last) = cut([Section(text="short. " + "y" * (2 * PASSAGE_CHARS))])
    assert first.text == "short."
    assert set(last.text) == {"y"}
