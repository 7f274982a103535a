"""Flow ``planner`` in a planning session: what earlier requests came to is claimed and read once,
and stands in its prompts by reference.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import Read
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.rules.plan_session import PlanSessionFacts
from ordain.testing import Played, call, claimed, finish, read, returned, unread
from tests.unit.flows.house import play

EARLIER = {
    "run": "r1",
    "goal": "What is 6 * 7?",
    "status": "ok",
    "answer": "It is 42.",
    "steps": [
        {
            "tool_id": "math.evaluate",
            "input": '{"expression":"6 * 7"}',
            "ok": True,
            "output": "42",
            "records": [4, 9],
        }
    ],
}
SUM = call("math.evaluate", expression="42 + 1")
RESULT = returned({"result": "43", "decimal": "43", "exact": True})


def session(*before: str) -> Any:
    """What the claim finds."""
    return claimed(PlanSessionFacts(session="s", run="scripted", before=before))


def plan(*script: Any) -> Played[PlannerOutcome]:
    given = PlannerRequest.model_validate(
        {
            "goal": {"type": "chat", "description": "And one more?"},
            "toolset": [{"tool_id": "math.evaluate"}],
            "session_id": "sums",
        }
    )
    return play(PLANNER, given, *script)


def test_what_came_before_stands_in_every_prompt_by_one_read() -> None:
    """Each question names the record of the read, and none repeats what it holds.

    FUT-01 "Multi-turn planner sessions: `/plan/react` keeps session IDs for incremental planning."
    """
    played = plan(session("r1"), read([EARLIER]), SUM, RESULT, finish("43"))
    (seen,) = [one for one in played.asked if isinstance(one, Read)]
    assert seen.args == {"runs": ["r1"]}
    assert all("It is 42." in one.user.partition("CONTEXT")[2] for one in played.requests)
    assert len({one.args["beside"]["earlier"] for one in played.model_calls}) == 1
    assert not any("It is 42." in str(one.args) for one in played.model_calls)
    assert "43" in played.requests[1].user.partition("TRACE")[2]


def test_a_first_request_reads_nothing() -> None:
    """There is nothing to go on from."""
    played = plan(session(), finish("43"))
    assert not any(isinstance(one, Read) for one in played.asked)
    assert "beside" not in played.model_calls[0].args
    assert "planning session" in played.header


def test_what_cannot_be_read_is_not_passed_over() -> None:
    """The request fails typed: it would go on from nothing and look as if it went on."""
    played = plan(session("r1"), unread("unavailable", "no"))
    assert played.output is not None
    assert played.output.error == {"code": "unavailable", "message": "no"}
