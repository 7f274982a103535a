"""What a person says of an effect that nobody knew of, as the note that stands on record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from ordain.errors import Conflict
from ordain.journal.partial_bodies import RESOLVED
from ordain.runtime.resolution import ResolveWord, resolution


def fold(*, told: dict[int, bool] | None = None) -> Any:
    """Of a run whose effects 4 and 6 nobody knows of."""
    return SimpleNamespace(
        unknown=[4, 6], told=told or {}, named=lambda addr: {4: "mail.send", 6: ""}[addr]
    )


def word(addr: int, *, happened: bool, correct: bool = False) -> ResolveWord:
    return ResolveWord(addr=addr, happened=happened, by="local:0", why="seen", correct=correct)


@pytest.mark.parametrize(
    ("addr", "happened", "told", "says"),
    [
        (4, True, {}, ": mail.send (effect 4) happened"),
        (4, False, {6: True}, ": mail.send (effect 4) did not happen"),
        (6, True, {}, ": effect 6 happened"),
        (
            4,
            True,
            {4: False},
            ": mail.send (effect 4) happened, and what was said of it before is wrong",
        ),
    ],
)
def test_a_note_names_the_effect_and_what_became_of_it(
    addr: int, told: dict[int, bool], says: str, *, happened: bool
) -> None:
    """In words that stand in the header after who says so."""
    note = resolution(fold(told=told), "r", word(addr, happened=happened, correct=addr in told))
    assert note is not None
    assert (note.by, note.action, note.why) == ("local:0", "resolve", "seen")
    seen = RESOLVED.decode(note.details)
    assert seen is not None
    assert (seen.addr, seen.happened, seen.words) == (addr, happened, says)


def test_a_note_of_a_build_before_says_what_it_said() -> None:
    """Its header stands as it was recorded."""
    seen = RESOLVED.decode(msgspec.json.encode({"addr": 4, "happened": True}))
    assert seen is not None
    assert (seen.happened, seen.words) == (True, "")


def test_the_same_word_again_is_no_second_note() -> None:
    """Whoever sends it twice has said it once."""
    assert resolution(fold(told={4: True}), "r", word(4, happened=True)) is None


@pytest.mark.parametrize(
    ("addr", "told", "code"), [(5, {}, "not_unknown"), (4, {4: True}, "already_resolved")]
)
def test_what_is_known_and_what_somebody_said_otherwise_is_refused(
    addr: int, told: dict[int, bool], code: str
) -> None:
    """A contradiction has to be meant."""
    with pytest.raises(Conflict) as refused:
        resolution(fold(told=told), "r", word(addr, happened=False))
    assert refused.value.code == code
