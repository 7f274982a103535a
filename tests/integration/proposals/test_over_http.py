"""Malformed proposals through the real path: an HTTP provider in a process of its own, the adapter,
the flow, the journal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from ordain.app import Ordain
from ordain.contracts.profiles import Structured
from ordain.rules.step import StepReason
from ordain.settings import load_settings
from tests.integration.proposals.corpus import CLASSES, variants
from tests.integration.proposals.materials import OUTSIDE, VERBS, MalformedClass, acting, finishing

STEPS = range(3)
MOST_TOKENS = 100_000
"""No answer of the corpus ends a run by its size alone."""
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The fake provider's address."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("model_server.py"))],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.terminate()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ordain(provider: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ordain]:
    """An Ordain whose only model is the fake provider, which is held to a schema by words alone: in
    any other way prose would be asked for again.
    """
    home = tmp_path_factory.mktemp("ordain")
    settings = load_settings(
        {"OPENAI_BASE_URL": f"{provider}/v1", "OPENAI_API_KEY": "sk-none"}, home
    )
    profiles = {
        name: one.model_copy(update={"structured": Structured.TEXT})
        for name, one in settings.profiles.items()
    }
    limits = settings.policy.limits.model_copy(update={"max_tokens_reason": MOST_TOKENS})
    policy = settings.policy.model_copy(update={"limits": limits})
    changed = settings.model_copy(update={"profiles": profiles, "policy": policy})
    async with Ordain(changed, verbs=VERBS) as running:
        yield running


def request(
    case: str, tools: tuple[str, ...] = tuple(verb.spec.name for verb in VERBS)
) -> dict[str, Any]:
    return {
        "goal": {"type": "analysis", "description": f"[case:{case}] Find out."},
        "toolset": [{"tool_id": tool} for tool in tools],
        "limits": {"max_steps": 8, "timeout_seconds": 60, "max_tokens_reason": MOST_TOKENS},
    }


async def play(
    ordain: Ordain, provider: str, case: str, answers: list[str]
) -> tuple[dict[str, Any], int]:
    """Run a request against these answers; the response, and how many answers were asked for."""
    async with httpx2.AsyncClient(base_url=provider, verify=False) as client:
        await client.post("/script", json={case: answers})
        response = (await ordain.plan(request(case))).wire
        return response, (await client.get("/calls")).json()[case]


def called(seed: str, count: int) -> list[str]:
    return [json.dumps(acting(Random(f"{seed}/{number}"))) for number in range(count)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("malformed", CLASSES, ids=lambda malformed: malformed.name)
async def test_a_malformed_proposal_fails_the_run(
    ordain: Ordain, provider: str, malformed: MalformedClass, step: int
) -> None:
    """B-25 "a second one fails the run with the first reason": at every step, after one re-ask, and
    never as prose or success.

    EXE-14 "never silent prose fallback"
    """
    texts = variants(malformed)
    place = 7 * step + 1
    answers = [*called(malformed.name, step), texts[place], texts[-place]]
    response, asked = await play(ordain, provider, f"{malformed.name}/{step}", answers)
    assert response["status"] == "error"
    assert response["error"]["code"] == malformed.reason
    assert response["final_answer"] is None
    assert asked == len(answers)
    assert len(response["trace"]) == response["usage"]["steps"] == len(answers)
    assert len(response["usage"]["tools_called"]) == step
    assert all(line["action"] and line["observation"]["ok"] for line in response["trace"][:step])
    assert all(
        line["action"] is None and line["observation"] is None for line in response["trace"][step:]
    )
    assert response["header"].count(malformed.reason) >= 2
    assert " · failed · " in response["header"].splitlines()[0]


@pytest.mark.parametrize("number", range(0, len(CLASSES), 5))
async def test_the_first_reason_stands(ordain: Ordain, provider: str, number: int) -> None:
    """B-25 "a second one fails the run with the first reason": the code is the first refusal's,
    also with valid steps in between.
    """
    first = CLASSES[number]
    second = next(
        other for other in CLASSES[number + 1 :] + CLASSES if other.reason is not first.reason
    )
    for between in (0, 1):
        answers = [variants(first)[0], *called(first.name, between), variants(second)[0]]
        response, asked = await play(ordain, provider, f"first/{first.name}/{between}", answers)
        assert (response["error"]["code"], asked) == (first.reason, 2 + between)


@pytest.mark.parametrize("number", range(0, len(CLASSES), 5))
async def test_a_valid_second_try_goes_on(ordain: Ordain, provider: str, number: int) -> None:
    """B-25 "One re-ask per run": after one malformed proposal a valid one is accepted, and the
    refused one stays in trace and header.
    """
    malformed = CLASSES[number]
    final = finishing(Random(malformed.name))
    response, asked = await play(
        ordain,
        provider,
        f"second/{malformed.name}",
        [*called("second", 1), variants(malformed)[3], json.dumps(final)],
    )
    assert (response["status"], response["error"], asked) == ("ok", None, 3)
    assert response["final_answer"] == final["final_answer"]
    assert [line["action"] is None for line in response["trace"]] == [False, True, True]
    assert malformed.reason in response["header"]


async def test_nothing_is_called_that_was_refused(ordain: Ordain, provider: str) -> None:
    """PLN-26 "Only tools in this run's `toolset` may be used": a registered verb outside it is
    refused and no call of it begins.
    """
    action = {"tool_id": OUTSIDE[0], "input": {"text": "Alice lives in Paris."}}
    outside = json.dumps({"thought": "t", "finish": False, "action": action, "final_answer": None})
    response, _ = await play(ordain, provider, "outside", [outside, outside])
    assert response["error"]["code"] == StepReason.TOOL_OUTSIDE
    stored = (await ordain.runtime.view(response["run_id"])).stored
    assert not [
        record for record in stored.records if record.name in {"verb_call", "children", "authorize"}
    ]
