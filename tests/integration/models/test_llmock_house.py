"""The whole house before llmock, whose own verdict says whether what happened was resilient:
retries, delays, fallback, honest ends.
"""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from ordain.app import Ordain
from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Lane
from ordain.models.refusals import DOUBTED
from tests.integration.models.houses import open_house, settings
from tests.integration.models.wire import API_KEY, PROTOCOLS, Protocol, profile

pytestmark = pytest.mark.asyncio(loop_scope="module")
Script = Callable[..., None]
PATIENT_S = 20
"""A time-out that nobody sits through: as long as the fake server holds its answer back."""


@pytest.fixture(scope="module", params=PROTOCOLS, ids=[protocol.name for protocol in PROTOCOLS])
def wire_of(request: pytest.FixtureRequest) -> Protocol:
    return request.param


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(
    wire_of: Protocol, llmock_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Ordain]:
    """A house whose only model is llmock behind one wire; at the end every run of it replays
    equal.
    """
    async with open_house(
        tmp_path_factory.mktemp("house"), profile(wire_of, llmock_url)
    ) as running:
        yield running


def read(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}/_llmock/{path}", timeout=10) as answer:
        return json.load(answer)


def resilient(url: str, attempts: int) -> list[dict[str, Any]]:
    """llmock finds nothing to say against it, and it saw this many requests.

    A garbled event is in a stream that it may send to its end, and then it does not take the next
    request for the retry that it asks for.
    """
    verdict = read(url, "verdict")
    assert verdict["passed"], verdict
    requests = read(url, "requests")["requests"]
    garbled = [
        request["seq"]
        for request in requests
        if (request["fault"] or "").startswith("stream:malformed")
    ]
    assert [
        found
        for found in verdict["findings"]
        if (found["code"], found["requests"]) != ("malformed_chunk_ignored", garbled)
    ] == []
    assert len(requests) == attempts, requests
    return requests


def header_of(answer: MessageAnswer) -> str:
    assert answer.reply is not None
    return answer.reply.header


ONCE: list[tuple[str, dict[str, Any], ModelErrorCode]] = [
    (
        "rate limited",
        {"type": "fail", "status": 429, "retry_after": 0.3},
        ModelErrorCode.RATE_LIMITED,
    ),
    ("overloaded", {"type": "fail", "status": 529, "retry_after": 0.2}, ModelErrorCode.OVERLOADED),
    ("unavailable", {"type": "fail", "status": 503, "retry_after": 0.2}, ModelErrorCode.OVERLOADED),
    ("server error", {"type": "fail", "status": 500}, ModelErrorCode.SERVER_ERROR),
    (
        "dropped",
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 1},
        ModelErrorCode.CONNECTION,
    ),
    (
        "cut at once",
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 0},
        ModelErrorCode.CONNECTION,
    ),
    (
        "cut off",
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 1},
        ModelErrorCode.CONNECTION,
    ),
    (
        "garbled",
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 1},
        ModelErrorCode.MALFORMED,
    ),
]


@pytest.mark.parametrize(
    ("fault", "code"), [pytest.param(fault, code, id=name) for name, fault, code in ONCE]
)
async def test_one_fault_is_survived(
    house: Ordain,
    llmock_url: str,
    script_llmock: Script,
    fault: dict[str, Any],
    code: ModelErrorCode,
) -> None:
    """FAIL-03 "policy fallback is attempted before any user-visible failure": one more attempt,
    after the delay, and the header says so.
    """
    # words enough for every stream to have more than one event
    text = "Good day to you, and a good evening after it."
    script_llmock({"type": "reply", "text": text, "times": 2}, {**fault, "times": 1})
    answer = await house.chat("Say good day.", session=f"once:{uuid4()}")
    assert answer.reply is not None
    resilient(llmock_url, 2)
    assert (answer.reply.ok, answer.reply.narrative) == (True, text), answer
    assert code.value in header_of(answer)


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_of_the_answers_tool_is_survived(
    house: Ordain, llmock_url: str, script_llmock: Script, kind: str
) -> None:
    """FAIL-03 "policy fallback is attempted before any user-visible failure": a tool that is called
    wrongly is offered once more, as a tool.
    """
    step = {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": "It is done.", "structured": {}},
    }
    called = [{"name": "planner_step", "arguments": {"answer": step}}]
    script_llmock(
        {"type": "reply", "tool_calls": called, "times": 2},
        {"type": "tool_fault", "kind": kind, "times": 1},
    )
    answer = await house.chat("Finish.", session=f"tool:{uuid4()}", mode="agent")
    assert answer.reply is not None
    resilient(llmock_url, 2)
    assert (answer.reply.ok, answer.reply.narrative) == (True, "It is done."), answer
    assert ModelErrorCode.MALFORMED.value in header_of(answer)
    assert "fallback.lower" not in header_of(answer)


