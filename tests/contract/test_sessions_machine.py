"""A session as a state machine: messages of every kind, answers, edits, time, operators and
crashes, in any order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from ordain.errors import Conflict, InvalidRequest, Refused
from ordain.rules.attach import UNPLACED
from ordain.runtime.awaited_answers import Acknowledged
from ordain.testing import call, fails, suggests
from tests.lanes import examples
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talk import HANGS_S, House

MAX_ACTIVE, MAX_OPEN = 3, 7
POLICY = {
    "session": {"max_active": MAX_ACTIVE, "max_open": MAX_OPEN, "question_seconds": 600},
    "history": {"max_entries": 8, "keep_entries": 4},
    "attach": {"ask": "local"},
}
REQUESTS = (
    "tell me about the number {n}",
    "tell me slowly about the number {n}",
    "find out whether the number {n} is any good",
    "find out which place the number {n} comes from",
    "find out which day the number {n} was found",
    "find out what else the number {n} is for",
    "calculate the number {n}",
    "fail at the number {n}",
)
REMARKS = (
    "stop",
    "any luck?",
    "what went wrong?",
    "use Berlin instead",
    "ok",
    "thanks!",
    "yes please",
    "no",
    "Lisbon",
    "tomorrow at 5",
    "A",
    "B",
    "for my grandmother",
    "hm which was the first",
    "hm who was that",
    "hm where was I",
    "hm whose is it",
)
SCRIPT = (
    script_of(
        holds("slowly"),
        asks("whether", "yes_no"),
        asks("which place", "location"),
        asks("which day", "date_time"),
        asks("what else", "freeform"),
    )
    .on("planner", call("math.evaluate", expression="6 * 7"), index=0, when=about("calculate"))
    .on("planner", fails("rejected"), when=about("fail"))
    .on("triage", suggests("filler"), when=about("hm which was the first"))
    .on("triage", suggests("override", thread=1), when=about("hm who was that"))
    .on("triage", suggests("status_nudge", thread=2), when=about("hm where was I"))
    .on("triage", suggests("answer_to_pending", thread=1), when=about("hm whose is it"))
)
"""What the model does about each request, and what it takes an open remark for."""
MODES = st.sampled_from(["agent", "agent", "brain", "council"])
TURNS = st.sampled_from([-1, -1, 0, 1, 3, 8, 20])
"""How often the loop goes round before the next thing happens; -1 until nothing is at work."""
BACK = st.integers(0, 7)
SHARED = Path("/dev/shm")


class Session(RuleBasedStateMachine):
    """One session in one house; every acknowledged message is remembered."""

    @initialize()
    def begin(self) -> None:
        """An empty house."""
        self.folder = Path(
            tempfile.mkdtemp(
                prefix="ordain-session-", dir=SHARED if os.access(SHARED, os.W_OK) else None
            )
        )
        self.runner = asyncio.Runner()
        self.house = House(self.folder / "home", script=SCRIPT, policy=POLICY)
        self.sent: dict[str, tuple[Acknowledged, str, dict[str, Any]]] = {}
        self.count, self.failed = 0, False
        self.runner.run(self.house.open())

    def teardown(self) -> None:
        """Let everything come to its end, and look once more."""
        if not hasattr(self, "runner"):
            return
        try:
            if not self.failed:
                self.runner.run(self._finish())
        finally:
            with contextlib.suppress(sqlite3.ProgrammingError):
                # a failed step may have left it closed
                self.runner.run(self.house.kill())
            self.runner.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _finish(self) -> None:
        for _ in range(MAX_OPEN + 2):
            for (run,) in self.house.query("SELECT id FROM runs WHERE status = 'quarantined'"):
                # it died there again and again
                with contextlib.suppress(Conflict):
                    # another turn has its place: it is resumed once that has ended
                    await self.house.ordain.runtime.operators.resume(run, by="op")
            self.house.puppet.let_go()
            await self.house.quiet()
            await self.house.pass_time(700.0)
        self._look()
        broken = broken_at_rest(self.house.ordain, [sent for sent, _, _ in self.sent.values()])
        assert not broken, broken

    def _look(self) -> None:
        broken = broken_now(rows_of(self.house.ordain), max_active=MAX_ACTIVE)
        assert not broken, broken
        kept = dict(
            self.house.query("SELECT message_id, seq FROM transcript WHERE kind = 'message'")
        )
        assert kept == {name: sent.seq for name, (sent, _, _) in self.sent.items()}, (
            "what was acknowledged is not what is kept"
        )

    def _step(self, work: Coroutine[Any, Any, Any], turns: int) -> Any:
        """Do something, let the loop go round so many times (-1: until nothing is at work), and
        look.
        """

        async def step() -> Any:
            result = await work
            for _ in range(turns):
                await asyncio.sleep(0)
            if turns < 0:
                await self.house.quiet()
            self._look()
            return result

        self.failed = True
        result = self.runner.run(step())
        self.failed = False
        return result

    async def _say(self, text: str, **more: Any) -> Acknowledged | None:
        name = f"m{self.count}"
        self.count += 1
        try:
            sent = await self.house.send(text, id=name, ts=more.pop("ts", self.count), **more)
        except Refused:
            return None
        self.sent[name] = (sent, text, more)
        return sent

    def _earlier(self, back: int) -> str | None:
        """The message that was sent so many messages ago."""
        names = sorted(self.sent, key=lambda name: self.sent[name][0].seq)
        return names[-1 - back % len(names)] if names else None

    # --- what may happen --------------------------------------------------------------------------

    @rule(text=st.sampled_from(REQUESTS), mode=MODES, turns=TURNS)
    def request(self, text: str, mode: str, turns: int) -> None:
        """Somebody wants something."""
        self._step(self._say(text.format(n=self.count), mode=mode), turns)

    @rule(text=st.sampled_from(REMARKS), turns=TURNS)
    def remark(self, text: str, turns: int) -> None:
        """Somebody says something about what goes on."""
        self._step(self._say(text), turns)

    @rule(back=BACK, text=st.sampled_from([*REMARKS, *REQUESTS]), turns=TURNS)
    def reply(self, back: int, text: str, turns: int) -> None:
        """Somebody replies to an earlier message."""
        self._step(
            self._say(text.format(n=self.count), reply_to=self._earlier(back), mode="agent"), turns
        )

    @rule(back=BACK, text=st.sampled_from(REMARKS), turns=TURNS)
    def answer(self, back: int, text: str, turns: int) -> None:
        """Somebody replies to something that was asked or said."""
        said = [
            name
            for (name,) in self.house.query(
                "SELECT message_id FROM transcript WHERE kind IN ('question', 'reply') ORDER BY seq"
            )
        ]
        self._step(self._say(text, reply_to=said[-1 - back % len(said)] if said else None), turns)

    @rule(
        back=BACK,
        text=st.sampled_from([*REQUESTS, "stop"]),
        ts=st.sampled_from([0, 1, 1000, 1001]),
        turns=TURNS,
    )
    def edit(self, back: int, text: str, ts: int, turns: int) -> None:
        """An earlier message is replaced, in or out of order."""
        self._step(
            self._say(text.format(n=self.count), edits=self._earlier(back), ts=ts, mode="agent"),
            turns,
        )

    @rule(text=st.sampled_from(REQUESTS), turns=TURNS)
    def edit_before_its_message(self, text: str, turns: int) -> None:
        """An edit comes before the message that it edits."""
        later = f"m{self.count + 1}"

        async def both() -> None:
            await self._say(text.format(n=self.count), edits=later, ts=5000, mode="agent")
            await self._say(text.format(n="first"), ts=10, mode="agent")

        self._step(both(), turns)

    @rule(
        texts=st.lists(st.sampled_from([*REMARKS, *REQUESTS]), min_size=2, max_size=5), turns=TURNS
    )
    def several_at_once(self, texts: list[str], turns: int) -> None:
        """Several messages come at the same moment."""

        async def burst() -> None:
            await asyncio.gather(
                *(self._say(text.format(n=self.count), mode="agent") for text in texts)
            )

        self._step(burst(), turns)

    @rule(back=BACK)
    def again(self, back: int) -> None:
        """A message is delivered again: it is the same one, and where it found no place it may find
        none again; with another content it is refused.
        """
        name = self._earlier(back)
        if name is None:
            return
        sent, text, more = self.sent[name]
        ((ts, attached),) = self.house.query(
            "SELECT timestamp_ms, attached FROM transcript WHERE message_id = ?", name
        )

        async def delivered() -> None:
            try:
                found = await self.house.send(text, id=name, ts=ts, **more)
            except Refused:
                assert attached == UNPLACED
            else:
                assert (found.seq, found.duplicate) == (sent.seq, True)

        self._step(delivered(), 0)

        async def altered() -> None:
            with pytest.raises(Conflict, match="another content"):
                await self.house.send(text + "!", id=name, ts=ts, **more)

        self._step(altered(), 0)

    @rule(turns=TURNS)
    def let_go(self, turns: int) -> None:
        """The model answers what it has held."""
        self.house.puppet.let_go()
        self._step(asyncio.sleep(0), turns)

    @rule(seconds=st.sampled_from([1, 700]))
    def time_passes(self, seconds: int) -> None:
        """Questions expire."""
        self._step(self.house.pass_time(seconds), -1)

    @rule(back=BACK, turns=TURNS)
    def operator_cancels(self, back: int, turns: int) -> None:
        """An operator cancels a run that serves a message."""
        name = self._earlier(back)
        run = None if name is None else self.house.so_far(self.sent[name][0]).run_id
        if run is not None:
            self._step(
                self.house.ordain.runtime.operators.cancel(run, by="op", why="enough"), turns
            )

    @rule(with_message=st.booleans(), turns=TURNS)
    def operator_answers(self, with_message: bool, turns: int) -> None:
        """An operator answers an open question, perhaps at the very moment at which somebody else
        does.
        """
        asked = self.house.query(
            "SELECT json_extract(asked, '$.run'), json_extract(asked, '$.addr') FROM threads "
            "WHERE asked IS NOT NULL"
        )

        async def both() -> None:
            run, addr = asked[0]
            await asyncio.gather(
                self._operator(run, addr), *([self._say("yes please")] if with_message else [])
            )

        if asked:
            self._step(both(), turns)

    async def _operator(self, run: str, addr: int) -> None:
        """A yes by an operator; to a question that expects something else it is no answer, and
        changes nothing.
        """
        with contextlib.suppress(InvalidRequest):
            await self.house.ordain.runtime.operators.answer(run, addr, "yes", by="op")

    @rule(turns=TURNS)
    def crash(self, turns: int) -> None:
        """The process dies and another one takes over."""
        self._step(self.house.reopen(), turns)

    @rule()
    def drain(self) -> None:
        """The process stops in an orderly way and another one takes over."""

        async def stop() -> None:
            await self.house.ordain.stop(grace_s=1.0)
            await self.house.open()

        self._step(stop(), -1)


Session.TestCase.settings = settings(
    max_examples=examples(40, quick=6),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.timeout(HANGS_S)
class TestSession(Session.TestCase):
    """At every moment of any course of events, each accepted message has exactly one consequence,
    no answer is used twice, and order is kept.
    """
