"""Laws of the acts of a run as they are gathered: what others made good is left out, and nothing
else by what a rule says.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.journal.acts import Acts
from ordain.rules.acts import BAD, Act, ActEnd, MadeGood
from ordain.rules.header import HeaderFacts

ENDS = ("completed", "failed", "unknown")
BELOW = (
    None,
    Act(verb="note", call="n", end=ActEnd.DONE),
    Act(verb="note", call="n", end=ActEnd.REFUSED),
    Act(verb="recall", call="m", end=ActEnd.DONE, own=True),
    Act(verb="agent.c", call="h", end=ActEnd.DONE),
)
"""What was done below a call: nothing, a call, one that was refused, code's own, words of another."""
handoffs = st.lists(
    st.tuples(
        st.sampled_from(["agent.a", "agent.b", "note_down"]),
        st.sampled_from(ENDS),
        st.booleans(),
        st.sampled_from(BELOW),
    ),
    max_size=6,
)
WORDS_ALONE = HeaderFacts(
    run="",
    flow="handoff@3",
    status="completed",
    reason="",
    models=(),
    notices=(),
    lines=(),
    steps=1,
    model_calls=1,
    verb_calls=0,
    tokens_in=0,
    tokens_out=0,
    estimated=False,
    usd_micros=0,
    duration_ms=0,
    answered=True,
)
Calls = list[tuple[str, str, bool, Act | None]]


def gathered(calls: Calls) -> Acts:
    """Calls in order, each with a digest of its own: carried out by a child with this end and this
    act, or denied.
    """
    acts = Acts("r")
    for number, (verb, end, denied, below) in enumerate(calls):
        act = Act(verb=verb, call=f"c{number}", end=ActEnd.DENIED if denied else ActEnd.PERMITTED)
        acts.decided(str(number), act, 0)
        if not denied:
            inner = structs.replace(WORDS_ALONE, acts=() if below is None else (below,))
            acts.child(str(number), verb, end, f"child{number}", inner)
    return acts


@given(handoffs, st.sets(st.sampled_from([f"c{number}" for number in range(6)])), st.booleans())
def test_only_what_came_to_nothing_before_a_success_is_made_good(
    calls: Calls, named: set[str], other: bool
) -> None:
    """Whatever a rule names: a handoff that failed or was denied is left out, with what failed
    below it, where who is said to have done its work succeeded after it, as a call below that did;
    a success, what nobody knows of, a call that hands nothing on and what came later stay.
    """
    acts = gathered(calls)
    before = acts.so_far(rests=True)
    by = "agent.b" if other else "agent.a"
    acts.made_good(MadeGood(calls=tuple(sorted(named)), by=by))
    after = acts.so_far(rests=True)
    handed = [
        (at, act, before[at - 1] if at and not before[at - 1].call.startswith("c") else None)
        for at, act in enumerate(before)
        if act.verb in ("agent.a", "agent.b")
    ]
    did = [
        at
        for at, act, below in handed
        if (act.verb, act.end) == (by, ActEnd.DONE) and below == BELOW[1]
    ]
    left_out = {
        place
        for at, act, below in handed
        if act.call in named and at < max(did, default=-1)
        for place in ((at,) if below is None else (at - 1, at))
        if before[place].end in BAD
    }
    assert after == tuple(act for at, act in enumerate(before) if at not in left_out)


@given(st.lists(st.booleans(), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_a_call_in_doubt_stands_once_and_its_last_attempt_says_how(
    repeats: list[bool], ran: bool, found_out: bool
) -> None:
    """However many repeats of it failed: the last one is what nobody knows of, unless one ran, or
    somebody has found out; those of another permit take nobody's place.
    """
    acts, addr, last = Acts("r"), 0, {True: -1, False: -1}
    for mine in (*repeats, True):
        addr += 1
        acts.began(addr, f"permit {mine}", "note")
        assert acts.ended(addr, "outcome_unknown", repeat=True) == last[mine]
        last[mine] = addr
    open_ones = {act.addr for act in acts.so_far(rests=True) if act.end is ActEnd.UNKNOWN}
    assert open_ones == {place for place in last.values() if place > 0}
    if ran:
        acts.began(addr + 1, "permit True", "note")
        acts.ended(addr + 1, "returned")
    elif found_out:
        acts.resolved(last[True], happened=True)
    found = [act for act in acts.so_far(rests=True) if act.call == "r:permit True"]
    end = ActEnd.DONE if ran or found_out else ActEnd.UNKNOWN
    assert [act.end for act in found] == [ActEnd.FAILED] * (len(found) - 1) + [end]


def test_a_call_of_whose_end_nobody_knew_is_not_told_by_a_later_one() -> None:
    """Only a repeat that says so of itself gives way: records of builds before mean what they did."""
    acts = Acts("r")
    for addr, result in ((1, "outcome_unknown"), (2, "returned")):
        acts.began(addr, "permit", "note")
        assert acts.ended(addr, result) == -1
    assert [act.end for act in acts.so_far(rests=True)] == [ActEnd.UNKNOWN, ActEnd.DONE]
