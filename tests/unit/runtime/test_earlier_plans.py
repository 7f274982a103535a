"""``earlier_plans``: a run sees of the runs that it names those of its own kind and principal, as
their kind recounts them, and nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec

from ordain.contracts.planner import PlannerRequest
from ordain.errors import JournalCorrupt
from ordain.flows.planner.kind import PLANNER
from ordain.journal.records import Status
from ordain.ports.store import StoredRun
from ordain.runtime.earlier_plans import earlier_plans
from ordain.testing import Standing, call, finish, returned
from tests.at_once import at_once
from tests.unit.flows.house import KINDS, play

GIVEN = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "6 * 7?"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
SUM = (
    call("math.evaluate", expression="6 * 7"),
    returned({"result": "42", "decimal": "42", "exact": True}),
    finish("42"),
)
WHOLE = play(PLANNER, GIVEN, *SUM).stored
OTHERS = play(PLANNER, GIVEN, *SUM, standing=Standing(principal="user:other")).stored


class Shelf:
    """Runs by id, and one that cannot be read."""

    def __init__(self, *runs: StoredRun) -> None:
        self.runs: dict[str, Any] = {run.id: run for run in runs} | {"broken": JournalCorrupt("no")}

    async def load(self, runs: Sequence[str]) -> dict[str, Any]:
        return {run: self.runs[run] for run in runs if run in self.runs}


def seen(
    *runs: StoredRun, by: StoredRun = WHOLE, named: Sequence[str] = ()
) -> list[dict[str, Any]]:
    services: Any = SimpleNamespace(store=Shelf(*runs), kinds=KINDS)
    return at_once(earlier_plans(services, by, {"runs": [*(run.id for run in runs), *named]}))


def test_what_a_run_came_to_is_recounted() -> None:
    """Goal, end, answer and calls with the records that hold them."""
    (told,) = seen(WHOLE)
    assert (told["run"], told["goal"], told["status"], told["answer"]) == (
        WHOLE.id,
        "6 * 7?",
        "ok",
        "42",
    )
    (step,) = told["steps"]
    assert (step["tool_id"], step["ok"], len(step["records"])) == ("math.evaluate", True, 2)


def test_nobody_elses_is_seen() -> None:
    """Another principal's, another workspace's, another kind's, one that cannot be read, and one
    that there is not.
    """
    assert seen(OTHERS) == []
    assert seen(msgspec.structs.replace(WHOLE, workspace="elsewhere")) == []
    assert seen(msgspec.structs.replace(WHOLE, flow="verb")) == []
    assert seen(named=("broken", "nobody")) == []


def test_of_what_is_not_over_or_gone_no_content_is_told() -> None:
    """Where it stands, or nothing."""
    assert seen(msgspec.structs.replace(WHOLE, status=Status.RUNNING)) == [
        {"run": WHOLE.id, "status": "running"}
    ]
    assert seen(msgspec.structs.replace(WHOLE, key=None)) == []
    swept = [
        msgspec.structs.replace(one, body=None) if one.kind == "observation" else one
        for one in WHOLE.records
    ]
    assert seen(msgspec.structs.replace(WHOLE, records=tuple(swept))) == []
    nameless = (msgspec.structs.replace(WHOLE.records[0], body=None), *WHOLE.records[1:])
    assert seen(WHOLE, by=msgspec.structs.replace(WHOLE, records=nameless)) == []
