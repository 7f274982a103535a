"""Intake: one request, one run; the same request, the same run; and refusals with their codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from ordain.contracts.access import Principal, TokenScope
from ordain.contracts.planner import PlannerRequest
from ordain.errors import Conflict, InvalidRequest, Refused
from ordain.ports.store import Arrive, Outcome, RequestKey
from ordain.ports.writes import KeptCatalogs, NewRun
from ordain.runtime.intake import Intake
from ordain.runtime.services import Catalogs
from tests.unit.flows.house import KINDS, shipped
from tests.unit.runtime.test_calls import NothingPinned

GOAL = {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}


@dataclass
class Store:
    """As much of ``JournalStore`` as intake writes to; ``refuses`` is what it answers."""

    refuses: str = ""
    units: list[Arrive] = field(default_factory=list)

    async def submit(self, unit: Arrive) -> Outcome:
        self.units.append(unit)
        return Outcome(
            refused=self.refuses, run="known" if self.refuses else unit.shared.decide().run
        )

    @property
    def opened(self) -> list[NewRun]:
        """The runs that were to be opened."""
        return [
            write
            for unit in self.units
            for write in unit.shared.decide().writes
            if isinstance(write, NewRun)
        ]

    @property
    def kept(self) -> list[KeptCatalogs]:
        """The catalogs that were to be kept, by unit."""
        return [
            write
            for unit in self.units
            for write in unit.shared.decide().writes
            if isinstance(write, KeptCatalogs)
        ]


def intake(store: Store) -> Intake:
    numbers = iter(range(9))
    clock = SimpleNamespace(
        now=lambda: 1_000_000, new_key=lambda: b"k" * 32, new_run_id=lambda: f"run{next(numbers)}"
    )
    catalogs, pins = Catalogs(shipped(), lambda _: None), NothingPinned()
    services: Any = SimpleNamespace(
        kinds=KINDS, catalogs=catalogs, clock=clock, store=store, configuration=pins
    )
    return Intake(services)


async def ask(store: Store, **more: Any) -> Any:
    return await intake(store).of_request(
        PlannerRequest.model_validate({**GOAL, **more}), "ada", "w"
    )


async def test_a_request_opens_a_root_of_the_kind_that_answers_it() -> None:
    """Under the current policy's longest time, for who asked, in their workspace."""
    store = Store()
    accepted = await ask(store, request_id="r")
    (run,), (unit,) = store.opened, store.units
    started = run.started
    assert isinstance(unit.once, RequestKey)
    assert (accepted.run, accepted.new, unit.workspace, unit.once.request_id) == (
        "run0",
        True,
        "w",
        "planner:r",
    )
    assert unit.shared.decide().accepted == shipped().policy.engine.max_accepted
    assert (started.principal, started.workspace, started.parent) == ("ada", "w", None)
    assert started.deadline == 1_000_000 + shipped().policy.limits.timeout_seconds * 1_000_000


async def test_the_catalog_is_stored_with_the_first_run() -> None:
    """And not again by this process."""
    store = Store()
    taking = intake(store)
    for _ in range(2):
        await taking.of_request(PlannerRequest.model_validate(GOAL), "ada", "w")
    assert [bool(one.stored) for one in store.kept] == [True, False]


async def test_a_request_without_an_id_is_its_own() -> None:
    """Nothing that comes later can be the same."""
    store = Store()
    await ask(store)
    assert store.units[0].once is None


async def test_the_same_request_is_the_same_run() -> None:
    """The run that it became is found."""
    accepted = await ask(Store(refuses="known"), request_id="r")
    assert (accepted.run, accepted.new) == ("known", False)


@pytest.mark.parametrize(
    ("refuses", "error", "code"),
    [("request_id_reused", Conflict, "request_id_reused"), ("busy", Refused, "busy")],
)
async def test_what_the_store_refuses_has_a_code(refuses: str, error: type[Any], code: str) -> None:
    """Another body under the same id; more runs than policy permits."""
    with pytest.raises(error) as raised:
        await ask(Store(refuses=refuses), request_id="r")
    assert raised.value.code == code


async def test_what_the_kind_refuses_opens_nothing() -> None:
    """A schema that only a compiler can refuse."""
    store = Store()
    with pytest.raises(InvalidRequest):
        await ask(
            store, toolset=[{"tool_id": "math.evaluate", "input_schema": {"type": "no such"}}]
        )
    assert store.opened == []


async def test_a_request_id_belongs_to_whoever_uses_it() -> None:
    """One of a token is another than the same of another token, or of the owner, who is one by
    whichever door; the run has the token's scopes.
    """
    store = Store()
    for who in (
        Principal("token:a", (TokenScope.PLAN,)),
        Principal("token:b", ()),
        "http:loopback",
        "local:owner",
    ):
        await intake(store).of_request(
            PlannerRequest.model_validate({**GOAL, "request_id": "b:r"}), who, "w"
        )
    keys = [unit.once.request_id for unit in store.units if isinstance(unit.once, RequestKey)]
    assert keys == ["planner@token:a:b:r", "planner@token:b:b:r", "planner:b:r", "planner:b:r"]
    assert [run.started.scopes for run in store.opened] == [(TokenScope.PLAN,), (), None, None]
