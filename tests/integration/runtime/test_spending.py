"""What models cost, added up from the journal of runs that really ran."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ordain.app import Extras, Ordain
from ordain.contracts.moments import DAY_US
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import Fold
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.model import ModelReply
from ordain.ports.spending import SpendingPage, SpendingSearch
from ordain.runtime.spending import (
    GROUPS_AT_ONCE,
    OTHERS,
    By,
    SpendingSpan,
    SpentBetween,
    Sum,
    day_of,
    largest,
    spent,
)
from ordain.settings import load_settings
from tests.integration.runtime.test_gateway import ELSEWHERE, HEDGED, Model, answer, planned
from tests.integration.runtime.test_gateway import house as hedging_house
from tests.replay.golden import SUM, act, finish, request

YEAR_US = 365 * DAY_US
COUNTS = {"input_tokens": 1000, "output_tokens": 100}


def priced(model: str, price: int) -> ModelProfile:
    return ModelProfile(
        provider="scripted",
        model=model,
        script="in memory",
        usd_micros_per_1k_input=price,
        usd_micros_per_1k_output=2 * price,
    )


def house(home: Path, cheap: Sequence[Any], dear: Sequence[Any] = ()) -> Ordain:
    """An Ordain in memory: the worker lane's model is cheap, and where it is of no use the brain
    lane's follows.
    """
    settings = load_settings({}, home)
    lanes = settings.policy.lanes.model_copy(
        update={
            "profiles": {Lane.WORKER: ["cheap"], Lane.BRAIN: ["dear"]},
            "next_lane": {Lane.WORKER: Lane.BRAIN},
        }
    )
    profiles = {"cheap": priced("small-1", 100), "dear": priced("large-1", 1000)}
    policy = settings.policy.model_copy(update={"lanes": lanes})
    scripts = {
        name: make_script(planner=items, verbs={"chat_general": items})
        for name, items in (("cheap", cheap), ("dear", dear))
    }
    models = {name: ScriptedModel(script) for name, script in scripts.items()}
    return Ordain(
        settings.model_copy(update={"profiles": profiles, "policy": policy}),
        extras=Extras(models=models, memory=True),
    )


async def account(ordain: Ordain, by: By = By.DAY, **changes: Any) -> SpentBetween:
    now = ordain.runtime.services.clock.now()
    span = {"workspace": "default", "since": now - YEAR_US, "until": now, "slack_us": 0}
    bounds = {name: changes.pop(name) for name in ("runs_max", "groups_max") if name in changes}
    return await spent(
        changes.pop("search", ordain.runtime.search),
        ordain.kinds,
        by,
        SpendingSpan(**{**span, **changes}),
        **bounds,
    )


async def test_each_attempt_is_counted_in_its_lane(tmp_path: Path) -> None:
    """Attempts that failed, and those of the next lane that answered instead, stand with their own
    lane, model and price.

    LLM-01: "calls it, publishes the reply"
    """
    refusing = [{"$error": "authentication"}] * 4
    async with house(
        tmp_path,
        refusing,
        [act("math.evaluate", SUM), act("math.evaluate", SUM), finish("4"), finish("4")],
    ) as ordain:
        answer = (await ordain.plan(request("math.evaluate"))).wire
        assert answer["status"] == "ok", answer
        lanes = (await account(ordain, By.LANE)).groups
        models = (await account(ordain, By.MODEL)).groups
        found = await account(ordain)
    assert list(lanes) == ["brain", "worker"]
    assert (
        lanes["worker"].attempts
        == lanes["worker"].failed
        == lanes["worker"].failures["authentication"]
        > 0
    )
    assert lanes["worker"].usd_micros == 0
    assert lanes["brain"].failed == 0
    assert lanes["brain"].usd_micros > 0
    assert list(lanes["brain"].models) == ["scripted: large-1"]
    assert {name: one.attempts for name, one in models.items()} == {
        "dear": lanes["brain"].attempts,
        "cheap": lanes["worker"].attempts,
    }
    assert list(found.groups) == [day_of(found.until)]
    assert found.total.attempts == lanes["brain"].attempts + lanes["worker"].attempts
    assert found.total.usd_micros == lanes["brain"].usd_micros
    assert f"${found.total.usd_micros / 1e6:.6f}" in answer["header"]


async def test_a_lost_attempt_costs_what_was_reserved(tmp_path: Path) -> None:
    """An attempt after which the provider may have charged is booked at its reservation, and shown
    as failed.
    """
    async with house(tmp_path, [{"$error": "truncated"}], [finish("done")] * 2) as ordain:
        await ordain.plan(request())
        found = await account(ordain, By.MODEL)
    assert found.groups["cheap"].failures == {"truncated": 1}
    assert found.groups["cheap"].usd_micros > found.groups["cheap"].output_tokens == 0
    assert found.groups["cheap"].tokens > 0


async def test_only_the_workspace_and_the_span_are_counted(tmp_path: Path) -> None:
    """Neither another workspace's attempts nor those outside the span count."""
    async with house(tmp_path, [finish("done")]) as ordain:
        await ordain.plan(request())
        now = ordain.runtime.services.clock.now()
        assert (await account(ordain)).total.attempts == 1
        assert (await account(ordain, workspace="other")).total.attempts == 0
        assert (await account(ordain, since=now)).total.attempts == 0
        assert (await account(ordain, since=now - YEAR_US, until=now - DAY_US)).total.attempts == 0


