"""The shared budget of a workspace's day: carved at a run's start in one transaction, given back at
its end.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.moments import EPOCH
from ordain.contracts.policy import AccountPolicy
from ordain.contracts.profiles import ModelProfile
from ordain.flows.accounts import period
from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import Fold
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.writes import Refund
from ordain.runtime.accounts import AGENTS_MAX
from ordain.runtime.replay import replay
from ordain.runtime.spending import By, SpendingSpan, spent
from ordain.settings import Settings, load_settings
from ordain.store.accounts import refund_accounts
from ordain.store.schema import prepare
from tests.replay.golden import SUM, act, finish, request, scripted
from tests.replayed import replayed
from tests.shapes.lines import holds, script_of
from tests.shapes.talk import House

RUN_TOKENS = 100_000


def settings(home: Path, **budget: int | AccountPolicy) -> Settings:
    """Shipped settings with another budget."""
    shipped = load_settings({}, home)
    table = shipped.policy.budget.model_copy(
        update={"run_tokens": RUN_TOKENS, "rest": False, **budget}
    )
    return shipped.model_copy(
        update={"policy": shipped.policy.model_copy(update={"budget": table})}
    )


def slow(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that takes a while, so that runs overlap."""
    return {"$delay_ms": 50, "$answer": answer}


async def test_only_as_many_runs_as_the_day_covers(tmp_path: Path) -> None:
    """Of five runs at once, exactly those start whose whole bound the day's account covers; the
    others fail with its reason.
    """
    async with scripted(
        settings(tmp_path, day_tokens=2 * RUN_TOKENS), [slow(finish("done"))], {}
    ) as ordain:
        answers = [
            told.wire
            for told in await asyncio.gather(
                *(ordain.plan(request(request_id=str(n))) for n in range(5))
            )
        ]
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
            answer = (await ordain.plan(request("math.evaluate", request_id=str(number)))).wire
            assert answer["status"] == "ok"
            stored = ordain.store.stored(answer["run_id"])
            assert stored is not None
            used += Fold(stored.id, stored.records, shipped_kinds()).spent.tokens
            assert ordain.store.query("SELECT tokens FROM accounts") == [(used,)]


async def test_claims_replay_on_their_recorded_facts(tmp_path: Path) -> None:
    """A run with a claim replays equal, granted or refused, without the account it was decided
    on.
    """
    async with scripted(
        settings(tmp_path, day_tokens=RUN_TOKENS), [slow(finish("done"))], {}
    ) as ordain:
        answers = [
            told.wire
            for told in await asyncio.gather(
                *(ordain.plan(request(request_id=str(n))) for n in range(2))
            )
        ]
        assert {answer["status"] for answer in answers} == {"ok", "error"}
        for answer in answers:
            stored = ordain.store.stored(answer["run_id"])
            assert stored is not None
            assert [record.name for record in stored.records if record.kind == "claim"] == ["carve"]
            assert replay(stored, ordain.catalog, shipped_kinds()).equal


async def test_no_account_without_a_bound(tmp_path: Path) -> None:
    """Where policy sets no bound for the day, no claim is made."""
    async with scripted(settings(tmp_path), [finish("done")], {}) as ordain:
        await ordain.plan(request())
        assert ordain.store.query("SELECT count(*) FROM accounts") == [(0,)]


async def test_verb_calls_are_charged_too(tmp_path: Path) -> None:
    """A single verb call is a run like any other: it needs the day's account."""
    async with scripted(settings(tmp_path, day_tokens=RUN_TOKENS - 1), [], {}) as ordain:
        reply = (await ordain.execute("math.evaluate", SUM)).wire
        assert (reply["ok"], reply["error"]["code"]) == (False, "budget_exceeded")


async def test_an_account_of_each_session_agent_and_workspace(tmp_path: Path) -> None:
    """Every account that policy bounds is charged with what a turn used, by names that hold their
    period; a planner's by its caller.

    RTE-11: "Code enforces model selection and budget caps"
    """
    bound = AccountPolicy(tokens=10 * RUN_TOKENS)
    per_month = AccountPolicy(tokens=10 * RUN_TOKENS, per="month")
    found = settings(tmp_path, session=bound, agent=bound, workspace=per_month)
    async with scripted(
        found, [finish("done")], {"chat_general": [{"content": "Hello."}]}
    ) as ordain:
        told = await ordain.chat("hi", session="s")
        assert told.reply is not None
        assert told.reply.ok
        planned = (await ordain.plan(request())).wire
        assert planned["status"] == "ok"
        rows = dict(ordain.store.query("SELECT name, tokens FROM accounts"))
    month = [name for name in rows if name.startswith("workspace:")]
    assert set(rows) == {"session:s", "agent:chat_general", "agent:test", *month}
    assert len(month) == 1
    assert rows["session:s"] == rows["agent:chat_general"] > 0
    assert rows[month[0]] == rows["agent:chat_general"] + rows["agent:test"]


