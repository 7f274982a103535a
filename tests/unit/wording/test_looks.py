"""A look at a text, which engines hand on: what it says of a part of the text is what the part alone
would be.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordain.wording.engine_1.folding import fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import compile_phrases
from ordain.wording.engine_1.reading import CompiledReading, stops
from ordain.wording.languages import shipped_table

SAID = st.lists(
    st.sampled_from(
        (
            *("stop", "it", "please", "Don't", "nooo", "xd", ":)", "<3", "^_^", "7.5", "12", "é"),
            *(" ", " ", " ", "?", "!", ".", "...", "'", '"', "`", "-", " - ", "\n", ",", "_", "~"),
        )
    ),
    max_size=14,
).map("".join)
READING = CompiledReading(shipped_table())


def look_at(text: str) -> Look:
    """A text, read by a table that has one phrase."""
    return Look(text, compile_phrases([("stop", ["stop it"])]), ())


@given(SAID)
@example("foo - ?")
@example("say 'stop it'?")
@example(".xd?")
@example("is it 12 .?!\n?")
def test_the_tokens_of_a_part_are_those_that_it_has_alone(text: str) -> None:
    """Of each beginning of the text, with its marks and without."""
    look = look_at(text)
    for end in range(len(look.stripped) + 1):
        part = look.stripped[:end].strip(" .!")
        assert list(look.tokens_of(part)) == tokens(fold(part))


@given(SAID)
def test_its_words_are_those_of_its_pieces(text: str) -> None:
    """Line ends are none."""
    look = look_at(text)
    assert list(look.words) == " ".join(said for said, _ in look.parts).split()


@given(SAID)
@example("please stop it now")
def test_nothing_stops_that_has_no_phrase_which_stops(text: str) -> None:
    """Whoever asks first whether a text may stop misses none that does."""
    look = READING.look(text)
    assert READING.may_stop(look.tokens) or not stops(look)


@pytest.mark.parametrize(("text", "may"), [("stop it", True), ("the depot is open", False)])
def test_a_text_may_stop_by_its_phrases(text: str, may: bool) -> None:
    """A word that only begins such a phrase is none."""
    assert READING.may_stop(READING.look(text).tokens) is may
