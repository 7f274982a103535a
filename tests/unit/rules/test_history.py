"""Laws of rule ``history``: what stands in the prompt fits, and what does not is summarised or
counted.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import MESSAGE_CHARS
from ordain.contracts.policy import HistoryPolicy, Policy
from ordain.flows.history import AHEAD, SUMMARY_CHARS
from ordain.journal.records import raw
from ordain.rules.decision import FACTS_BYTES, Recorded
from ordain.rules.history import (
    HISTORY,
    HistoryFacts,
    HistoryReason,
    Summarise,
    Window,
    decide_history,
)
from tests.unit.rules.given import decided

ENTRIES_MAX = HistoryPolicy.model_fields["max_entries"].metadata[1].le
"""The largest number of whole entries that a policy may name."""


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any table that a policy may hold."""
    most = draw(st.integers(2, 12))
    table = HistoryPolicy(
        max_bytes=draw(st.integers(0, 4000)),
        max_entries=most,
        keep_entries=draw(st.integers(0, most - 1)),
        verb="v",
    )
    return Policy(version=1, history=table)


@st.composite
def states(draw: st.DrawFn) -> HistoryFacts:
    """What a session's history can be; older entries than those listed exist only where some are
    listed.
    """
    sizes = draw(st.lists(st.integers(0, 1500), max_size=28))
    return HistoryFacts(
        sizes=tuple(sizes),
        older=draw(st.integers(0, 500)) if sizes else 0,
        summary_bytes=draw(st.integers(-1, 2000)),
        room_bytes=draw(st.integers(0, 5000)),
        may_summarise=draw(st.booleans()),
    )


def choose(facts: HistoryFacts, policy: Policy) -> Window | Summarise:
    """The rule applied, and held to what every rule owes."""
    return decided(HISTORY, facts, None, policy).outcome


def shown(facts: HistoryFacts, policy: Policy) -> list[int]:
    """The bytes of each entry as a prompt shows it: a long one is cut."""
    return [min(size, policy.history.entry_bytes) for size in facts.sizes]


def settled(facts: HistoryFacts, policy: Policy) -> tuple[HistoryFacts, Window]:
    """The window in the end: every summary succeeds, and what it covers is gone, the oldest
    first.
    """
    for _ in range(len(facts.sizes) + facts.older + 2):
        outcome = choose(facts, policy)
        if isinstance(outcome, Window):
            return facts, outcome
        assert 1 <= outcome.entries <= len(facts.sizes)
        if facts.older:
            facts = msgspec.structs.replace(facts, older=facts.older - 1, summary_bytes=100)
        else:
            facts = msgspec.structs.replace(
                facts, sizes=facts.sizes[outcome.entries :], summary_bytes=100
            )
    raise AssertionError("the rule summarises for ever")


@given(states(), policies())
def test_what_stands_whole_fits(facts: HistoryFacts, policy: Policy) -> None:
    """The whole entries and the summary together fit the model's window and policy's bytes; never
    more entries than policy's number.
    """
    outcome = choose(facts, policy)
    if isinstance(outcome, Window):
        used = sum(shown(facts, policy)[len(facts.sizes) - outcome.whole :]) + (
            facts.summary_bytes if outcome.summary else 0
        )
        assert used <= min(policy.history.max_bytes, facts.room_bytes)
        assert outcome.whole <= policy.history.max_entries


@given(states(), policies())
def test_everything_is_whole_or_counted(facts: HistoryFacts, policy: Policy) -> None:
    """Never silently dropped: every entry stands whole or is counted as left out, and so is a
    summary that does not fit.
    """
    outcome = choose(facts, policy)
    if isinstance(outcome, Window):
        lost_summary = facts.summary_bytes > 0 and not outcome.summary
        assert outcome.whole + outcome.left_out == len(facts.sizes) + facts.older + lost_summary


@given(states(), policies())
def test_what_is_cut_is_counted(facts: HistoryFacts, policy: Policy) -> None:
    """Never silently shortened: exactly the shown entries that are longer than an entry may be are
    counted as cut.
    """
    outcome = choose(facts, policy)
    if isinstance(outcome, Window):
        whole = facts.sizes[len(facts.sizes) - outcome.whole :]
        assert outcome.cut == sum(size > policy.history.entry_bytes for size in whole)


@given(states(), policies())
def test_the_reason_says_whether_something_is_left_out(facts: HistoryFacts, policy: Policy) -> None:
    """The header's word follows from the count."""
    decision = decided(HISTORY, facts, None, policy)
    if isinstance(decision.outcome, Window):
        lost = decision.outcome.left_out or decision.outcome.cut
        assert decision.reason is (HistoryReason.LEFT_OUT if lost else HistoryReason.WHOLE)
    else:
        assert decision.reason is HistoryReason.SUMMARISE
        assert facts.may_summarise


@given(states(), policies())
def test_as_much_as_fits_stands_whole(facts: HistoryFacts, policy: Policy) -> None:
    """The window is the longest run of most recent entries that fits: one more would not."""
    outcome = choose(facts, policy)
    if isinstance(outcome, Window) and outcome.whole < min(
        len(facts.sizes), policy.history.max_entries
    ):
        more = sum(shown(facts, policy)[len(facts.sizes) - outcome.whole - 1 :]) + (
            facts.summary_bytes if outcome.summary else 0
        )
        assert more > min(policy.history.max_bytes, facts.room_bytes)


@given(states(), policies(), st.integers(0, 3000))
def test_more_room_never_shows_less(facts: HistoryFacts, policy: Policy, more: int) -> None:
    """Monotone: with more room, at least as many entries stand whole, as long as the summary stays
    in or out.
    """
    mute = msgspec.structs.replace(facts, may_summarise=False)
    narrow, wide = (
        choose(mute, policy),
        choose(msgspec.structs.replace(mute, room_bytes=mute.room_bytes + more), policy),
    )
    assert isinstance(narrow, Window)
    assert isinstance(wide, Window)
    if narrow.summary == wide.summary:
        assert wide.whole >= narrow.whole


@given(states(), policies())
def test_summarising_comes_to_an_end(facts: HistoryFacts, policy: Policy) -> None:
    """Every summary takes at least one entry off the list, so a turn asks for a bounded number of
    them, and then there is a window.
    """
    last, window = settled(facts, policy)
    assert window.whole + window.left_out >= len(last.sizes)


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB for as many entries as policy may name, each as long as JSON can make
    the longest message.
    """
    longest = 6 * MESSAGE_CHARS + 2
    facts = HistoryFacts(
        sizes=(longest,) * (ENTRIES_MAX + AHEAD),
        older=10**8,
        summary_bytes=6 * SUMMARY_CHARS,
        room_bytes=10**9,
        may_summarise=True,
    )
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, "history: 1 entries whole, older ones summed up, 0 left out"),
        (
            {"imported": True},
            "history: 1 entries whole, older ones as the client showed them, 0 left out",
        ),
        ({"imported": True, "summary_bytes": -1}, ""),
    ],
)
def test_what_nobody_summed_up_is_not_told_as_summed_up(facts: dict[str, Any], told: str) -> None:
    """What stands in the place of older entries is what a client showed, or a summary."""
    seen = HistoryFacts(**{"sizes": (4,), "summary_bytes": 9, "room_bytes": 9999, **facts})
    made = decide_history(seen, None, Policy(version=1))
    assert HISTORY.tells is not None
    share = HISTORY.tells(
        Recorded(
            outcome=raw(made.outcome),
            reason=str(made.reason),
            facts=raw(seen),
            steps=0,
            judged=True,
        )
    )
    assert "".join(line.what for line in share.lines) == told
