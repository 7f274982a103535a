"""What a journal says of lost time: when it was, how much of it several share, and since when a
run's is not accounted for.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.children import NULL
from ordain.journal.codec import Scribe
from ordain.journal.lost_time import Loss, Pause, Reckoning, losses, lost_in_all, measure, spans_of
from ordain.journal.records import (
    Body,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    ResumedBody,
)

MOMENTS = st.integers(0, 1000)
PAUSES = st.lists(
    st.tuples(MOMENTS, st.integers(0, 300)).map(lambda one: Pause(one[0], one[0] + one[1])),
    max_size=8,
)


@given(PAUSES, MOMENTS, MOMENTS)
def test_what_pauses_cover_is_counted_once(pauses: list[Pause], since: int, until: int) -> None:
    """Each microsecond between the two moments counts once, however many pauses hold it."""
    held = {at for began, ended in pauses for at in range(max(began, since), min(ended, until))}
    assert measure(pauses, since, until) == len(held)


@given(st.lists(st.tuples(MOMENTS, st.integers(1, 400)), max_size=8))
def test_what_records_say_was_lost_lies_apart(told: list[tuple[int, int]]) -> None:
    """Each ends with its record at the latest, and together they are as long as what was lost."""
    lost = [Loss(seq, at, lost_us) for seq, (at, lost_us) in enumerate(sorted(told))]
    spans = spans_of(lost)
    assert measure(spans, -(10**6), 10**6) == sum(loss.lost_us for loss in lost)
    assert all(span.ended <= loss.at for span, loss in zip(spans, lost, strict=True))


def written(*bodies: tuple[RecordKind, Body, int]) -> list[Record]:
    scribe = Scribe("r", b"\x01" * 32)
    return [scribe.write(kind, "x", body, at) for kind, body, at in bodies]


INTENT, SEEN = IntentBody(addr=0, effect=NULL), ObservationBody(addr=0, result=NULL)
LOST = ResumedBody(by="", why="time lost", lost_us=7)


def test_a_journal_of_a_build_before_has_lost_nothing() -> None:
    """Somebody has resumed it, and nothing says for how long it was stopped."""
    records = written(
        (RecordKind.INTENT, INTENT, 5),
        (RecordKind.RESUMED, ResumedBody(by="ada", why="faulted"), 9),
    )
    assert losses(records) == []
    assert lost_in_all(records) == 0


def test_time_is_accounted_for_by_what_gives_the_flow_its_time() -> None:
    """An intent or an observation begins anew; what is on record since counts; a note says nothing;
    a resume by somebody begins anew.
    """
    records = written(
        (RecordKind.INTENT, INTENT, 5),
        (RecordKind.RESUMED, LOST, 20),
        (RecordKind.NOTE, NoteBody(by="ada", action="x"), 25),
        (RecordKind.RESUMED, LOST, 30),
        (RecordKind.OBSERVATION, SEEN, 40),
        (RecordKind.RESUMED, ResumedBody(by="ada", why="faulted", lost_us=11), 60),
    )
    assert [Reckoning.of(records[:count]) for count in range(1, 7)] == [
        Reckoning(5),
        Reckoning(5, 7, 20),
        Reckoning(5, 7, 20),
        Reckoning(5, 14, 30),
        Reckoning(40),
        Reckoning(60),
    ]
    assert losses(records) == [Loss(1, 20, 7), Loss(3, 30, 7), Loss(5, 60, 11)]
    assert lost_in_all(records) == 25
