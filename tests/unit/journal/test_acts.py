"""Laws of the acts of a run as they are gathered: what others made good is left out, and nothing
else by what a rule says.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.journal.acts import Acts
from ordain.rules.acts import BAD, Act, ActEnd, MadeGood

ENDS = ("completed", "failed", "unknown")
handoffs = st.lists(
    st.tuples(
        st.sampled_from(["agent.a", "agent.b", "note_down"]),
        st.sampled_from(ENDS),
        st.booleans(),
    ),
    max_size=6,
)


def gathered(calls: list[tuple[str, str, bool]]) -> Acts:
    """Calls in order, each with a digest of its own: carried out by a child with this end, or
    denied.
    """
    acts = Acts("r")
    for number, (verb, end, denied) in enumerate(calls):
        act = Act(verb=verb, call=f"c{number}", end=ActEnd.DENIED if denied else ActEnd.PERMITTED)
        acts.decided(str(number), act, 0)
        if not denied:
            acts.child(str(number), verb, end, f"child{number}", None)
    return acts


@given(handoffs, st.sets(st.sampled_from([f"c{number}" for number in range(6)])), st.booleans())
def test_only_what_came_to_nothing_before_a_success_is_made_good(
    calls: list[tuple[str, str, bool]], named: set[str], other: bool
) -> None:
    """Whatever a rule names: a handoff that failed or was denied is left out where who is said to
    have done its work succeeded after it; a success, what nobody knows of, a call that hands
    nothing on and what came later stay.
    """
    acts = gathered(calls)
    before = acts.so_far(rests=True)
    by = "agent.b" if other else "agent.a"
    acts.made_good(MadeGood(calls=tuple(sorted(named)), by=by))
    after = acts.so_far(rests=True)
    did = [at for at, act in enumerate(before) if (act.verb, act.end) == (by, ActEnd.DONE)]
    left_out = [
        act
        for at, act in enumerate(before)
        if act.call in named
        and act.end in BAD
        and act.verb.startswith("agent.")
        and at < max(did, default=-1)
    ]
    assert after == tuple(act for act in before if act not in left_out)
