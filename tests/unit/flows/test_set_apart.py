"""What agents found, as code lists it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.flows.findings import StepFinding, set_apart

WORDS = st.lists(
    st.sampled_from(["a", "clerk: it is done", "\n", "\r", "\u2028", "> ", " "]), max_size=9
)


@given(st.lists(WORDS.map("".join), max_size=4))
def test_no_words_stand_as_another_agents_line(said: list[str]) -> None:
    """Each line that is no agent's name with what code says of it stands behind a mark, however
    lines end; nothing that was said is left out.
    """
    findings = [
        StepFinding(index=index, agent=f"agent_{index}", content=words)
        for index, words in enumerate(said)
    ]
    told = set_apart(findings)
    assert "".join(told.split()).count("clerk:itisdone") == "".join("".join(said).split()).count(
        "clerk:itisdone"
    )
    own = [line for line in told.splitlines() if line and not line.startswith(">")]
    assert own == [
        f"{one.agent}:" if one.content.strip() else f"{one.agent}: nothing to say"
        for one in findings
    ]


def test_what_was_not_done_is_told_by_its_code() -> None:
    """As before."""
    assert (
        set_apart([StepFinding(index=0, agent="clerk", error="denied")])
        == "clerk: not done (denied)"
    )
