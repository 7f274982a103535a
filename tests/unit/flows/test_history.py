"""``gather``: a session's history by reference, summed up where it is too long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.effect import Say, SharedState
from ordain.errors import FlowFault
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.flows.history import gather
from ordain.flows.shipped import SHIPPED
from ordain.flows.transcript import HistoryRef
from ordain.rules.history import Window
from ordain.testing import (
    Played,
    ScriptedEffects,
    Standing,
    child_failed,
    completed,
    joined,
    kind_of,
    unread,
)
from tests.unit.flows.house import history, shipped

OWN = 99
SUMMARY = joined(completed(VerbPlanOutput(ok=True, output={"summary": "so far"})))
SHORT = {"max_entries": 4, "keep_entries": 2, "max_bytes": 4000}


async def _gather(context: FlowContext, room: int) -> list[Any]:
    ref, window = await gather(context, OWN, room)
    return [ref, window]


def play(
    *script: Any, room: int = 100_000, **table: Any
) -> tuple[HistoryRef, Window, Played[list[Any]]]:
    kind = replace(kind_of(_gather, verbs=(shipped().policy.history.verb,)), sums_up=lambda _: OWN)
    effects = ScriptedEffects(
        kind, shipped(), policy={"history": {**SHORT, **table}}, standing=Standing(session="s1")
    )
    played = effects.play(room, script)
    assert played.replayed().equal, played.replayed()
    assert played.output is not None
    return played.output[0], played.output[1], played


def test_a_short_history_stands_whole() -> None:
    """By first and last entry, their bytes, and the link that fixes what stands before."""
    ref, window, played = play(history((1, 100), (2, 50)))
    assert (ref.first, ref.last, ref.entries, ref.size_bytes, ref.own, ref.session) == (
        1,
        2,
        2,
        150,
        OWN,
        "s1",
    )
    assert (window.whole, window.left_out) == (2, 0)
    assert played.reads[0].args == {"session": "s1", "own": OWN, "limit": 20}


def test_no_history_is_none() -> None:
    """Of a first message, or where nothing can be read."""
    for script in (history(), unread(what=SharedState.HISTORY)):
        ref, window, _ = play(script)
        assert (ref.entries, window.whole) == (0, 0)


def test_a_long_one_is_summed_up_first() -> None:
    """The oldest entries go to policy's verb, what it says is kept as a summary, and the history is
    read again.
    """
    many = history(*((seq, 100) for seq in range(1, 7)))
    ref, window, played = play(many, SUMMARY, history((5, 100), (6, 100), summary=(7, 30)))
    given_of = msgspec.json.decode(played.spawns[0].input, type=VerbPlanInput)
    assert given_of.history is not None
    assert (given_of.history.first, given_of.history.last) == (1, 4)
    (say,) = [one for one in played.asked if isinstance(one, Say)]
    assert (say.text, say.summary_through, played.said) == ("so far", 4, ())
    assert (ref.summary, ref.entries, window.summary) == (7, 2, True)


def test_what_is_answered_now_is_not_summed_up() -> None:
    """Nor what comes after it."""
    late = history(*((seq, 100) for seq in range(OWN, OWN + 6)))
    _, window, played = play(late, late)
    assert played.spawns == ()
    assert window.whole == 4


@pytest.mark.parametrize(
    "end", [child_failed("rejected"), completed(VerbPlanOutput(ok=True, output={"summary": "  "}))]
)
def test_a_summary_that_fails_leaves_entries_out(end: Any) -> None:
    """And it is not tried again in this turn."""
    many = history(*((seq, 100) for seq in range(1, 7)))
    _, window, played = play(many, joined(end), many)
    assert (window.whole, window.left_out, len(played.spawns)) == (4, 2, 1)
    assert any(line.what.startswith("history:") for line in played.lines)


def test_only_who_may_sum_up_does() -> None:
    """And only what was said before the message that the run answers: it is what later turns see as
    history.
    """
    many = history(*((seq, 100) for seq in range(1, 7)))
    for sums_up, standing in (
        (None, Standing(session="s1")),
        (lambda _: 4, Standing(session="s1")),
        (lambda _: OWN, Standing(session="s1", child=True, scope=(shipped().policy.history.verb,))),
    ):
        kind = replace(kind_of(_gather, verbs=(shipped().policy.history.verb,)), sums_up=sums_up)
        played = ScriptedEffects(
            kind, shipped(), policy={"history": SHORT}, standing=standing
        ).play(100_000, (many, SUMMARY), faults=True)
        assert isinstance(played.fault, FlowFault)
        assert not any(isinstance(one, Say) for one in played.asked)
    assert {kind.name for kind in SHIPPED if kind.sums_up is not None} == {"turn"}


def test_without_a_verb_for_it_nothing_is_summed_up() -> None:
    """Older entries are left out, and the header says so."""
    _, window, played = play(history(*((seq, 100) for seq in range(1, 7))), verb="")
    assert (window.left_out, played.spawns) == (2, ())


def test_older_ones_than_are_listed_come_first() -> None:
    """A summary covers everything before its end: the oldest are read for it."""
    newest = history(*((seq, 100) for seq in range(30, 36)), older=20)
    oldest = history(*((seq, 100) for seq in range(1, 7)), older=20)
    _, _, played = play(newest, oldest, SUMMARY, newest, oldest, SUMMARY, newest)
    assert [read.args.get("oldest", False) for read in played.reads] == [
        False,
        True,
        False,
        True,
        False,
    ]


def test_long_entries_are_cut() -> None:
    """Each to its part of what a prompt may hold."""
    ref, _, _ = play(history((1, 3000), (2, 10)))
    assert (ref.cut, ref.size_bytes) == (1000, 1010)


@given(st.lists(st.integers(1, 2000), max_size=4), st.integers(-10, 5000))
def test_what_is_referred_to_fits(sizes: list[int], room: int) -> None:
    """Whatever there is and whatever room is left: no more bytes than both policy and the window
    leave.
    """
    ref, window, _ = play(history(*enumerate(sizes, 1)), room=room, verb="")
    assert ref.size_bytes <= max(0, min(room, 4000))
    assert ref.entries == window.whole
