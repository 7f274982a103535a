"""What a council's seats, chair and auditor say, and a council that is played by a script."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.council import DeliberationRequest
from ordain.effects.effect import Children, ModelCall
from ordain.flows.council.kind import COUNCIL_KIND
from ordain.flows.council.outcome import CouncilOutput
from ordain.testing import Played, ScriptedEffects, Standing, completed, joined, proposes
from ordain.testing.script import Asked, Joining, ScriptItem
from tests.unit.flows.house import KINDS, shipped

CORE = ("Analyst", "Mythic", "Pragmatist", "Systems")
QUESTION = "Should the library open on Sundays?"
SCORES = {
    "coherence": 0.8,
    "faithfulness": 0.8,
    "usefulness": 0.8,
    "risk": 0.2,
    "effort_cost": 0.4,
    "novelty": 0.5,
    "overall": 0.8,
}
PROSE: tuple[str, ...] = (
    "I accept this answer.",
    "maybe",
    '"maybe"',
    "",
    "null",
    '["accept"]',
    '{"action": "accept"} {"action": "accept"}',
    "{",
)
"""What is no object of any contract's."""


def judgement(answer: str = "Yes, in the afternoon.", /, **more: Any) -> dict[str, Any]:
    """A chair's judgement; ``scores`` and ``disagreement`` change single values of a whole one, and
    take its place where they are no objects.
    """
    scores, level = more.pop("scores", {}), more.pop("disagreement", 0.1)
    return {
        "proposed_answer": answer,
        "scores": {**SCORES, **scores} if isinstance(scores, Mapping) else scores,
        "disagreement": {"level": level, "notes": ""},
        "notes": "",
        **more,
    }


def verdict(action: str = "accept", /, **more: Any) -> dict[str, Any]:
    """An auditor's verdict."""
    return {"action": action, "reason": f"so I say {action}", **more}


def chair(answer: str = "Yes, in the afternoon.", /, **more: Any) -> ScriptItem:
    """The chair's judgement as a scripted answer."""
    return proposes("chair", judgement(answer, **more))


def auditor(action: str = "accept", /, **more: Any) -> ScriptItem:
    """The auditor's verdict as a scripted answer."""
    return proposes("auditor", verdict(action, **more))


def heard(*names: str, said: str = "I think so.") -> Joining:
    """All of these seats speak."""
    return joined(*(completed({"name": name, "text": said}) for name in names or CORE))


@cache
def chainless() -> Catalog:
    """The shipped catalog of a build without an agent chain."""
    data = shipped().data
    return shipped().changed(
        verbs={name: spec for name, spec in data.verbs.items() if name != CHAIN_VERB}
    )


def hold_council(
    *script: Any,
    policy: Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    catalog: Catalog | None = None,
    replays: bool = True,
    runs: int | None = None,
    **request: Any,
) -> Played[CouncilOutput]:
    """A council's run of its own by this script; its journal replays equal. ``policy`` is of its
    section; no attempt is waited for.

    ``runs``: how many may be opened below it.
    """
    given = DeliberationRequest(**{"prompt": QUESTION, **request})
    tables = {
        "council": dict(policy or {}),
        "budget": dict(budget or {}),
        "fallback": {"backoff_ms": 0},
    }
    effects = ScriptedEffects(
        COUNCIL_KIND,
        catalog or chainless(),
        policy=tables,
        kinds=KINDS,
        standing=Standing(runs=runs),
    )
    played = effects.play(given, script[0] if script and callable(script[0]) else script)
    if replays:
        replayed = played.replayed()
        assert replayed.equal, replayed
    return played


def asks(played: Played[Any]) -> list[str]:
    """What a council asked for, in order: ``seats``, and chair and auditor by their names."""
    return [named(one) for one in played.asked]


def named(asked: Asked) -> str:
    """Whom a council asks."""
    if isinstance(asked, Children):
        return "seats"
    return asked.role if isinstance(asked, ModelCall) else type(asked).__name__
