"""The shared budget of a workspace's day: carved at a run's start in one transaction, given back at its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ordain.contracts.policy import AccountPolicy
from ordain.flows.shipped import shipped_flows
from ordain.journal.folds import Fold
from ordain.runtime.replay import replay
from ordain.settings import Settings, load_settings
from tests.replay.golden import SUM, act, finish, request, scripted

RUN_TOKENS = 100_000


def settings(home: Path, **budget: int | AccountPolicy) -> Settings:
    """Shipped settings with another budget."""
    shipped = load_settings({}, home)
    table = shipped.policy.budget.model_copy(update={"run_tokens": RUN_TOKENS, "rest": False, **budget})
    return shipped.model_copy(update={"policy": shipped.policy.model_copy(update={"budget": table})})


def slow(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that takes a while, so that runs overlap."""
    return {"$delay_ms": 50, "$answer": answer}


async def test_only_as_many_runs_as_the_day_covers(tmp_path: Path) -> None:
    """Of five runs at once, exactly those start whose whole bound the day's account covers; the others fail with its reason."""
    async with scripted(settings(tmp_path, day_tokens=2 * RUN_TOKENS), [slow(finish("done"))], {}) as ordain:
        answers = await asyncio.gather(*(ordain.plan(request(request_id=str(n))) for n in range(5)))
        refused = [answer for answer in answers if answer["status"] != "ok"]
        assert len(refused) == 3
        assert {answer["error"]["code"] for answer in refused} == {"budget_exceeded"}
        assert all("budget.account" in answer["header"] for answer in refused)


async def test_what_was_not_used_comes_back(tmp_path: Path) -> None:
    """After a run the account holds what the run used and nothing more, and the next run starts."""
    script = [act("math.evaluate", SUM), finish("4")]
    async with scripted(settings(tmp_path, day_tokens=RUN_TOKENS + 50_000), script, {}) as ordain:
        used = 0
        for number in range(3):
            answer = await ordain.plan(request("math.evaluate", request_id=str(number)))
            assert answer["status"] == "ok"
            stored = ordain.store.load(answer["run_id"])
            assert stored is not None
            used += Fold(stored.id, stored.records).spent.tokens
            assert ordain.store.query("SELECT tokens FROM accounts") == [(used,)]


async def test_claims_replay_on_their_recorded_facts(tmp_path: Path) -> None:
    """A run with a claim replays equal, granted or refused, without the account it was decided on."""
    async with scripted(settings(tmp_path, day_tokens=RUN_TOKENS), [slow(finish("done"))], {}) as ordain:
        answers = await asyncio.gather(*(ordain.plan(request(request_id=str(n))) for n in range(2)))
        assert {answer["status"] for answer in answers} == {"ok", "error"}
        for answer in answers:
            stored = ordain.store.load(answer["run_id"])
            assert stored is not None
            assert [record.name for record in stored.records if record.kind == "claim"] == ["carve"]
            assert replay(stored, ordain.catalog, shipped_flows()).equal


async def test_no_account_without_a_bound(tmp_path: Path) -> None:
    """Where policy sets no bound for the day, no claim is made."""
    async with scripted(settings(tmp_path), [finish("done")], {}) as ordain:
        await ordain.plan(request())
        assert ordain.store.query("SELECT count(*) FROM accounts") == [(0,)]


async def test_verb_calls_are_charged_too(tmp_path: Path) -> None:
    """A single verb call is a run like any other: it needs the day's account."""
    async with scripted(settings(tmp_path, day_tokens=RUN_TOKENS - 1), [], {}) as ordain:
        reply = await ordain.execute("math.evaluate", SUM)
        assert (reply["ok"], reply["error"]["code"]) == (False, "budget_exceeded")


async def test_an_account_of_each_session_agent_and_workspace(tmp_path: Path) -> None:
    """Every account that policy bounds is charged with what a turn used, by names that hold their period; a planner's by its caller.

    RTE-11: "Code enforces model selection and budget caps"
    """
    bound = AccountPolicy(tokens=10 * RUN_TOKENS)
    per_month = AccountPolicy(tokens=10 * RUN_TOKENS, per="month")
    found = settings(tmp_path, session=bound, agent=bound, workspace=per_month)
    async with scripted(found, [finish("done")], {"chat_general": [{"content": "Hello."}]}) as ordain:
        told = await ordain.chat("hi", session="s")
        assert told.reply is not None
        assert told.reply.ok
        planned = await ordain.plan(request())
        assert planned["status"] == "ok"
        rows = dict(ordain.store.query("SELECT name, tokens FROM accounts"))
    month = [name for name in rows if name.startswith("workspace:")]
    assert set(rows) == {"session:s", "agent:chat_general", "agent:test", *month}
    assert len(month) == 1
    assert rows["session:s"] == rows["agent:chat_general"] > 0
    assert rows[month[0]] == rows["agent:chat_general"] + rows["agent:test"]


async def test_a_session_without_a_token_left_is_refused(tmp_path: Path) -> None:
    """A session may use the rest of its account; when nothing is left, its turns fail with the account's name and other sessions go on."""
    small = settings(tmp_path, rest=True, session=AccountPolicy(tokens=22_000))
    async with scripted(small, [], {"chat_general": [{"content": "Hello."}] * 50}) as ordain:
        answers = [await ordain.chat("hi", session="s") for _ in range(12)]
        replies = [answer.reply for answer in answers if answer.reply is not None]
        refused = [reply for reply in replies if not reply.ok]
        assert replies[0].ok
        assert refused
        assert all("budget_exceeded" in reply.header for reply in refused)
        ((used,),) = ordain.store.query("SELECT tokens FROM accounts WHERE name = 'session:s'")
        assert used <= 22_000
        elsewhere = await ordain.chat("hi", session="other")
        assert elsewhere.reply is not None
        assert elsewhere.reply.ok
        for row in ordain.runtime.runs(roots_only=False):
            stored = ordain.store.load(row.id)
            assert stored is not None
            assert replay(stored, ordain.catalog, shipped_flows(), ordain.runtime.services.transcript("default")).equal
