"""What is made of a text while it is read, and that nothing of it stays."""

from __future__ import annotations

import gc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.wording.one_reading import made_once, one_reading
from ordain.wording.wording import first_wording

WORDS = ("Kestrel", "4417", "and", "tell", "nobody")


def test_it_is_made_once_in_a_reading_and_outside_each_time() -> None:
    """One within another belongs to it; the next one begins with nothing."""
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert (made_once(length, "a"), made_once(length, "a"), asked) == (1, 1, ["a", "a"])
    for _ in range(2):
        asked.clear()
        with one_reading():
            assert made_once(length, "ab") == 2
            with one_reading():
                assert made_once(length, "ab") == 2
            assert (made_once(length, "ab"), made_once(length, "c"), asked) == (2, 1, ["ab", "c"])


def test_a_text_that_was_read_is_kept_by_nobody() -> None:
    """What people said is gone when it is erased where it is stored."""
    wording, texts = first_wording(), set[str]()
    for number, ask in enumerate(
        (
            wording.cues,
            wording.parts,
            lambda text: wording.chosen(text, ("one", "two")),
            lambda text: wording.mentions(text, ("one",)),
        )
    ):
        said = " ".join((*WORDS, str(number)))  # no constant, which the code would keep
        texts |= {said, said.lower()}
        ask(said)
    gc.collect()
    holders = [
        one for one in gc.get_objects() if type(one) in (dict, list, tuple) and len(one) < 10_000
    ]
    assert [one for one in holders if _has_one_of(texts, one)] == []


def _has_one_of(texts: set[str], holder: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> bool:
    try:
        return not texts.isdisjoint(holder)
    except TypeError:  # not all that it holds has a hash
        return any(part in texts for part in holder if type(part) is str)


@given(st.text(max_size=200))
def test_a_reading_changes_nothing(text: str) -> None:
    """The same cues, within a reading and by the reader alone."""
    wording = first_wording()
    with one_reading():
        within = wording.cues(text)
    assert within == wording.cues(text) == wording.reader.cues(text)
