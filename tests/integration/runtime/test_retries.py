"""A failed verb call is made again after the delay that it names, durably; one that names too long
a delay stands.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain, VerbContext, VerbError, verb
from ordain.app import shipped_kinds
from ordain.contracts.verbs import Retry
from ordain.journal.records import RecordKind
from ordain.runtime.replay import replay
from ordain.settings import load_settings


def failing(after_s: float, times: int, attempts: int = 3) -> Any:
    """A read that fails so many times, naming a delay, and then tells which attempt it was."""

    @verb(name="tide.level", effect="read", retry=Retry(max_attempts=attempts))
    def level(context: VerbContext) -> dict[str, int]:
        """The level of the tide."""
        if context.attempt <= times:
            raise VerbError(
                "tide_office_busy", "ask again later", retryable=True, retry_after_s=after_s
            )
        return {"attempt": context.attempt}

    return level


async def called(
    home: Path, what: Any, longest_ms: int = 10_000
) -> tuple[dict[str, Any], list[Any], Any]:
    """The verb's reply, the run's records, and what replay says of it."""
    found = load_settings({}, home)
    bounded = found.policy.verbs.model_copy(update={"retry_wait_max_ms": longest_ms})
    found = found.model_copy(update={"policy": found.policy.model_copy(update={"verbs": bounded})})
    async with Ordain(found, verbs=[what]) as ordain:
        reply = (await ordain.execute("tide.level", {})).wire
        stored = (await ordain.runtime.view(reply["run_id"])).stored
        return reply, list(stored.records), replay(stored, ordain.catalog, shipped_kinds())


def decisions(records: list[Any]) -> list[dict[str, Any]]:
    """The bodies of rule ``retry``'s decisions."""
    return [
        json.loads(one.body)
        for one in records
        if one.kind is RecordKind.DECISION and one.name == "retry"
    ]


@pytest.mark.parametrize(("after_s", "waits"), [(0, [200, 400]), (0.3, [300, 400])])
async def test_each_try_waits_as_asked(tmp_path: Path, after_s: float, waits: list[int]) -> None:
    """Policy's wait doubles; a longer one that is named counts instead; no attempt begins before
    its wait is over.
    """
    reply, records, replayed = await called(tmp_path, failing(after_s, 2))
    assert reply["output"] == {"attempt": 3}
    assert [one["outcome"].get("wait_ms") for one in decisions(records)] == waits
    begun = [one.at for one in records if one.kind is RecordKind.INTENT and one.name == "verb_call"]
    waited = [later - earlier for earlier, later in pairwise(begun)]
    assert all(was >= wait * 1000 for was, wait in zip(waited, waits, strict=True))
    assert replayed.equal


@pytest.mark.parametrize(
    "after_s", [3600, 86_400, 86_401, pytest.param(10**400, id="huge"), float("inf")]
)
async def test_too_long_a_delay_is_not_waited_for(tmp_path: Path, after_s: float) -> None:
    """The failure stands at once, however long the delay; header, reason and category say that it
    may pass.
    """
    reply, records, replayed = await called(tmp_path, failing(after_s, 1))
    assert (reply["error"]["code"], reply["error"]["category"]) == (
        "tide_office_busy",
        "ToolTransientError",
    )
    assert [one["reason"] for one in decisions(records)] == ["verb.wait_too_long"]
    assert "verb.wait_too_long" in reply["header"]
    assert replayed.equal


@pytest.mark.parametrize("after_s", [-1, float("nan"), float("-inf"), "soon", None])
async def test_a_delay_that_is_none_counts_as_not_named(tmp_path: Path, after_s: Any) -> None:
    """What foreign code puts there cannot stop or hold up the run."""
    reply, records, _ = await called(tmp_path, failing(after_s, 1))
    assert reply["output"] == {"attempt": 2}
    assert [one["outcome"]["wait_ms"] for one in decisions(records)] == [200]


@pytest.mark.parametrize("attempts", [1, 2])
async def test_a_rest_that_is_named_uses_up_no_attempt(tmp_path: Path, attempts: int) -> None:
    """As with models: it refused before any work and said when it wants to be asked, however few
    attempts it declares.
    """
    reply, records, replayed = await called(tmp_path, failing(1, 2, attempts))
    assert reply["output"] == {"attempt": 3}
    assert [
        (one["reason"], one["outcome"]["wait_ms"], one["facts"]["attempt"])
        for one in decisions(records)
    ] == [("verb.rests", 1000, 0)] * 2
    assert "verb.rests" in reply["header"]
    assert replayed.equal


async def test_all_rests_together_are_bounded(tmp_path: Path) -> None:
    """By policy's longest wait: what rests on and on is told."""
    reply, records, replayed = await called(tmp_path, failing(1.2, 9, 1), longest_ms=2500)
    assert reply["error"]["code"] == "tide_office_busy"
    assert [one["reason"] for one in decisions(records)] == [
        "verb.rests",
        "verb.rests",
        "verb.wait_too_long",
    ]
    assert replayed.equal