async def test_a_session_without_a_token_left_is_refused(tmp_path: Path) -> None:
    """A session may use the rest of its account; when nothing is left, its turns fail with the
    account's name and other sessions go on.
    """
    small = settings(tmp_path, rest=True, session=AccountPolicy(tokens=30_000))
    async with scripted(small, [], {"chat_general": [{"content": "Hello."}] * 50}) as ordain:
        answers = [await ordain.chat("hi", session="s") for _ in range(12)]
        replies = [answer.reply for answer in answers if answer.reply is not None]
        refused = [reply for reply in replies if not reply.ok]
        assert replies[0].ok
        assert refused
        assert all("budget_exceeded" in reply.header for reply in refused)
        ((used,),) = ordain.store.query("SELECT tokens FROM accounts WHERE name = 'session:s'")
        assert used <= 30_000
        elsewhere = await ordain.chat("hi", session="other")
        assert elsewhere.reply is not None
        assert elsewhere.reply.ok
        for row in await ordain.runtime.runs(roots_only=False):
            stored = ordain.store.stored(row.id)
            assert stored is not None
            assert replayed(ordain.runtime.services, stored).equal


OPEN = "hmm the blue thing number {} perhaps"
"""Wording that leaves the class open while something is at work."""
SLOW = script_of(holds("slowly"))


def triages(house: House) -> int:
    """How often a model was asked what a message means."""
    return len(house.puppet.asked("triage"))


def all_replay(house: House) -> bool:
    """Whether every run replays equal."""
    ordain = house.ordain
    runs = [ordain.store.stored(run) for (run,) in ordain.store.query("SELECT id FROM runs")]
    return all(run is not None and replayed(ordain.runtime.services, run).equal for run in runs)


async def test_no_model_is_asked_what_a_message_means_where_the_account_is_spent(
    tmp_path: Path,
) -> None:
    """With the day committed no suggestion is asked for: rules decide without one, and the message
    is answered all the same.
    """
    budget = {"run_tokens": RUN_TOKENS, "day_tokens": RUN_TOKENS, "rest": False}
    async with House(script=SLOW, policy={"attach": {"ask": "worker"}, "budget": budget}) as house:
        await house.send("please work slowly on it")
        await house.quiet()
        assert dict(house.query("SELECT name, tokens FROM accounts")).popitem()[1] == RUN_TOKENS
        sent = [await house.send(OPEN.format(number)) for number in range(3)]
        await house.quiet()
        assert {house.so_far(one).attached for one in sent} == {"new_request"}
        assert triages(house) == 0
        assert house.query("SELECT DISTINCT status FROM runs WHERE flow = 'triage'") == [
            ("completed",)
        ]
        house.puppet.let_go()
        answers = [await house.told(one) for one in sent]
        assert {answer.attached for answer in answers} == {"new_request"}
        assert all_replay(house)


async def test_what_a_suggestion_costs_is_charged_and_told(tmp_path: Path) -> None:
    """A suggestion's tokens stand in the accounts of the day, the session and of `triage`, which is
    whom the costs name; the rest went back.
    """
    ample = {"tokens": 10 * RUN_TOKENS}
    budget = {
        "day_tokens": 10 * RUN_TOKENS,
        "run_tokens": RUN_TOKENS,
        "session": ample,
        "agent": ample,
    }
    async with House(script=SLOW, policy={"attach": {"ask": "worker"}, "budget": budget}) as house:
        await house.send("please work slowly on it")
        await house.quiet()
        sent = await house.send(OPEN.format(1))
        await house.quiet()
        ((triage,),) = house.query("SELECT id FROM runs WHERE flow = 'triage'")
        house.puppet.let_go()
        assert (await house.told(sent)).reply is not None
        await house.quiet()
        stored = house.ordain.store.stored(triage)
        assert stored is not None
        fold = Fold(stored.id, stored.records, shipped_kinds())
        used = fold.spent.tokens
        assert fold.carved is not None
        # the turn that follows finds its own share
        assert used < fold.carved.tokens < RUN_TOKENS / 4
        rows = {
            name.partition(":")[0] if not name.startswith("agent:") else name: tokens
            for name, tokens in house.query("SELECT name, tokens FROM accounts")
        }
        assert rows["agent:triage"] == used > 0
        assert rows["day"] == rows["session"] == used + rows["agent:chat_general"]
        span = SpendingSpan(workspace="default", since=0, until=2**62, slack_us=0)
        groups = (
            await spent(house.ordain.runtime.search, house.ordain.kinds, By.AGENT, span)
        ).groups
        assert {name: found.tokens for name, found in groups.items()} == {
            "triage": used,
            "chat_general": rows["agent:chat_general"],
        }
        assert all_replay(house)


