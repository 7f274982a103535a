"""How the golden councils are made (those of seats 1 and 2 are kept beside): accepted, revised,
held anew, delegated, unresolved, without a quorum, without a verdict.

``python -m tests.replay.golden_council FILE`` plays them and writes them; done once, never again
for a flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.council import DeliberationRequest
from ordain.testing import ModelScript
from tests.replay.golden_file import GoldenTalk, make
from tests.shapes.council import judgement, verdict
from tests.shapes.talk import PRINCIPAL, House

POLICY: dict[str, dict[str, Any]] = {
    "fallback": {"backoff_ms": 0},
    "council": {"round_timeout_seconds": 600, "llm_timeout_seconds": 300},
}
SPEAK = {"text": "I think so."}
HELD = {"emphasize": ["the cost"], "avoid": ["haste"], "notes": "say how"}
RISKY = judgement(scores={"risk": 0.8})
REVISE = verdict("revise_same_round", constraints=HELD)
CASES: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "accepted": (
        [judgement()],
        [verdict()],
        {
            "universe": "shadow",
            "history": [{"role": "user", "content": "It is closed on Sundays."}],
        },
    ),
    "bare scores": (
        [{"proposed_answer": "Yes."}],
        [verdict(override_answer="No.")],
        {"phi": {"energy": 0.4}, "self_field": {"calm": 0.5}},
    ),
    "revised": ([RISKY, judgement("Perhaps.")], [verdict(), verdict()], {}),
    "held anew": ([judgement(), judgement(), judgement("No.")], [REVISE, REVISE, verdict()], {}),
    "own answer first": (
        [judgement(), judgement("Perhaps.")],
        [verdict("revise_same_round", override_answer="No."), verdict()],
        {},
    ),
    "own answer anew": (
        [judgement(), judgement("Perhaps.")],
        [verdict("new_round", override_answer="No."), verdict()],
        {},
    ),
    "delegated": ([judgement(decision="DELEGATE")], [verdict()], {}),
    "unresolved": ([judgement()], [verdict("new_round")], {"max_rounds": 1}),
    "no judgement": (["I accept."], [], {}),
    "no verdict": ([judgement()], [verdict("maybe")], {}),
    "no quorum": ([], [], {"tags": ["mute"]}),
}
"""What chair and auditor say in order, and the rest of the request, by its name, which the question
begins with.
"""


def script_of(name: str) -> ModelScript:
    """Everybody's words in one case; one seat of all says no opinion, and in the last case three
    do.
    """
    chair, auditor, _ = CASES[name]
    script = ModelScript.of(chair=chair, auditor=auditor).on("seat", "no opinion", role="Mythic")
    for mute in ("Analyst", "Systems") if name == "no quorum" else ():
        script = script.on("seat", "no opinion", role=mute)
    work = {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": "It is open.", "structured": {}},
    }
    return script.on("seat", SPEAK).on("planner", work)


def whole() -> ModelScript:
    """The lines of every case, each for the questions that begin with its name."""
    lines: list[Any] = []
    for name in CASES:
        for line in script_of(name).lines:
            asked = ModelScript().on(
                line.purpose,
                line.says,
                role=line.role,
                index=line.index,
                when=lambda one, name=name: f'"{name}: ' in one.user,
            )
            lines += asked.lines
    return ModelScript(tuple(lines))


async def play(home: Path) -> GoldenTalk:
    """Hold every council; its runs in the order in which they were opened."""
    async with House(home, script=whole(), policy=POLICY) as house:
        for name, (_, _, more) in CASES.items():
            request = DeliberationRequest.model_validate(
                {"prompt": f"{name}: should it open on Sundays?", **more}
            )
            await house.ordain.runtime.wait(
                (await house.ordain.runtime.accept(request, PRINCIPAL)).run
            )
        stored = [
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs ORDER BY no")
        ]
        return GoldenTalk.of(stored, (), house.ordain.catalog)


if __name__ == "__main__":
    make(play)