async def test_sessions_and_flows_have_their_own_sums(tmp_path: Path) -> None:
    """Calls in a conversation are found under its session and the flows that made them; all groups
    together are the total.
    """
    async with house(tmp_path, [finish("done")]) as ordain:
        await ordain.plan(request())
        await ordain.chat("Hello there, what is a lamp?", session="s-1")
        for by in By:
            found = await account(ordain, by)
            assert sum(one.attempts for one in found.groups.values()) == found.total.attempts
            assert sum(one.tokens for one in found.groups.values()) == found.total.tokens
        sessions = (await account(ordain, By.SESSION)).groups
        assert set(sessions) == {"", "s-1"}
        assert "planner" in (await account(ordain, By.FLOW)).groups
        assert set((await account(ordain, By.AGENT)).groups) == {"test", "chat_general"}


async def test_a_journal_of_many_runs_is_read_in_pages_and_to_a_bound(tmp_path: Path) -> None:
    """Many pages add up to every run; where the bound stops the reading the span says how far it
    went.
    """
    async with house(tmp_path, [finish("done")]) as ordain:
        await asyncio.gather(
            *(ordain.plan(request(request_id=str(number))) for number in range(230))
        )
        whole = await account(ordain)
        assert (whole.complete, whole.runs, whole.total.attempts) == (True, 230, 230)
        part = await account(ordain, runs_max=100)
        assert not part.complete
        assert part.since > whole.since
        assert part.total.attempts == 100


async def test_erased_attempts_are_said_to_be_missing(tmp_path: Path) -> None:
    """What was erased cannot be added up any more, and is counted as erased."""
    async with house(tmp_path, [finish("done")]) as ordain:
        answer = (await ordain.plan(request())).wire
        await ordain.runtime.operators.erase(answer["run_id"], by="test", why="asked for")
        found = await account(ordain)
    assert (found.total.attempts, found.erased) == (0, 1)


async def test_both_attempts_of_a_hedged_call_are_told(tmp_path: Path) -> None:
    """Of a call that two models were asked for both attempts stand under their own names; what was
    booked is told once.
    """
    models = {
        "slow": Model(lambda _: 30.0),
        "quick": Model(lambda _: ModelReply(text=json.dumps(finish("done")), model="m", **COUNTS)),
    }
    async with hedging_house(tmp_path, models, fallback=HEDGED) as ordain:
        told = (await ordain.plan(request())).wire
        found = await account(ordain, By.MODEL)
        stored = ordain.store.stored(told["run_id"])
    assert stored is not None
    assert found.groups["slow"].failures == {"abandoned": 1}
    assert (found.groups["quick"].attempts, found.groups["quick"].failed) == (1, 0)
    assert (
        found.total.usd_micros
        == Fold(stored.id, stored.records, shipped_kinds()).spent.usd_micros
        > 0
    )


