"""A house with a door, whose runs are woken when a test drives them."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic import BaseModel

from ordain.effects.effect import Wait, WaitFor
from ordain.effects.results import Answered
from ordain.errors import OrdainError
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Taken, Wire
from ordain.journal.records import raw
from ordain.runtime.door import Runtime
from ordain.runtime.resolution import ResolveWord
from ordain.runtime.waiters import Waiters
from ordain.store.search import SqliteSearch
from ordain.testing import kind_of
from tests.unit.runtime.house import SECOND, House


class Question(BaseModel):
    """A request from outside."""

    text: str


class Remark(BaseModel):
    """Another one."""


async def _answers(context: FlowContext, what: str) -> str:
    if what == "breaks":
        raise ValueError(what)
    if what != "asks":
        return what
    found = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about="Which?", deadline=context.now() + 60 * SECOND)
    )
    return str(found.value) if isinstance(found, Answered) else "nobody"


def _wire(contract: type[Any], other: str) -> Wire[Any]:
    return Wire(
        contract=contract,
        take=lambda request, _, __: Taken(input=raw(request.text), request_id=None, digest="d"),
        response=lambda ending: {
            "run": ending.run,
            "status": str(ending.status),
            "output": bytes(ending.output).decode(),
        },
        other=other,
        said=("output",),
    )


KIND: Kind[Any, Any] = replace(
    kind_of(_answers, charged=False), name="asks", wire=_wire(Question, "not_a_question")
)
WORD = ResolveWord(addr=0, happened=True, by="ada", why="")
PLAIN: Kind[Any, Any] = replace(kind_of(_answers, charged=False), name="plain")
OTHER: Kind[Any, Any] = replace(KIND, name="remarks", wire=_wire(Remark, "not_a_remark"))


@dataclass
class Wakes:
    """Implements ``Engine``: runs are woken when a test drives them."""

    accepting: bool = True
    waiters: Waiters = field(default_factory=Waiters)
    held: set[str] = field(default_factory=set)
    woken: list[tuple[str, str | None]] = field(default_factory=list)
    driving: int = 0

    def holds(self, run: str) -> bool:
        return run in self.held

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        self.woken.append((run, resumed_by))

    def hurry(self, run: str) -> None:
        raise AssertionError("nothing here tells")


@dataclass
class Cleared:
    """The part of ``Memory`` that erasing calls."""

    times: int = 0

    async def clear(self) -> None:
        self.times += 1


class Home(House):
    """A house with a door."""

    def __init__(self) -> None:
        super().__init__(KIND, PLAIN, OTHER)
        self.engine, self.cleared = Wakes(), Cleared()
        library: Any = self.cleared
        self.door = Runtime(
            self.services, SqliteSearch(self.store), engine=self.engine, library=library
        )

    def __enter__(self) -> Home:
        return self

    async def begun(self, what: str, kind: Kind[Any, Any] = PLAIN) -> str:
        run = await self.open(kind, what)
        await self.drive(run)
        return run


async def refused(asking: Coroutine[Any, Any, Any]) -> str:
    """The code with which it is refused."""
    with pytest.raises(OrdainError) as raised:
        await asking
    return raised.value.code