@pytest.mark.parametrize("text", ["It is {blue}.", "✓ math.evaluate: 42", "Good day."])
async def test_chat_is_words(
    house: Ordain, llmock_url: str, script_llmock: Script, text: str
) -> None:
    """Over every wire one request without schema or tool, and what the model writes is the answer
    as it stands.
    """
    script_llmock({"type": "reply", "text": text, "times": 1})
    answer = await house.chat("Say good day.", session=f"words:{uuid4()}")
    assert answer.reply is not None
    assert (answer.reply.ok, answer.reply.narrative) == (True, text)
    (request,) = resilient(llmock_url, 1)
    assert not request.get("tools")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_no_repetition_mends_is_asked_once(
    house: Ordain, wire_of: Protocol, llmock_url: str, script_llmock: Script, status: int
) -> None:
    """A refusal that would come again ends the turn with its code, after one request; one that says
    of a request that it is wrong, and not where, after one for each step down.
    """
    script_llmock({"type": "fail", "status": status, "times": None})
    answer = await house.chat("Say good day.", session=f"no:{status}")
    steps = len(DOUBTED) if status in {400, 422} and wire_of.name in {"chat", "responses"} else 0
    resilient(llmock_url, 1 + steps)
    assert answer.reply is not None
    assert not answer.reply.ok
    assert API_KEY not in header_of(answer)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_outage_is_no_storm(
    wire_of: Protocol, llmock_url: str, script_llmock: Script, tmp_path: Path, status: int
) -> None:
    """Where nothing gets better, a turn makes as many attempts as policy permits and ends as
    failed.
    """
    script_llmock({"type": "fail", "status": status, "retry_after": 0.1, "times": None})
    async with open_house(tmp_path, profile(wire_of, llmock_url), backoff_ms=1) as house:
        answer = await house.chat("Say good day.", session=f"outage:{status}")
        resilient(
            llmock_url, house.runtime.services.catalogs.current.policy.fallback.attempts_at_last
        )
    assert answer.reply is not None
    assert not answer.reply.ok


@pytest.mark.parametrize(
    "number", range(len(PROTOCOLS)), ids=[f"{protocol.name} fails" for protocol in PROTOCOLS]
)
async def test_another_provider_takes_over(
    llmock_url: str, script_llmock: Script, tmp_path: Path, number: int
) -> None:
    """LLM-04 "Provider/profile/model fallback is automatic and policy-driven": a lost key at one
    provider is the next one's turn.
    """
    first, second = PROTOCOLS[number], PROTOCOLS[(number + 2) % len(PROTOCOLS)]
    script_llmock(
        {"type": "fail", "status": 401, "times": None, "match": {"provider": first.provider}}
    )
    async with open_house(
        tmp_path, profile(first, llmock_url), profile(second, llmock_url)
    ) as house:
        answer = await house.chat("Say good day.")
        requests = resilient(llmock_url, 2)
    assert [request["provider"] for request in requests] == [first.provider, second.provider]
    assert answer.reply is not None
    assert answer.reply.ok
    assert "authentication" in header_of(answer)


