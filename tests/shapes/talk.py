"""People who talk to an Ordain: a model that plays a typed script and can be held, and the moves of
a conversation.

What the model answers depends on the request alone, never on memory, so that a resumed turn gets
what the killed one would have got.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordain.app import Extras, Ordain, with_profile
from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.profiles import ModelProfile
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import SHIPPED
from ordain.journal.records import SETTLED, STOPPED, Status
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.awaited_answers import Acknowledged
from ordain.settings import Settings, load_settings
from ordain.store.sqlite import StoreOptions
from ordain.testing import ModelScript, ScriptedModels
from ordain.verbs.functions import FunctionVerb
from tests.at_once import at_once
from tests.shapes.house import MovableClock
from tests.shapes.lines import ECHO, Held, script_of, words
from tests.shapes.moments import Moments
from tests.shapes.stored_journal import journal_of

PROFILE = ModelProfile(provider="scripted", model="scripted")
PRINCIPAL = "local:test"
WORKSPACE = "default"
POLL_S = 0.002
PATIENCE_S = 20.0
"""How long nothing may move; in steps of ``POLL_S``, so that a busy machine only makes it
longer.
"""
HANGS_S = 900
"""When a test is given up that waits by this house's patience alone: for what hangs, and not for
what is slow.
"""


class Puppet(ScriptedModels):
    """A model that plays a script, with ``ECHO`` behind it, and holds what the script holds until
    ``let_go`` or until it is abandoned.
    """

    def __init__(self, script: ModelScript | None = None) -> None:
        """Nothing is held."""
        super().__init__(script_of(script or ModelScript(), ECHO))
        self.moments = Moments()
        self.held: list[str] = []
        self._gate = asyncio.Event()

    def let_go(self) -> None:
        """Answer everything that is held; what comes later is held again."""
        gate, self._gate = self._gate, asyncio.Event()
        gate.set()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        self.moments.pass_by("model before")
        if any(isinstance(line, Held) and line.fits(request) for line in self.script.lines):
            said = words(request)
            self.held.append(said)
            try:
                await self._gate.wait()
            finally:
                self.held.remove(said)
        self.moments.pass_by("model after")
        return await super().attempt(request, heard)


def message(text: str, session: str = "s1", **more: Any) -> Message:
    """A message; ``id``, ``ts``, ``reply_to``, ``edits``, ``user``, ``channel`` and ``recall`` by
    name, everything else is a routing hint.
    """
    given: dict[str, Any] = {
        "session_id": session,
        "user_id": more.pop("user", "ada"),
        "message": {"text": text},
        "message_id": more.pop("id", None),
        "timestamp_ms": more.pop("ts", None),
        "channel": more.pop("channel", "web"),
        "context": {name: more.pop(name, None) for name in ("reply_to", "edits", "recall")}
        | {"routing_hints": more},
    }
    return Message.model_validate(given)


class House:
    """One Ordain for conversations that can be stopped, killed and opened again; ``home`` None
    keeps everything in memory.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        script: ModelScript | None = None,
        puppet: Puppet | None = None,
        policy: Mapping[str, Mapping[str, Any]] | None = None,
        verbs: Sequence[FunctionVerb[..., Any]] = (),
        kinds: Sequence[Kind[Any, Any]] = (),
        node: str | None = None,
    ) -> None:
        """``script`` is what the model plays, where it is no ``puppet`` of its own; ``policy``
        overrides single values, table by table.
        """
        self.home, self.puppet = home, puppet or Puppet(script)
        self.settings = talk_settings(home or Path("/nowhere"), policy or {})
        self._verbs, self._kinds = verbs, kinds
        self._clock_file = None if home is None else home / "clock"
        self.ordain: Ordain
        self.clock: MovableClock

    async def __aenter__(self) -> House:
        """Open."""
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Drain and close."""
        await self.ordain.stop(grace_s=0.0)

    async def open(self) -> None:
        """Start over what is stored."""
        self.ordain = make_ordain(
            self.settings,
            self.puppet,
            verbs=self._verbs,
            kinds=self._kinds,
            memory=self.home is None,
        )
        if self.home is not None:
            self.home.mkdir(parents=True, exist_ok=True)
        await self.ordain.start()
        self.clock = MovableClock.within(self.ordain, self._clock_file)

    async def kill(self) -> None:
        """Leave everything as it is, as a process does that dies: what is not committed is lost."""
        ordain = self.ordain
        ordain.engine.accepting = False
        tasks = [one.task for one in ordain.engine._active.values()]
        beside = [
            *ordain._background,
            *filter(None, [ordain.engine._beating, *ordain.engine._uptake.tasks]),
        ]
        for task in [*tasks, *beside]:
            task.cancel()
        await asyncio.gather(*tasks, *beside, return_exceptions=True)
        if ordain.engine._timer is not None:
            ordain.engine._timer.cancel()
        await ordain.runtime.services.verbs.close()
        ordain.store.writer._queue.clear()
        ordain.store.close()

    async def reopen(self) -> None:
        """Die and come back."""
        await self.kill()
        await self.open()

    async def pass_time(self, seconds: float) -> None:
        """Let time pass for every run that waits."""
        self.clock.move(self.clock.offset + round(seconds * 1e6))
        for (run,) in self.ordain.store.query(
            "SELECT id FROM runs WHERE status = 'waiting' ORDER BY no"
        ):
            self.ordain.engine.wake(run)
        await self.quiet()

    # --- talking ----------------------------------------------------------------------------------

    async def send(self, text: str, session: str = "s1", **more: Any) -> Acknowledged:
        """Say something; it is durable when this returns."""
        return await self.ordain.runtime.receive(message(text, session, **more), PRINCIPAL)

    async def told(self, sent: Acknowledged) -> MessageAnswer:
        """Wait for what becomes of a message, as long as anything becomes of anything: how fast
        that is does not matter.

        Raises:
            TimeoutError: nothing more was committed.
        """
        answer = asyncio.ensure_future(self.ordain.runtime.conversation.answer(WORKSPACE, sent))
        try:
            still, commits = 0, -1
            while not answer.done():
                still = still + 1 if commits == self.ordain.store.writer.commits else 0
                if still > PATIENCE_S / POLL_S:
                    raise TimeoutError(f"nothing comes of {sent.message_id}")
                commits = self.ordain.store.writer.commits
                await asyncio.wait({answer}, timeout=POLL_S)
            return answer.result()
        finally:
            answer.cancel()

    async def say(self, text: str, session: str = "s1", **more: Any) -> MessageAnswer:
        """Say something and wait for what becomes of it."""
        return await self.told(await self.send(text, session, **more))

    def so_far(self, sent: Acknowledged) -> MessageAnswer:
        """What is known of a message now."""
        return at_once(self.ordain.runtime.conversation.so_far(WORKSPACE, sent))

    # --- what is so -------------------------------------------------------------------------------

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows as durable now."""
        journal_of(self.ordain.store)
        return self.ordain.store.query(sql, parameters)

    def status(self, run: str | None) -> Status:
        """A run's durable status."""
        return Status(self.query("SELECT status FROM runs WHERE id = ?", run)[0][0])

    def over(self, run: str | None) -> bool:
        """Whether a run has settled or stopped."""
        return self.status(run) in SETTLED | STOPPED

    async def until(self, what: str, holds: Callable[[], Any]) -> None:
        """Wait until something is so.

        Raises:
            TimeoutError: it never was.
        """
        for _ in range(round(PATIENCE_S / POLL_S)):
            if holds():
                return
            await asyncio.sleep(POLL_S)
        raise TimeoutError(f"never: {what}")

    async def quiet(self) -> None:
        """Wait until nothing is at work but what the puppet holds, and what waits for a person or a
        time.
        """
        engine = self.ordain.engine

        def rests() -> bool:
            held = len(self.puppet.held)
            return engine.ready_runs == 0 and engine.driving == held and not self._ready()

        still = 0
        for _ in range(round(PATIENCE_S / POLL_S)):
            still = still + 1 if rests() else 0
            if still >= 3:
                return
            await asyncio.sleep(0 if still else POLL_S)
        raise TimeoutError(
            f"never quiet: {engine.driving} driven, {self.puppet.held} held, {self._ready()} ready"
        )

    def _ready(self) -> int:
        ready = self.query("SELECT count(*) FROM runs WHERE status = 'ready'")[0][0]
        untaken = (
            "SELECT count(*) FROM mailbox m JOIN runs r ON r.no = m.run WHERE m.taken IS NULL AND "
            "r.status = 'waiting'"
        )
        return ready + self.query(untaken)[0][0]


def talk_settings(home: Path, policy: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Settings of a house: one scripted profile behind every lane, and the policy's values as
    given.
    """
    settings = with_profile(load_settings(environment={}, home=home), PROFILE)
    tables = settings.policy.model_dump(mode="json")
    for table, values in policy.items():
        tables[table] = {**tables[table], **values}
    return settings.model_copy(
        update={"policy": type(settings.policy).model_validate(tables, strict=False)}
    )


def make_ordain(
    settings: Settings,
    puppet: Puppet,
    *,
    verbs: Sequence[FunctionVerb[..., Any]] = (),
    kinds: Sequence[Kind[Any, Any]] = (),
    memory: bool = True,
) -> Ordain:
    """An Ordain of a house, not yet started. Its kinds may take the place of shipped ones, which an
    embedder's may not.
    """
    extras = Extras(
        verbs=verbs,
        models={"default": puppet},
        store=StoreOptions(holder="talk", threaded=False),
        memory=memory,
    )
    made = Ordain(settings, extras=extras)
    made.kinds = Kinds((*SHIPPED, *kinds))
    return made
