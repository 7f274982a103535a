"""An Ordain for the shapes: their flows and verbs, a scripted model that can be held, a clock that
can be moved.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordain.app import Extras, Ordain, with_profile
from ordain.contracts.profiles import ModelProfile
from ordain.engines.clock import SystemClock
from ordain.flows.kind import Kind
from ordain.models.scripted import Script, ScriptedModel, make_script
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.lost_time import LostTime
from ordain.settings import load_settings
from ordain.store.sqlite import StoreOptions
from tests.shapes.flows import SHAPE_KINDS
from tests.shapes.ledger import Ledger, ledger_verbs
from tests.shapes.moments import Moments

SCRIPTED = ModelProfile(provider="scripted", model="scripted")
PATIENT = {"COUNCIL_ROUND_TIMEOUT_SEC": "600", "COUNCIL_LLM_TIMEOUT_SEC": "300"}
"""A council's time on a machine that is busy with killing."""


class MovableClock(SystemClock):
    """The system's clock and an offset in microseconds, which later processes of a case find in a
    file.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Begin where an earlier process left the offset."""
        self._file, self._lost = file, LostTime()
        self.offset = int(file.read_text()) if file is not None and file.exists() else 0

    def now(self) -> int:
        """Shifted wall time."""
        return super().now() + self.offset

    @classmethod
    def within(cls, ordain: Ordain, file: Path | None = None) -> MovableClock:
        """As the clock of an Ordain that is at work: time that is made to pass there is no time
        that is lost.
        """
        clock, services = cls(file), ordain.runtime.services
        services.clock, clock._lost = clock, services.lost
        clock._lost.look_anew()
        return clock

    def move(self, to: int) -> None:
        """Set the offset, for this process and all that follow."""
        self.offset = to
        self._lost.look_anew()
        if self._file is not None:
            fresh = self._file.with_suffix(".new")
            fresh.write_text(str(to))
            fresh.replace(self._file)


class HeldModel(ScriptedModel):
    """Plays a script; a proposal of "hold" is never given: the call stays open until somebody
    abandons it.
    """

    def __init__(self, script: Script) -> None:
        """See ``ScriptedModel``."""
        super().__init__(script)
        self.held = asyncio.Event()
        self.moments = Moments()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Answer, or hold."""
        self.moments.pass_by("model before")
        reply = await super().attempt(request, heard)
        self.moments.pass_by("model after")
        if isinstance(reply, ModelReply) and reply.text == "hold":
            self.held.set()
            await asyncio.Event().wait()
        return reply


class GatedModel(ScriptedModel):
    """Plays a script; the planner's call with this index is answered once the gate is open."""

    def __init__(self, script: Script, index: int) -> None:
        """See ``ScriptedModel``."""
        super().__init__(script)
        self._index = index
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Answer, at the gate once it opens."""
        if (request.purpose, request.index) == ("planner", self._index):
            self.asked.set()
            await self.gate.wait()
        return await super().attempt(request, heard)


def build_house(
    home: Path,
    ledger: Ledger | None = None,
    *,
    script: Script | None = None,
    kinds: Sequence[Kind[Any, Any]] = SHAPE_KINDS,
    store: StoreOptions | None = None,
) -> Ordain:
    """An Ordain over ``home`` that is not yet started."""
    settings = with_profile(load_settings(environment=PATIENT, home=home), SCRIPTED)
    extras = Extras(
        verbs=ledger_verbs(ledger or Ledger()),
        kinds=kinds,
        models={"default": HeldModel(script or make_script())},
        store=store or StoreOptions(holder=f"test:{os.getpid()}", threaded=False),
    )
    return Ordain(settings, extras=extras)
