"""A hundred lies for every way in which a council fails: whatever seats, chair and auditor say in
words, what came of it stays what code says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.flows.council.outcome import CouncilOutput
from ordain.testing import Played, child_failed, completed, joined, proposes
from tests.lanes import sampled
from tests.shapes.council import CORE, hold_council, judgement, verdict

LIES: list[str] = json.loads(
    (Path(__file__).resolve().parents[3] / "fixtures" / "messages" / "lies.json").read_text(
        encoding="utf-8"
    )
)[:100]


def seats(said: str, silent: int = 0) -> Any:
    ends = [completed({"name": name, "text": said}) for name in CORE[silent:]]
    return joined(*[child_failed("timed_out")] * silent, *ends)


def lying_chair(said: str, **more: Any) -> Any:
    value = judgement(said, notes=said, **more)
    return proposes("chair", {**value, "disagreement": {"level": 0.1, "notes": said}})


def lying_auditor(said: str, action: str, **more: Any) -> Any:
    held = {"emphasize": [said], "avoid": [said], "notes": said}
    return proposes(
        "auditor",
        verdict(action, **{"reason": said, "constraints": held, "override_answer": said, **more}),
    )


FAILURES: Mapping[str, tuple[str, Callable[[str], list[Any]]]] = {
    "no quorum": ("council_no_quorum", lambda said: [seats(said, silent=3)]),
    "a judgement that is none": (
        "council_verdict_invalid",
        lambda said: [seats(said), lying_chair(said, accepted=True)],
    ),
    "a verdict that is none": (
        "council_verdict_invalid",
        lambda said: [seats(said), lying_chair(said), lying_auditor(said, "accepted")],
    ),
    "a verdict with a key too many": (
        "council_verdict_invalid",
        lambda said: [seats(said), lying_chair(said), lying_auditor(said, "accept", ok=True)],
    ),
    "unresolved": (
        "council_unresolved",
        lambda said: [seats(said), lying_chair(said), lying_auditor(said, "new_round")],
    ),
    "a risk that code does not take": (
        "council_unresolved",
        lambda said: [
            seats(said),
            *[lying_chair(said, scores={"risk": 0.9}), lying_auditor(said, "accept")] * 2,
        ],
    ),
    "no chain to delegate to": (
        "path_unavailable",
        lambda said: [seats(said), lying_chair(said), lying_auditor(said, "delegate")],
    ),
}


def told(played: Played[CouncilOutput]) -> tuple[Any, ...]:
    """What code says of it: the header but for how many tokens the words took, whether it went
    well, the code, the directive, and that there is no final text.
    """
    output = played.output
    assert output is not None
    assert output.result is not None
    header = re.sub(r"\d+\+\d+ tokens", "N tokens", played.header)
    return (
        header,
        played.facts.verdict,
        output.ok,
        output.error,
        output.next,
        output.result.final_text,
        output.result.meta.rounds_used,
    )


@pytest.mark.parametrize("failure", FAILURES)
def test_no_lie_makes_a_council_come_to_something(failure: str) -> None:
    """EXE-08 "`final_text` alone is never the sole signal", RTE-12 "Code enforces error
    visibility": header and ``ok`` are those of an honest failure.
    """
    code, said_in = FAILURES[failure]
    assert len(LIES) == 100
    honest = told(hold_council(*said_in("I do not know."), max_rounds=1))
    assert (honest[2], honest[3], honest[5]) == (False, code, "")
    for lie in sampled(LIES, 5, failure):
        text = lie.strip()[:400] or "All done."
        assert told(hold_council(*said_in(text), max_rounds=1, replays=False)) == honest, lie
