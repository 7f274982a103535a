"""The whole house over a real small model that is mostly wrong: code decides, every run is bounded
and replays equal.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from ordain.app import Extras, Ordain, with_profile
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.flows.shipped import shipped_kinds
from ordain.journal.records import RecordKind
from ordain.ports.model import ModelPort
from ordain.runtime.spending import By, SpendingSpan, spent
from ordain.settings import Settings, load_settings
from tests.integration.models.smollm2 import installed
from tests.replayed import replayed

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_TOKENS = 64
PROFILE = ModelProfile(
    provider="local",
    model="smollm2",
    max_tokens=MAX_TOKENS,
    timeout_ms=120_000,
    context_tokens=8192,
    temperature=0,
)
STEPS = 2
RULES = shipped_kinds().rules


class Lent:
    """Somebody else's model, which outlives the house that uses it."""

    def __init__(self, model: ModelPort) -> None:
        self.attempt = model.attempt

    async def close(self) -> None:
        """The lender does."""


def bounded(settings: Settings) -> Settings:
    """Turns of two steps, with one question more after an invalid directive."""
    classes = {
        name: caps.model_copy(
            update={
                "max_steps": STEPS,
                "max_tokens_reason": 2 * MAX_TOKENS,
                "max_tokens_answer": MAX_TOKENS,
            }
        )
        for name, caps in settings.policy.router.classes.items()
    }
    router = settings.policy.router.model_copy(update={"classes": classes})
    supervisor = settings.policy.supervisor.model_copy(
        update={"max_steps": STEPS, "tools": ["math.evaluate"]}
    )
    fallback = settings.policy.fallback.model_copy(
        update={"attempts_total": 1, "attempts_per_profile": 1}
    )
    return settings.model_copy(
        update={
            "policy": settings.policy.model_copy(
                update={"router": router, "supervisor": supervisor, "fallback": fallback}
            )
        }
    )


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def house() -> AsyncIterator[Ordain]:
    home = installed()
    settings = bounded(with_profile(load_settings({}, home), PROFILE))
    async with Ordain(settings, extras=Extras(memory=True)) as ordain:
        yield ordain


async def check(ordain: Ordain, offered: Sequence[str]) -> None:
    """Every run so far is at rest, kept to its bounds and what it was offered, decided by known
    reasons, and replays equal.
    """
    rows = await ordain.runtime.runs(roots_only=False, limit=500)
    assert rows
    for row in rows:
        stored = ordain.store.stored(row.id)
        assert stored is not None
        assert stored.status in {"completed", "failed"}, stored.status
        verdict = replayed(ordain.runtime.services, stored)
        assert verdict.equal, verdict
        bodies = [
            (record, msgspec.json.decode(record.body or b"null")) for record in stored.records
        ]
        steps = [body for record, body in bodies if record.name == "step"]
        assert all(
            RULES[record.name].reason(body["reason"])
            for record, body in bodies
            if record.kind is RecordKind.DECISION
        )
        assert len(steps) <= 2 * STEPS
        called = [
            body["effect"]["authorized"]["call"]["verb"]
            for record, body in bodies
            if record.name == "verb_call" and "effect" in body
        ]
        assert set(called) <= set(offered)
        answers = [
            body["result"]
            for record, body in bodies
            if record.name == "model_call" and "result" in body
        ]
        assert all(answer.get("output_tokens", 0) <= MAX_TOKENS for answer in answers)


async def test_a_plan_is_bounded_whatever_is_proposed(house: Ordain) -> None:
    """A planning run ends within its steps with an answer or a typed error, calls nothing but what
    it was offered, and replays equal.
    """
    given: dict[str, Any] = {
        "caller": "test",
        "goal": {"type": "ask", "description": "What is 17 + 25?"},
        "toolset": [{"tool_id": "math.evaluate"}],
        "limits": {
            "max_steps": STEPS,
            "max_tokens_reason": 2 * MAX_TOKENS,
            "max_tokens_answer": MAX_TOKENS,
        },
    }
    answer = (await house.plan(given)).wire
    assert answer["status"] in {"ok", "error", "partial"}
    assert answer["status"] == "ok" or answer["error"]["code"]
    assert answer["usage"]["steps"] <= STEPS
    await check(house, ["math.evaluate"])


@pytest.mark.parametrize("mode", ["brain", "agent"])
async def test_a_turn_is_answered_under_a_true_header(house: Ordain, mode: str) -> None:
    """A turn of either mode ends under its header with an answer or an honest failure, and replays
    equal.

    LLM-01: "Gateway selects an LLM profile"
    """
    answer = await house.chat("Say hello.", session=mode, mode=mode)
    assert answer.reply is not None
    assert answer.reply.header.startswith(("✓", "✗"))
    assert "(local: " in answer.reply.header
    # it was reached, and understood
    assert not any(code in answer.reply.header for code in ("connection", "not_found", "rejected"))
    await check(house, ["math.evaluate"])


async def test_it_chats_in_words_and_no_plan_is_made_of_them(house: Ordain) -> None:
    """Chat is answered by what it writes, cut or not; as an agent it answers by a plan, or says
    plainly that it could not.
    """
    said = (await house.chat("Name three colours.", session="words")).reply
    assert said is not None
    assert said.ok, said
    assert said.narrative.strip()
    assert "{" not in said.narrative[:1]
    agent = (await house.chat("What is 17 + 25?", session="plans", mode="agent")).reply
    assert agent is not None
    assert (
        agent.ok
        or "the model could not plan" in agent.narrative
        or "(max_steps_exhausted)" in agent.narrative
        or "(token_limit)" in agent.narrative
    )
    await check(house, ["math.evaluate"])


async def test_prose_in_place_of_a_step_is_refused(house: Ordain) -> None:
    """Without a schema's enforcement it writes what it likes: whatever is no step is refused by a
    typed reason, and replays equal.
    """
    settings = bounded(
        with_profile(
            load_settings({}, installed()),
            PROFILE.model_copy(update={"structured": Structured.TEXT}),
        )
    )
    async with Ordain(
        settings, extras=Extras(memory=True, models={"default": Lent(house.models["default"])})
    ) as loose:
        answer = await loose.plan(
            {
                "caller": "test",
                "goal": {"type": "ask", "description": "Tell me about the sea."},
                "toolset": [{"tool_id": "math.evaluate"}],
                "limits": {"max_steps": 1, "max_tokens_reason": 40, "max_tokens_answer": 40},
            }
        )
        assert answer.status in {"ok", "error"}
        records = [
            record
            for row in await loose.runtime.runs()
            for record in loose.store.stored(row.id).records
        ]  # type: ignore[union-attr]
        assert any(record.name == "lane" for record in records)
        await check(loose, ["math.evaluate"])


async def test_what_it_cost_is_nothing_and_is_said(house: Ordain) -> None:
    """Its attempts stand in the account of costs with their tokens, and cost nothing."""
    await house.plan(
        {
            "caller": "test",
            "goal": {"type": "ask", "description": "Name a colour."},
            "toolset": [],
            "limits": {"max_steps": 1},
        }
    )
    now = house.runtime.services.clock.now()
    found = await spent(
        house.runtime.search,
        house.kinds,
        By.MODEL,
        SpendingSpan(workspace="default", since=0, until=now, slack_us=0),
    )
    assert list(found.groups) == ["default"]
    assert found.total.attempts >= 1
    assert set(found.total.failures) <= {"truncated", "malformed"}
    assert found.total.usd_micros == 0
    assert found.total.tokens > 0