@pytest.mark.parametrize(("mode", "agent"), [("brain", "chat_general"), ("agent", "agent_runtime")])
async def test_a_turn_works_for_its_modes_entry(mode: str, agent: str) -> None:
    """B-03 “policy (quotas, lanes) keys only on known values”: whatever verb a message names, known
    or made up, it begins no account of its own.
    """
    async with House(
        script=script_of(),
        policy={
            "budget": {"run_tokens": RUN_TOKENS, "agent": {"tokens": 9 * RUN_TOKENS, "per": "ever"}}
        },
    ) as house:
        for verb in ("brain.chat", "evil-1", "evil-2"):
            await house.say("Hello there, what is a lamp?", mode=mode, verb=verb)
        await house.say("And what is a candle, please?", mode=mode)
        assert [name for (name,) in house.query("SELECT name FROM accounts")] == [f"agent:{agent}"]
        span = SpendingSpan(workspace="default", since=0, until=2**62, slack_us=0)
        groups = (
            await spent(house.ordain.runtime.search, house.ordain.kinds, By.AGENT, span)
        ).groups
        assert set(groups) == {agent}
        assert all_replay(house)


def stored_here(found: Settings) -> Ordain:
    """An Ordain over the settings' folder, whose model finishes at once."""
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    models = {"default": ScriptedModel(make_script(planner=[finish("done")], verbs={}))}
    return Ordain(
        found.model_copy(update={"profiles": {"default": profile}}), extras=Extras(models=models)
    )


def put_accounts(home: Path, names: Sequence[str]) -> None:
    """Accounts that were charged before, with 7 tokens each."""
    with closing(sqlite3.connect(home / "ordain.db")) as db, db:
        db.executemany(
            "INSERT INTO accounts VALUES ('default', ?, 7, 0)", [(name,) for name in names]
        )


def named(ordain: Ordain) -> dict[str, int]:
    """Every account's tokens."""
    return dict(ordain.store.query("SELECT name, tokens FROM accounts"))


@pytest.mark.parametrize("per", ["ever", "month", "day"])
async def test_made_up_names_share_an_account(
    tmp_path: Path, per: Literal["ever", "month", "day"]
) -> None:
    """Beyond 1,000 agents of a period new names share one account, with one bound; a name that was
    there keeps its own.
    """
    found = settings(tmp_path, agent=AccountPolicy(tokens=3 * RUN_TOKENS, per=per), rest=False)
    async with stored_here(found) as ordain:
        now = EPOCH + timedelta(microseconds=ordain.runtime.services.clock.now())
    since = "".join(f":{part}" for part in [period(per, now)] if part)
    put_accounts(
        tmp_path,
        [f"agent:made-up-{number}{since}" for number in range(AGENTS_MAX - 1)]
        + [f"agent:hub{since}"],
    )
    async with stored_here(found) as ordain:
        for caller in ("one-more", "another", "2026-01-01", "hub"):
            answer = (await ordain.plan({**request(request_id=caller), "caller": caller})).wire
            assert answer["status"] == "ok"
            stored = ordain.store.stored(answer["run_id"])
            assert stored is not None
            assert replay(stored, ordain.catalog, shipped_kinds()).equal
        rows = named(ordain)
        assert len(rows) == AGENTS_MAX + 1
        assert rows[f"agent:(others){since}"] > 2 * (rows[f"agent:hub{since}"] - 7) > 0
        await asyncio.gather(
            *(
                ordain.plan({**request(request_id=f"more{n}"), "caller": f"more{n}"})
                for n in range(5)
            )
        )
        assert len(named(ordain)) == AGENTS_MAX + 1


async def test_the_accounts_of_past_days_and_months_go(tmp_path: Path) -> None:
    """What is over is dropped by the daily sweep, the last day and month are kept, and what a late
    run gives back makes no account anew.
    """
    bound = AccountPolicy(tokens=10 * RUN_TOKENS)
    found = settings(
        tmp_path,
        day_tokens=bound.tokens,
        agent=bound.model_copy(update={"per": "day"}),
        workspace=bound.model_copy(update={"per": "month"}),
        session=bound,
    )
    async with stored_here(found) as ordain:
        now = EPOCH + timedelta(microseconds=ordain.runtime.services.clock.now())
    today, yesterday = (period("day", now - timedelta(days=days)) for days in (0, 1))
    month, last = period("month", now), period("month", now.replace(day=1) - timedelta(days=1))
    kept = {
        f"day:{today}",
        f"day:{yesterday}",
        f"agent:a:{yesterday}",
        f"workspace:{month}",
        f"workspace:{last}",
        "session:2020-01-01",
        "session:s:2020-01",
    }
    gone = [
        "day:2020-01-01",
        "agent:a:2020-01-01",
        "agent:2026-01-01:2020-02-29",
        "workspace:2020-01",
        "workspace:2025-12",
    ]
    put_accounts(tmp_path, [*kept, *gone])
    async with stored_here(found) as ordain:
        await ordain.engine.sweep()
        assert set(named(ordain)) == kept
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            prepare(db)
            refund_accounts(
                db, "default", [Refund(account="day:2020-01-01", tokens=5, usd_micros=5)]
            )
            assert db.execute("SELECT * FROM accounts").fetchall() == []