@pytest.mark.asyncio(loop_scope="function")
async def test_a_stall_is_the_next_ones_turn(
    wire_of: Protocol,
    llmock_url: str,
    script_llmock: Script,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A model that stops in the middle is given up at its time-out; the next profile answers."""
    # its time is this test's own: it has passed once the server has the request
    loop, passed = asyncio.get_running_loop(), [0.0]
    plainly = loop.time
    monkeypatch.setattr(loop, "time", lambda: plainly() + passed[0])
    script_llmock(
        {
            "type": "stream_fault",
            "kind": "stall",
            "after_chunks": 0,
            "stall_seconds": 20,
            "times": 1,
        }
    )
    async with open_house(
        tmp_path,
        profile(wire_of, llmock_url, timeout_ms=1000 * PATIENT_S),
        profile(wire_of, llmock_url),
    ) as house:
        said = asyncio.ensure_future(house.chat("Say good day."))
        while (await asyncio.to_thread(read, llmock_url, "scenario"))["pending"]:  # noqa: ASYNC110 - until a request has taken it, which the server tells nobody
            await asyncio.sleep(0.02)
        for _ in range(PATIENT_S + 1):
            # second by second: what passes at one blow is time that nobody had
            passed[0] += 1
            await asyncio.sleep(0.01)
        answer = await said
        resilient(llmock_url, 2)
    assert answer.reply is not None
    assert answer.reply.ok
    assert "timed_out" in header_of(answer)


async def test_each_profile_has_its_backend(
    llmock_url: str, script_llmock: Script, tmp_path: Path
) -> None:
    """LLM-01 "uses the profile's/backend's configured backend (vLLM or Gemini today), calls it,
    publishes the reply": by lane and profile.

    LLM-01 "Gateway selects an LLM profile (e.g. `gemini-planner-profile`)"
    """
    chat, gemini = PROTOCOLS[0], PROTOCOLS[3]
    base = settings(tmp_path, profile(gemini, llmock_url), profile(chat, llmock_url))
    profiles = {"gemini-planner-profile": base.profiles["m0"], "vllm-profile": base.profiles["m1"]}
    lanes = base.policy.lanes.model_copy(
        update={
            "planner": Lane.BRAIN,
            "verb": Lane.LOCAL,
            "profiles": {Lane.BRAIN: [*profiles][:1], Lane.LOCAL: [*profiles][1:]},
        }
    )
    policy = base.policy.model_copy(update={"lanes": lanes})
    asked = {
        "thought": "ask",
        "finish": False,
        "action": {"tool_id": "chat_general", "input": {"text": "Hello?"}},
        "final_answer": None,
    }
    done = {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": "It said hello.", "structured": {}},
    }
    replies = [
        ("gemini", "planner_step", {"answer": asked}),
        ("openai", "", "Hello."),
        ("gemini", "planner_step", {"answer": done}),
    ]
    script_llmock(
        *(
            {
                "type": "reply",
                **(
                    {"tool_calls": [{"name": name, "arguments": given}]}
                    if name
                    else {"text": given}
                ),
                "times": 1,
                "match": {"provider": provider},
            }
            for provider, name, given in replies
        )
    )
    update = {"profiles": profiles, "policy": policy, "secrets": dict.fromkeys(profiles, API_KEY)}
    async with Ordain(base.model_copy(update=update)) as house:
        goal = {"type": "analysis", "description": "Say hello and tell what came back."}
        limits = {"max_steps": 3, "timeout_seconds": 60}
        response = (
            await house.plan(
                {"goal": goal, "toolset": [{"tool_id": "chat_general"}], "limits": limits}
            )
        ).wire
    assert (response["status"], response["final_answer"]["content"]) == ("ok", "It said hello."), (
        response
    )
    requests = resilient(llmock_url, 3)
    assert [(request["provider"], request["model"]) for request in requests] == [
        ("gemini", "gemini-2.5-pro"),
        ("openai", "gpt-4o"),
        ("gemini", "gemini-2.5-pro"),
    ]
    assert "gemini-planner-profile" in response["header"]


async def test_a_planner_survives_a_broken_step(
    house: Ordain, llmock_url: str, script_llmock: Script
) -> None:
    """A step whose tool call is broken is no step; asked again, the model finishes."""
    step = {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": "It is done.", "structured": {}},
    }
    called = {
        "type": "reply",
        "tool_calls": [{"name": "planner_step", "arguments": {"answer": step}}],
        "times": 2,
    }
    script_llmock(called, {"type": "tool_fault", "kind": "malformed_arguments", "times": 1})
    goal = {"type": "analysis", "description": "Finish."}
    response = (
        await house.plan(
            {
                "goal": goal,
                "toolset": [{"tool_id": "math.evaluate"}],
                "limits": {"max_steps": 3, "timeout_seconds": 60},
            }
        )
    ).wire
    assert (response["status"], response["final_answer"]["content"]) == ("ok", "It is done."), (
        response
    )
    resilient(llmock_url, 2)
