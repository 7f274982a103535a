"""``ScriptedModels``: which line answers, what is held, late, failed or not scripted, and that
every request is recorded.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.planner import ToolRef
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.schema import Schema
from ordain.flows.steps.prompt import planner_step_schema
from ordain.flows.supervisor.prompt import SCHEMA as MOVE_SCHEMA
from ordain.flows.triage.prompt import SCHEMA as PLACE_SCHEMA
from ordain.flows.turn.router import SCHEMA as PATH_SCHEMA
from ordain.ports.model import ModelError, ModelReply, ModelRequest
from ordain.rules.route import Path
from ordain.rules.supervise import Move
from ordain.testing import (
    ModelScript,
    ScriptedModels,
    ScriptError,
    after,
    call,
    fails,
    finish,
    hold,
    moves,
    output,
    routes,
    says,
    suggests,
)
from tests.unit.flows.house import KINDS


def request(purpose: str = "planner", index: int = 0, verb: str = "", **more: Any) -> ModelRequest:
    given: dict[str, Any] = {"inputs": {}, "timeout_s": 1.0, "narrative": "", **more}
    return ModelRequest(
        profile=ModelProfile(provider="scripted", model="m"),
        purpose=purpose,
        verb=verb,
        system="",
        user="",
        schema_name="s",
        schema={},
        max_tokens=1,
        index=index,
        **given,
    )


async def text(models: ScriptedModels, asked: ModelRequest) -> str:
    reply = await models.attempt(asked)
    return reply.text if isinstance(reply, ModelReply) else str(reply.code)


async def test_lists_answer_by_index() -> None:
    """Not by memory: the same request gets the same answer, as often as it is asked."""
    models = ScriptedModels(planner=["a", "b"], verbs={"tell": [{"x": 1}]})
    assert [await text(models, request(index=index)) for index in (1, 0, 1)] == ["b", "a", "b"]
    assert await text(models, request("verb", verb="tell")) == '{"x":1}'
    assert [one.index for one in models.asked("planner")] == [1, 0, 1]


async def test_lines_answer_what_they_fit() -> None:
    """By purpose, verb, role, index and typed inputs; the first that fits; a function may leave it
    to the next.
    """
    script = (
        ModelScript()
        .on("planner", "chair", role="chair")
        .on("planner", "lamp", when=lambda asked: "lamp" in asked.inputs.get("message", ""))
        .on("planner", lambda asked: f"call {asked.index}" if asked.index else None)
        .on("", "any")
    )
    models = ScriptedModels(script)
    cases = [({"role": "chair"}, 0), ({"message": "the lamp"}, 0), ({}, 2), ({}, 0)]
    assert [await text(models, request(index=index, inputs=inputs)) for inputs, index in cases] == [
        "chair",
        "lamp",
        "call 2",
        "any",
    ]


async def test_what_is_not_scripted_is_said() -> None:
    """As a typed failure to the run, and to the test when it asks."""
    models = ScriptedModels(planner=["a"])
    assert await text(models, request("router")) == "script_exhausted"
    with pytest.raises(ScriptError, match="router"):
        models.check()


async def test_an_answer_for_another_purpose_is_none() -> None:
    """A script that has got out of step says so."""
    reply = await ScriptedModels(ModelScript().on("", moves("finish"))).attempt(request())
    assert isinstance(reply, ModelError)
    assert "planner" in reply.message


async def test_a_held_call_waits_for_the_test() -> None:
    """It can be let go, and be given up."""
    held = hold(finish("42"))
    models = ScriptedModels(planner=[held])
    first = asyncio.create_task(models.attempt(request()))
    await held.reached()
    assert (held.waiting, first.done()) == (1, False)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(models.attempt(request()))
    await asyncio.sleep(0)
    held.release()
    assert isinstance(await second, ModelReply)
    assert (held.abandoned, held.waiting) == (1, 0)


async def test_delays_move_a_clock_or_time_out_at_once() -> None:
    """Nothing is slept for where somebody else moves the time, or where nobody would wait for
    it.
    """
    passed: list[int] = []
    models = ScriptedModels(
        planner=[after(300, "late"), after(5000, "too late")], passes=passed.append
    )
    assert [await text(models, request(index=index)) for index in (0, 1)] == ["late", "timed_out"]
    assert passed == [300]


async def test_whoever_listens_hears_the_narrative() -> None:
    """The text at the place that the request names, and nothing else."""
    heard: list[str] = []
    models = ScriptedModels(planner=[finish("It is 42."), "no JSON"])
    for index in (0, 1):
        await models.attempt(request(index=index, narrative="final_answer.content"), heard.append)
    assert heard == ["It is 42."]


async def test_failures_have_their_code_and_cost() -> None:
    """As an adapter reports them."""
    reply = await ScriptedModels(planner=[fails("rate_limited", retry_after_ms=7)]).attempt(
        request()
    )
    assert isinstance(reply, ModelError)
    assert (reply.code, reply.retry_after_ms) == (ModelErrorCode.RATE_LIMITED, 7)
    with pytest.raises(ValueError, match="no such"):
        fails("no such")


@given(
    st.sampled_from(list(Move)),
    st.sampled_from(list(Path)),
    st.floats(0, 1),
    st.text(min_size=1, max_size=20),
)
def test_what_is_built_fits_its_contract(
    move: Move, path: Path, confidence: float, word: str
) -> None:
    """Every builder makes an answer that its prompt's schema accepts, for a purpose that a shipped
    kind has.
    """
    step = planner_step_schema((ToolRef(tool_id="t", input_schema={"type": "object"}),))
    built = [
        (call("t", word=word), step),
        (finish(word), step),
        (moves(move), MOVE_SCHEMA),
        (routes(path, confidence=confidence), PATH_SCHEMA),
        (suggests("new_request", confidence=confidence), PLACE_SCHEMA),
        (output(word=word), {"type": "object"}),
    ]
    for proposal, schema in built:
        assert Schema(schema).accepts(msgspec.json.decode(proposal.text))
        assert proposal.purpose in KINDS.prompts


def test_values_say_what_they_are() -> None:
    """In the message of a test that fails."""
    shown = repr(
        [
            says("x"),
            fails("rejected"),
            after(5, finish("42")),
            hold(),
            ScriptedModels(planner=["a"]),
        ]
    )
    assert all(
        part in shown
        for part in ("any: x", "rejected", "after 5 ms", "held (0 waiting", "asked 0 times")
    )
