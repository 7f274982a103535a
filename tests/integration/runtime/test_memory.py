"""What a run leaves in memory once it rests: nothing, at once, without the garbage collector having
to look for it.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import CoroutineType, FrameType

import pytest
from msgspec import Struct

from ordain.app import Extras, Ordain, with_profile
from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.profiles import ModelProfile
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import Status
from ordain.runtime.execution import Execution
from ordain.settings import load_settings
from ordain.testing import ModelScript, ScriptedModels, call, fails, finish, hold, output

ROOMS = ("ordain.runtime.", "ordain.flows.", "ordain.effects.", "ordain.journal.", "ordain.rules.")
RUNS = 3
SETTLING_S = 0.2
MANY = 20
KEPT_A_TURN = 8
"""A run that is held, in a cycle or otherwise, is a hundred."""


class Nothing(Struct, frozen=True):
    """The flow needs none."""


async def _stumble(context: FlowContext, given: Nothing) -> None:
    """A flow with a bug: what it raises holds its frames, and they hold all that it was given."""
    held = (context, context.fx)
    raise KeyError(f"a bug {len(held)}")


STUMBLING: Kind[Nothing, None] = Kind(
    name="stumbling",
    version=1,
    run=_stumble,
    decode_input=lambda _: Nothing(),
    settle=lambda _: Settlement(status=Status.COMPLETED, reason="ok"),
)


def live() -> Counter[str]:
    """How many objects of runs there are now, by class: ports, executions, records, coroutines and
    their frames.
    """
    found: Counter[str] = Counter()
    objects: list[object] = gc.get_objects()
    for one in objects:
        if isinstance(one, CoroutineType | FrameType):
            code = one.cr_code if isinstance(one, CoroutineType) else one.f_code
            if "ordain/flows" in code.co_filename or "ordain/runtime" in code.co_filename:
                found[code.co_qualname] += 1
        elif str(type(one).__module__).startswith(ROOMS):
            found[f"{type(one).__module__}.{type(one).__qualname__}"] += 1
    return found


def tracked() -> int:
    """How many objects the collector looks at."""
    return len(gc.get_objects())


@contextmanager
def without_collector() -> Generator[None]:
    """Nothing is freed but what nobody refers to."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def house(home: Path, models: ScriptedModels) -> Ordain:
    settings = with_profile(
        load_settings(environment={}, home=home),
        ModelProfile(provider="scripted", model="scripted"),
    )
    return Ordain(
        settings, extras=Extras(models={"default": models}, kinds=(STUMBLING,), memory=True)
    )


async def ask(ordain: Ordain, session: str) -> MessageAnswer:
    return await ordain.chat(
        "calculate",
        session=session,
        user="ada",
        mode="agent",
        allowed_verbs=["math.evaluate", "extract_facts"],
    )


async def completed(ordain: Ordain, session: str) -> None:
    """A turn, its supervisor, a leaf verb and a prompt plan: three runs, one in the other."""
    answer = await ask(ordain, session)
    assert answer.reply is not None
    assert answer.reply.narrative == "42"


async def failed(ordain: Ordain, session: str) -> None:
    """A turn whose model answers nothing of use."""
    answer = await ordain.chat("hello", session=session, user="ada")
    assert answer.reply is not None
    assert not answer.reply.ok


async def faulted(ordain: Ordain, session: str) -> None:
    """A run that stops by a bug."""
    del session
    accepted = await ordain.runtime.open("stumbling", Nothing(), "local:test")
    assert (await ordain.runtime.wait(accepted.run)).stored.status is Status.FAULTED


async def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError(f"never: {what}")


async def interrupted(ordain: Ordain, session: str) -> None:
    """A turn that is cancelled while its model is asked."""
    answering = asyncio.create_task(ordain.chat("slowly", session=session, user="ada"))
    await until("held", lambda: SLOW.waiting == 1)
    (turn,) = await ordain.runtime.runs(statuses=("running", "waiting"))
    await ordain.runtime.operators.cancel(turn.id, by="local:test", why="enough")
    answer = await answering
    assert answer.reply is not None
    assert "cancelled" in answer.reply.header


async def waiting(ordain: Ordain, session: str) -> None:
    """A turn that asks its user something: it waits, evicted, and so do those below it."""
    asked = await ordain.chat(
        "which one", session=session, user="ada", mode="agent", allowed_verbs=["ask_user"]
    )
    assert asked.question is not None


SLOW = hold()
SCRIPT = (
    ModelScript()
    .on(
        "planner",
        call("ask_user", question="Which one?", expected_type="freeform", key="which"),
        when=lambda asked: "which one" in str(asked.inputs),
    )
    .on("planner", call("math.evaluate", expression="6 * 7"), index=0)
    .on("planner", call("extract_facts", text="Ada was born in 1815."), index=1)
    .on("planner", finish("42"), index=2)
    .on("verb", output(facts=[]), verb="extract_facts")
    .on("verb", SLOW, when=lambda asked: "slowly" in str(asked.inputs))
    .on("verb", fails("rejected"), verb="chat_general")
)


@pytest.mark.parametrize("case", [completed, failed, faulted, interrupted, waiting])
async def test_nothing_of_a_run_at_rest_is_held(
    tmp_path: Path, case: Callable[[Ordain, str], Awaitable[None]]
) -> None:
    """Completed, failed, faulted, cancelled or waiting, a run's flow, port and records are gone,
    and in no cycle; a turn that waits keeps its place in the stream.
    """
    models = ScriptedModels(SCRIPT)
    async with house(tmp_path, models) as ordain:
        await case(ordain, "first")  # what is made once per process and kept
        await asyncio.sleep(SETTLING_S)
        models.requests.clear()
        with without_collector():
            before = live()
            for number in range(RUNS):
                await case(ordain, f"s{number}")
            await asyncio.sleep(SETTLING_S)
            models.requests.clear()
            left = live() - before
        assert left == (
            Counter({"ordain.runtime.streams._Live": RUNS}) if case is waiting else Counter()
        )


async def planned(ordain: Ordain, session: str) -> None:
    """A planning run, from its request to its response."""
    goal = {"type": "analysis", "description": f"What is 6 * 7, {session}?"}
    response = (
        await ordain.plan(
            {"goal": goal, "toolset": [{"tool_id": "math.evaluate"}, {"tool_id": "extract_facts"}]}
        )
    ).wire
    assert response["status"] == "ok"


@pytest.mark.parametrize("case", [planned, completed])
async def test_turns_leave_no_work_to_the_collector(
    tmp_path: Path, case: Callable[[Ordain, str], Awaitable[None]]
) -> None:
    """Turn by turn nothing stays that the collector would have to look at, of whatever class, but a
    few entries of tables that the store keeps.
    """
    models = ScriptedModels(SCRIPT)
    async with house(tmp_path, models) as ordain:
        for number in range(MANY):
            await case(ordain, f"first{number}")
        with without_collector():
            before = tracked()
            for number in range(MANY):
                await case(ordain, f"s{number}")
            await asyncio.sleep(SETTLING_S)
            models.requests.clear()
            grown = tracked() - before
        assert grown <= KEPT_A_TURN * MANY


def test_what_is_held_is_seen() -> None:
    """The count notices one execution that a cycle keeps: without it the test above would prove
    nothing.
    """
    with without_collector():
        before = live()
        kept = Execution.__new__(Execution)
        kept.__dict__["itself"] = kept
        del kept
        assert live() - before == Counter({"ordain.runtime.execution.Execution": 1})
