"""Flow ``council``: a council by itself, and what carries out its call for an agent chain."""

from __future__ import annotations

from typing import Any

from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.council import CouncilDirective, CouncilResult
from ordain.flows.council.outcome import CouncilOutput
from ordain.rules.spend import Spend
from ordain.testing import Played, carved, child_failed, completed, joined
from tests.shapes.council import auditor, chair, heard, hold_council
from tests.unit.flows.house import shipped

DIRECTIVE = {
    "thought": None,
    "finish": True,
    "action": None,
    "final_answer": {"content": "It is open.", "structured": {}},
}
WORKED = {
    "mode": "agent",
    "text": "It is open.",
    "structured": {},
    "planner_raw": {"answer": 9, "directive": DIRECTIVE},
}


def delegated(end: Any, **more: Any) -> Played[CouncilOutput]:
    """A council that calls for the chain, and how that ends."""
    return hold_council(
        heard(), chair(), auditor("delegate"), joined(end), catalog=shipped(), **more
    )


def out(played: Played[CouncilOutput]) -> tuple[CouncilOutput, CouncilResult]:
    assert played.output is not None
    assert played.output.result is not None
    return played.output, played.output.result


def test_a_call_for_the_chain_is_carried_out() -> None:
    """EXE-15 "branch transitions enforced": the reserved verb is entered, by a permit, with the
    packs' verbs; its answer is the council's.
    """
    played = delegated(completed({"ok": True, "output": WORKED}))
    output, result = out(played)
    assert (output.ok, output.next, output.chain) == (
        True,
        CouncilDirective.DELEGATE_CHAIN,
        {"content": "It is open.", "structured": {}},
    )
    assert (result.final_text, result.tentative_text) == ("", "Yes, in the afternoon.")
    spawn = played.spawns[-1]
    assert spawn.authorized is not None
    assert (spawn.flow, spawn.authorized.call.verb) == ("agent_chain", CHAIN_VERB)
    assert "extract_facts" in spawn.scope


def test_a_chain_that_fails_fails_the_council() -> None:
    """EXE-07 "AgentChain `text` is never accepted as terminal text without a validated decision
    that led there".
    """
    failed, _ = out(
        delegated(
            child_failed(
                "max_steps_exhausted",
                {"ok": False, "error": "max_steps_exhausted", "message": "no answer"},
            )
        )
    )
    assert (failed.ok, failed.error, failed.chain) == (False, "max_steps_exhausted", None)
    prose, result = out(delegated(completed({"ok": True, "output": {**WORKED, "planner_raw": {}}})))
    assert (prose.ok, prose.chain) == (False, None)
    assert result.final_text == ""


def test_a_chain_gets_no_longer_question_than_it_takes() -> None:
    """The council is shown the same, and says that it was cut."""
    played = hold_council(
        heard(),
        chair(),
        auditor("delegate"),
        joined(completed({"ok": True, "output": WORKED})),
        catalog=shipped(),
        prompt="long " * 9000,
    )
    output, result = out(played)
    assert output.ok
    assert len(result.prompt) == 32_000
    assert "cut to 32000 characters" in result.meta.note


def test_shared_accounts_that_are_used_up_open_no_council() -> None:
    """Nobody is asked."""
    used = carved({"workspace:2024-10": Spend(tokens=10**9)})
    played = hold_council(used, budget={"workspace": {"tokens": 10, "per": "month"}, "rest": False})
    assert played.output is not None
    assert played.output.error == "budget_exceeded"
    assert played.model_calls == ()