async def test_what_never_went_out_is_no_attempt(tmp_path: Path) -> None:
    """A model that is left alone, as the first of two or alone: it was asked as often as it was
    asked, and nobody pays for the rest.
    """
    slow, quick = Model(lambda _: 30.0), Model(lambda _: answer())
    tables = {"breaker": {"failures": 2, "open_s": 60}, "fallback": HEDGED}
    async with hedging_house(
        tmp_path, {"slow": slow, "quick": quick}, {"slow": ELSEWHERE}, **tables
    ) as ordain:
        for number in range(4):
            await planned(ordain, str(number))
        groups = (await account(ordain, By.MODEL)).groups
    assert (slow.calls, quick.calls) == (2, 4)
    assert {name: one.attempts for name, one in groups.items()} == {"slow": 2, "quick": 4}


async def test_the_tail_of_many_groups_keeps_all_that_it_says(tmp_path: Path) -> None:
    """Groups beyond the bound are one, with their failures and whoever answered: nothing of the
    total is missing from the groups.
    """
    async with house(
        tmp_path, [{"$error": "authentication"}], [{"content": "A light."}] * 2
    ) as ordain:
        await asyncio.gather(
            *(ordain.chat("What is a lamp?", session=f"s-{number}") for number in range(4))
        )
        whole, short = (
            await account(ordain, By.SESSION),
            await account(ordain, By.SESSION, groups_max=1),
        )
    assert (len(whole.groups), len(short.groups)) == (4, 2)
    assert short.groups[OTHERS].failures == {"authentication": 3}
    assert list(short.groups[OTHERS].models) == ["scripted: large-1"]
    summed = Sum()
    for one in short.groups.values():
        summed.merge(one)
    assert summed == whole.total == short.total


async def test_many_groups_hold_nobody_up() -> None:
    """Others get their turn after each portion of them, and what is kept is what ranking all at
    once keeps.
    """
    groups = {
        f"s{n}": Sum(attempts=1, tokens=n % 7, usd_micros=n * 7919 % 501)
        for n in range(5 * GROUPS_AT_ONCE)
    }
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    going = asyncio.ensure_future(others())
    kept = await largest(SpentBetween(by=By.SESSION, since=0, until=1, groups=dict(groups)), 10)
    going.cancel()
    assert turns >= 5
    assert list(kept) == [
        *sorted(groups, key=lambda name: (-groups[name].usd_micros, -groups[name].tokens, name))[
            :10
        ],
        OTHERS,
    ]
    assert sum(one.attempts for one in kept.values()) == len(groups)


class Damaged:
    """A search in whose answers the second record that says for whom a run worked cannot be read,
    or the second run's own records.
    """

    def __init__(self, search: SpendingSearch, field: str) -> None:
        """Over a real one."""
        self.search, self.field = search, field

    async def spending(self, *, workspace: str, before: int | None, limit: int) -> SpendingPage:
        """See ``SpendingSearch``."""
        page = await self.search.spending(workspace=workspace, before=before, limit=limit)
        first, second, *others = page.runs
        assert second.opening is not None
        broken = (
            structs.replace(second, opening=structs.replace(second.opening, body=b"{"))
            if self.field == "opening"
            else structs.replace(
                second,
                records=[*second.records[:-1], structs.replace(second.records[-1], body=b"{")],
            )
        )
        return structs.replace(page, runs=[first, broken, *others])


@pytest.mark.parametrize("field", ["opening", "records"])
async def test_a_run_that_cannot_be_read_counts_nowhere_else(tmp_path: Path, field: str) -> None:
    """A damaged run is counted as such and adds to no sum: total and groups agree."""
    async with house(tmp_path, [finish("done")]) as ordain:
        for number in range(3):
            await ordain.plan(request(request_id=str(number)))
        found = await account(ordain, By.AGENT, search=Damaged(ordain.runtime.search, field))
    assert (found.runs, found.unreadable, found.erased) == (2, 1, 0)
    assert found.total == found.groups["test"]
    assert found.total.attempts == 2
