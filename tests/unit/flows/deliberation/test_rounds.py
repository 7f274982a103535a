"""The machine of rounds: any seats, any judgements, any verdicts, held against a model of what the
council's words mean that knows nothing of its table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.effects.effect import Children
from ordain.testing import (
    child_cancelled,
    child_failed,
    child_timed_out,
    completed,
    joined,
    proposes,
    says,
)
from ordain.testing.script import Asked, ScriptItem
from tests.shapes.council import CORE, PROSE, asks, hold_council, judgement, named, verdict

scores = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.floats(0, 1)
            for name in ("risk", "coherence", "faithfulness", "usefulness", "novelty", "overall")
        },
    ),
    st.just({"risk": 2}),
    st.just({"coherence": "high"}),
)
judgements = st.builds(
    lambda scores, level, decision, answer: {
        "proposed_answer": answer,
        "scores": scores,
        "disagreement": {"level": level},
        "decision": decision,
    },
    scores,
    st.one_of(st.floats(0, 1), st.just(-1)),
    st.sampled_from([None, None, "ACCEPT", "DELEGATE", "maybe"]),
    st.sampled_from(["Yes.", "No.", " "]),
)
verdicts = st.fixed_dictionaries(
    {
        "action": st.sampled_from(
            [
                "accept",
                "accept",
                "revise_same_round",
                "revise_same_round",
                "new_round",
                "new_round",
                "delegate",
                "maybe",
            ]
        )
    },
    optional={
        "override_answer": st.sampled_from([None, "Mine."]),
        "constraints": st.just({"avoid": ["haste"]}),
    },
)
chairs = st.one_of(judgements, st.just(judgement()), st.sampled_from(PROSE))
auditors = st.one_of(verdicts, verdicts, st.sampled_from(PROSE))
silences = st.sampled_from([child_failed("opinion_invalid"), child_cancelled(), child_timed_out()])
waves = st.lists(st.one_of(st.none(), st.none(), silences), min_size=4, max_size=4)


@dataclass
class Expected:
    """What the words of chair and auditor mean, spelled out: who is asked in which order, and what
    comes of it.
    """

    rounds: int
    asked: list[str] = field(default_factory=list[str])
    used: int = 0
    came: str = ""
    text: str = ""

    def play(self, waves: list[Any], chairs: list[Any], auditors: list[Any]) -> None:
        turns = iter(zip(chairs, auditors, strict=True))
        while not self.came:
            wave = waves[self.used]
            self.used += 1
            self.asked.append("seats")
            self.text = ""
            if sum(end is None for end in wave) < 2:
                self.came = "council_no_quorum"
                return
            self._judge(turns)

    def _judge(self, turns: Any) -> None:
        for revised in (False, True):
            blink, said = next(turns)
            self.asked.append("Chair")
            self.text = ""
            if not sound(blink):
                self.came = "council_verdict_invalid"
                return
            self.asked.append("Auditor")
            self.text = blink["proposed_answer"]
            if not isinstance(said, dict) or said["action"] == "maybe":
                self.came = "council_verdict_invalid"
                return
            self.text = said.get("override_answer") or self.text
            word = said["action"]
            if "DELEGATE" in (blink.get("decision"), word.upper()):
                self.came = "delegate_chain"
                return
            if word == "accept" and not doubtful(blink):
                self.came = "accept_text"
                return
            if word == "new_round" or revised:
                self.came = "council_unresolved" if self.used == self.rounds else ""
                return


def sound(blink: Any) -> bool:
    """Whether a judgement is one."""
    return (
        isinstance(blink, dict)
        and blink["proposed_answer"].strip() != ""
        and blink.get("decision") != "maybe"
        and all(
            isinstance(score, float | int) and 0 <= score <= 1 for score in blink["scores"].values()
        )
        and blink["disagreement"]["level"] >= 0
    )


def doubtful(blink: Any) -> bool:
    """Whether code does not accept it."""
    given = blink["scores"]
    return (
        given.get("risk", 0.3) >= 0.7
        or blink["disagreement"]["level"] >= 0.7
        or given.get("coherence", 0.7) < 0.5
        or given.get("faithfulness", 0.7) < 0.6
    )


def answers(waves: list[Any], chairs: list[Any], auditors: list[Any]) -> Any:
    """A script that says these in order, whoever is asked."""
    left = {"seats": list(waves), "Chair": list(chairs), "Auditor": list(auditors)}

    def answer(asked: Asked) -> ScriptItem:
        said = left[named(asked)].pop(0)
        if isinstance(asked, Children):
            spoken = zip(CORE, said, strict=True)
            return joined(
                *(
                    completed({"name": name, "text": "So."}) if end is None else end
                    for name, end in spoken
                )
            )
        return says(said) if isinstance(said, str) else proposes("", said)

    return answer


@given(
    st.integers(1, 3),
    st.lists(waves, min_size=3, max_size=3),
    st.lists(chairs, min_size=6, max_size=6),
    st.lists(auditors, min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_rounds_mean_what_their_words_say(
    rounds: int, heard: list[Any], judged: list[Any], ruled: list[Any]
) -> None:
    """EXE-15 "branch transitions enforced": in every order, whoever fails; and each such journal
    replays equal.
    """
    expected = Expected(rounds)
    expected.play(heard, judged, ruled)
    played = hold_council(answers(heard, judged, ruled), policy={"max_rounds": rounds})
    output = played.output
    assert output is not None
    assert output.result is not None
    assert asks(played) == expected.asked
    assert expected.came == (str(output.next) if output.next else output.error)
    assert output.result.meta.rounds_used == expected.used <= rounds
    accepted = expected.came == "accept_text"
    assert (output.result.final_text, output.result.tentative_text) == (
        (expected.text, "") if accepted else ("", expected.text)
    )
    assert (output.ok and output.next == "accept_text") is accepted


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_longest_council_is_bounded(rounds: int) -> None:
    """However it is led, a round asks its seats once and its judges twice at most."""
    played = hold_council(
        answers(
            [[None] * 4] * rounds,
            [judgement()] * 2 * rounds,
            [verdict("revise_same_round")] * 2 * rounds,
        ),
        policy={"max_rounds": rounds},
    )
    assert len(asks(played)) == 5 * rounds
