"""Somebody who uses a shape: accepts, answers, cancels, and writes down every acknowledgement as a
real client would.

What was acknowledged is never sent again, not even by a later process: if it was lost, the case
cannot end as it should.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ordain.app import Ordain
from ordain.journal.records import SETTLED, STOPPED, Status
from tests.shapes.house import HeldModel, MovableClock
from tests.shapes.ledger import Ledger
from tests.shapes.moments import Moments
from tests.shapes.request import Request

POLL_S = 0.002
PATIENCE_S = 30.0


class Diary:
    """What was acknowledged, one JSON line each, appended before anything else happens; ``file``
    None keeps it in memory.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Read what earlier processes wrote."""
        self._file = file
        lines = file.read_text().splitlines() if file is not None and file.exists() else []
        self.entries: dict[str, Any] = dict(json.loads(line) for line in lines)

    def write(self, name: str, value: Any) -> None:
        """Note an acknowledgement."""
        self.entries[name] = value
        if self._file is not None:
            descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(descriptor, (json.dumps([name, value]) + "\n").encode())
            os.close(descriptor)


class Client:
    """Plays one case against a running Ordain."""

    def __init__(
        self,
        ordain: Ordain,
        ledger: Ledger,
        *,
        diary: Diary | None = None,
        moments: Moments | None = None,
    ) -> None:
        """``diary`` and ``moments`` belong to the case."""
        self.ordain, self.ledger = ordain, ledger
        self.diary = diary or Diary()
        self.moments = moments or Moments()

    async def once(self, name: str, send: Callable[[], Awaitable[Any]]) -> Any:
        """Send unless an acknowledgement of it is written down; then write it down."""
        if name in self.diary.entries:
            return self.diary.entries[name]
        value = await send()
        self.moments.pass_by("ack before")
        self.diary.write(name, value)
        self.moments.pass_by("ack after")
        return value

    async def accept(self, request: Request) -> str:
        """Have the request accepted; gives the run."""

        async def send() -> str:
            return await request.open(self.ordain)

        return await self.once("accept", send)

    async def answer(self, run: str, addr: int, value: str, *, by: str = "ada") -> str:
        """Answer a wait; gives what the runtime said."""
        return await self.once(
            f"answer {addr} {by}",
            lambda: self.ordain.runtime.operators.answer(run, addr, value, by=by),
        )

    async def cancel(self, run: str) -> str:
        """Cancel the run; gives what the runtime said."""
        return await self.once(
            "cancel",
            lambda: self.ordain.runtime.operators.cancel(run, by="ada", why="changed my mind"),
        )

    async def move_clock(self, run: str, offset: int) -> None:
        """Let time pass, and let the engine look again."""
        clock = self.ordain.runtime.services.clock
        assert isinstance(clock, MovableClock)
        clock.move(offset)
        self.ordain.engine.wake(run)

    async def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait until something is so.

        Raises:
            TimeoutError: it never was.
        """
        for _ in range(round(PATIENCE_S / POLL_S)):
            if holds():
                return
            await asyncio.sleep(POLL_S)
        raise TimeoutError(f"never: {what}")

    # --- what is so -------------------------------------------------------------------------------

    def status(self, run: str) -> Status | None:
        """The run's durable status; None where there is no such run yet."""
        rows = self.ordain.store.query("SELECT status FROM runs WHERE id = ?", (run,))
        return Status(rows[0][0]) if rows else None

    def over(self, run: str) -> bool:
        """Whether the run has settled or stopped."""
        return self.status(run) in SETTLED | STOPPED

    def reached(self, run: str) -> int:
        """The number of the last effect that the run announced; -1 before the first."""
        stored = self.ordain.store.stored(run)
        records = () if stored is None else stored.records
        return max(
            (
                json.loads(record.body or b"{}")["addr"]
                for record in records
                if record.kind == "intent"
            ),
            default=-1,
        )

    def waits_at(self, run: str, addr: int) -> bool:
        """Whether the run is suspended at this effect, or past it."""
        return (
            self.over(run)
            or self.reached(run) > addr
            or (self.reached(run) == addr and self.status(run) is Status.WAITING)
        )

    def model_held(self) -> bool:
        """Whether a model call is held open."""
        model = self.ordain.models["default"]
        return isinstance(model, HeldModel) and model.held.is_set()

    def verb_held(self) -> bool:
        """Whether a call of this process is held by the ledger."""
        return any(
            call["boot"] == self.ledger.boot and not call["answered"] and "hold" in call["text"]
            for call in self.ledger.calls()
        )
