"""The executor: one attempt, every failure a value, a slot taken until its function has ended."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from ordain.contracts.verbs import ArgumentRole
from ordain.ports.verb import LeafCall, LeafFailed, LeafReturned, LeafTimedOut
from ordain.verbs import FunctionVerb, LeafExecutor, Registry, VerbContext, VerbError, verb
from ordain.verbs import executor as executor_module
from ordain.verbs.returned_value import OUTPUT_BYTES_MAX

Executors = Callable[..., LeafExecutor]
LONG_S = 30.0
SHORT_S = 0.05


@pytest.fixture
async def executor_of() -> AsyncIterator[Executors]:
    made: list[LeafExecutor] = []

    def make(*functions: FunctionVerb[..., Any], threads: int = 2) -> LeafExecutor:
        made.append(LeafExecutor(Registry(functions=functions), threads=threads))
        return made[-1]

    yield make
    for executor in made:
        await executor.close()


def call(function: FunctionVerb[..., Any], timeout_s: float = LONG_S, **args: Any) -> LeafCall:
    return LeafCall(spec=function.spec, args=args, key="key-1", attempt=2, timeout_s=timeout_s)


class Model(BaseModel):
    name: str


@dataclass
class Data:
    model: Model
    parts: tuple[int, ...]


@verb(effect="read")
async def give(what: str) -> Any:
    """Give something that is more or less JSON."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return {
        "int": 1, "none": None, "model": Model(name="n"), "data": Data(Model(name="m"), (1, 2)),
            "key": {1: "one"}, "null word": "null",
        "nan": float("nan"), "inf": [{"x": float("-inf")}], "object": object(),
            "surrogate": "\ud800", "deep": deep, "lambda": lambda: 1,
        "big": "x" * OUTPUT_BYTES_MAX, "huge int": 10**40, "set": {"a"},
    }[what]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "result"),
    [
        ("int", 1),
        ("none", None),
        ("model", {"name": "n"}),
        ("data", {"model": {"name": "m"}, "parts": [1, 2]}),
        ("key", {"1": "one"}),
        ("null word", "null"),
        ("set", ["a"]),
        ("huge int", 10**40),
    ],
)
async def test_results_become_plain_json(executor_of: Executors, what: str, result: Any) -> None:
    """Models, dataclasses and the like arrive as the JSON that their schema describes."""
    assert await executor_of(give).run(call(give, what=what)) == LeafReturned(
        output={"result": result}
    )


@pytest.mark.parametrize("what", ["nan", "inf", "object", "surrogate", "deep", "lambda"])
async def test_a_result_that_is_no_json_is_a_bad_output(executor_of: Executors, what: str) -> None:
    """What JSON cannot say is refused, never silently changed to null."""
    result = await executor_of(give).run(call(give, what=what))
    assert isinstance(result, LeafFailed)
    assert (result.code, result.retryable, result.happened) == ("bad_output", False, False)


@verb(name="test.around", effect="read")
def around() -> dict[str, int]:
    """A plain function that returns what it should have awaited."""

    async def inner() -> dict[str, int]:
        return {"n": 1}

    return inner()  # type: ignore[return-value]


@pytest.mark.filterwarnings("error")
async def test_what_a_plain_function_should_have_awaited_is_said(executor_of: Executors) -> None:
    """The failure says what to do, and nothing is left behind unawaited."""
    result = await executor_of(around).run(call(around))
    assert isinstance(result, LeafFailed)
    assert (result.code, result.message) == (
        "bad_output",
        "the function returned what has to be awaited: make it `async`",
    )


async def test_an_output_has_a_largest_size(executor_of: Executors) -> None:
    """More than a mebibyte of JSON is refused."""
    result = await executor_of(give).run(call(give, what="big"))
    assert isinstance(result, LeafFailed)
    assert result.code == "output_too_large"


async def test_a_declared_object_must_be_one(executor_of: Executors) -> None:
    """A function that declared an object and returns something else gives a bad output."""

    @verb(effect="private", arguments={"x": ArgumentRole.LABEL})
    def lie(x: int) -> dict[str, int]:
        """Lie."""
        return [x]  # type: ignore[return-value]

    result = await executor_of(lie).run(call(lie, x=1))
    assert isinstance(result, LeafFailed)
    assert (result.code, result.happened) == ("bad_output", None)


@dataclass
class Now:
    text: str
    heading: str = ""


@dataclass
class FoundNow:
    parts: list[Now]
    of: int = 0


async def test_a_run_is_told_what_the_build_that_it_is_pinned_to_promised(
    executor_of: Executors,
) -> None:
    """Fields that a later build's verb has beside those of the pinned schema are left out, at every
    depth; one that it lacks is refused as ever.
    """

    @verb(effect="read")
    def look() -> FoundNow:
        """Look."""
        return FoundNow([Now("a", "b")], 3)

    part = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    before = {
        "type": "object",
        "properties": {"parts": {"type": "array", "items": {"$ref": "#/$defs/Now"}}},
        "required": ["parts"],
        "additionalProperties": False,
        "$defs": {"Now": part},
    }
    executor = executor_of(look)
    pinned = call(
        look.__class__(
            look.spec.model_copy(update={"output_schema": before}),
            look.function,
            look.signature,
            look.asynchronous,
        )
    )
    assert await executor.run(pinned) == LeafReturned(output={"parts": [{"text": "a"}]})
    assert await executor.run(call(look)) == LeafReturned(
        output={"parts": [{"text": "a", "heading": "b"}], "of": 3}
    )


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_the_context_tells_of_the_call(executor_of: Executors, asynchronous: bool) -> None:
    """Key, attempt and the time left reach the function."""

    @verb(effect="read", name="see")
    async def see(context: VerbContext) -> list[Any]:
        """See."""
        return [context.key, context.attempt, context.left_s]

    @verb(effect="read", name="see")
    def see_plain(context: VerbContext) -> list[Any]:
        """See."""
        return [context.key, context.attempt, context.left_s]

    function = see if asynchronous else see_plain
    assert await executor_of(function).run(call(function)) == LeafReturned(
        output={"result": ["key-1", 2, LONG_S]}
    )


FAULTS: dict[str, BaseException] = {
    "plain": ValueError("secret-token in /var/private"),
    "key": KeyError("secret-token"),
    "timeout of its own": TimeoutError("secret-token"),
    "exit": SystemExit("secret-token"),
    "cancelled of its own": asyncio.CancelledError("secret-token"),
    "group": ExceptionGroup("secret-token", [ValueError("secret-token")]),
}


@verb(effect="read", name="fail")
async def fail(how: str) -> None:
    """Fail."""
    raise FAULTS[how]


@verb(effect="private", name="fail", arguments={"how": ArgumentRole.LABEL})
def fail_plain(how: str) -> None:
    """Fail."""
    if how == "exit":
        sys.exit(3)
    raise FAULTS[how]


@pytest.mark.parametrize("function", [fail, fail_plain])
@pytest.mark.parametrize("how", FAULTS)
async def test_what_verb_code_raises_is_a_value(
    executor_of: Executors, function: FunctionVerb[..., Any], how: str
) -> None:
    """Any exception ends as a failure with type and place; its text, made of the verb's values,
    stays out.
    """
    executor = executor_of(function)
    result = await executor.run(call(function, how=how))
    assert isinstance(result, LeafFailed)
    assert result.code == "verb_raised"
    assert result.message.startswith(f"raised {type(FAULTS[how]).__name__} at test_executor.py:")
    assert "secret" not in result.message
    assert not result.retryable
    assert result.happened is (False if function is fail else None)
    assert isinstance(await executor.run(call(function, how="plain")), LeafFailed)


async def test_a_declared_failure_says_what_it_declares(executor_of: Executors) -> None:
    """VerbError carries code, words, retryable and whether it happened; a read's effect never
    happened; words are cut.
    """

    def failing(effect: Any) -> FunctionVerb[..., Any]:
        @verb(
            effect=effect,
            arguments={}
            if effect == "read"
            else {"code": ArgumentRole.LABEL, "happened": ArgumentRole.FLAG},
        )
        async def declare(code: str, happened: bool | None) -> None:
            """Declare."""
            raise VerbError(code, "m" * 1000, retryable=True, happened=happened)

        return declare

    for effect, given, expected in [
        ("private", None, None),
        ("private", False, False),
        ("private", True, True),
        ("read", None, False),
    ]:
        function = failing(effect)
        result = await executor_of(function).run(call(function, code="busy", happened=given))
        assert result == LeafFailed(
            code="busy", message="m" * 300, retryable=True, happened=expected
        )
    odd = await executor_of(function).run(call(function, code="Not a code!\n", happened=None))
    assert isinstance(odd, LeafFailed)
    assert odd.code == "verb_error"


async def test_an_ill_made_declared_failure_is_still_one(executor_of: Executors) -> None:
    """A VerbError made by careless code, of other types or by a subclass of its own, gives
    well-formed values all the same.
    """

    class Careless(VerbError):
        def __init__(self) -> None:
            pass

    made: list[VerbError] = [VerbError(404, None), VerbError("busy", "\ud800"), Careless()]  # type: ignore[arg-type]

    @verb(effect="read")
    async def declare(which: int) -> None:
        """Declare."""
        raise made[which]

    executor = executor_of(declare)
    results = [await executor.run(call(declare, which=which)) for which in range(3)]
    assert results == [
        LeafFailed(code="verb_error", message="None"),
        LeafFailed(code="busy", message="?"),
        LeafFailed(code="verb_error", message=""),
    ]


class Odd(str):  # noqa: SLOT000 - as foreign code makes them
    """A text of a type of its own, of which JSON knows nothing."""


@pytest.mark.parametrize(
    ("attribute", "given", "told"),
    [
        ("code", None, {"code": "verb_error"}),
        ("code", Odd("busy"), {}),
        ("message", 5, {"message": ""}),
        ("message", Odd("m"), {}),
        ("retryable", "30", {"retryable": False}),
        ("retryable", None, {"retryable": False}),
        ("retryable", object(), {"retryable": False}),
        ("happened", "maybe", {"happened": None}),
        ("retry_after_s", "soon", {"retry_after_ms": 0}),
    ],
)
async def test_what_a_failure_declares_is_of_its_type(
    executor_of: Executors, attribute: str, given: Any, told: dict[str, Any]
) -> None:
    """Its attributes can be set to anything; what is not of its type says nothing, and the rest
    stands.
    """
    error = VerbError("busy", "m", retryable=True, happened=False, retry_after_s=2)
    setattr(error, attribute, given)

    @verb(effect="private")
    async def declare() -> None:
        """Declare."""
        raise error

    result = await executor_of(declare).run(call(declare))
    assert isinstance(result, LeafFailed)
    fields = {
        "code": "busy",
        "message": "m",
        "retryable": True,
        "retry_after_ms": 2000,
        "happened": False,
        **told,
    }
    assert result == LeafFailed(**fields)
    assert (type(result.code), type(result.message)) == (str, str)


class Exiting(BaseModel):
    """A result whose own form cannot be made."""

    def model_dump(self, *_: Any, **__: Any) -> dict[str, Any]:
        sys.exit(3)


class ExitingError(VerbError):
    """A declared failure that does not say what it declares."""

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        sys.exit(3)

    @retryable.setter
    def retryable(self, _: bool) -> None:
        return


@pytest.mark.parametrize("asynchronous", [True, False])
@pytest.mark.parametrize("raises", [True, False])
async def test_what_reading_a_result_raises_is_the_verbs_failure(
    executor_of: Executors, asynchronous: bool, raises: bool
) -> None:
    """Encoding what a verb returned, or reading the failure that it raised, runs its code too."""

    def end() -> dict[str, Any]:
        if raises:
            raise ExitingError("busy", "m")
        return {"a": Exiting()}

    @verb(effect="read", name="end")
    async def awaited() -> dict[str, Any]:
        """End."""
        return end()

    @verb(effect="read", name="end")
    def called() -> dict[str, Any]:
        """End."""
        return end()

    function = awaited if asynchronous else called
    result = await executor_of(function).run(call(function))
    assert isinstance(result, LeafFailed)
    assert (result.code, result.message.startswith("raised SystemExit at test_executor.py:")) == (
        "verb_raised",
        True,
    )


async def test_arguments_that_do_not_fit_never_reach_the_code(executor_of: Executors) -> None:
    """An unknown or unfitting argument certainly had no effect."""

    @verb(effect="private", arguments={"n": ArgumentRole.LABEL})
    async def never(n: int) -> None:
        """Never."""
        raise AssertionError

    executor = executor_of(never)
    for args in ({"n": "x"}, {"n": 1, "m": 2}, {}):
        result = await executor.run(call(never, **args))
        assert isinstance(result, LeafFailed)
        assert (result.code, result.happened) == ("bad_input", False)


async def test_an_unknown_verb_is_not_implemented(executor_of: Executors) -> None:
    """A spec without code is a typed failure."""
    executor = executor_of(give)
    assert executor.implements("give")
    assert not executor.implements("Give")
    result = await executor.run(call(fail, how="plain"))
    assert isinstance(result, LeafFailed)
    assert result.code == "not_implemented"


async def test_no_time_left_means_no_call(executor_of: Executors) -> None:
    """A call whose deadline has passed does not begin."""
    result = await executor_of(fail).run(call(fail, timeout_s=0.0, how="plain"))
    assert isinstance(result, LeafFailed)
    assert (result.code, result.happened) == ("no_time", False)


async def test_an_async_function_is_stopped_at_its_time_out(executor_of: Executors) -> None:
    """The time-out cancels it, and its own clean-up runs."""
    cleaned: list[str] = []

    @verb(effect="read")
    async def sleep() -> None:
        """Sleep."""
        try:
            await asyncio.sleep(LONG_S)
        finally:
            cleaned.append("yes")

    assert await executor_of(sleep).run(call(sleep, timeout_s=SHORT_S)) == LeafTimedOut()
    assert cleaned == ["yes"]


class Gate:
    """A plain function that waits until it is let through, and counts."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.ran = 0

        @verb(effect="read", name="gate")
        def wait(number: int = 0) -> int:
            """Wait at the gate."""
            self.ran += 1
            self.entered.release()
            self.open.wait(LONG_S)
            return number

        self.verb = wait

    async def time_out(self, executor: LeafExecutor) -> None:
        """Let one call run past its time-out; on a busy machine it may take several to be started
        in so little time.
        """
        while isinstance(
            result := await executor.run(call(self.verb, timeout_s=SHORT_S)), LeafFailed
        ):
            assert result.code == "no_slot"
        assert result == LeafTimedOut()

    async def has_entered(self) -> None:
        await asyncio.to_thread(self.entered.acquire)


async def test_a_plain_function_keeps_its_slot_past_its_time_out(executor_of: Executors) -> None:
    """After the time-out the slot stays taken, so the next call finds none; when the function ends
    it is free again.
    """
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    await gate.time_out(executor)
    refused = await executor.run(call(gate.verb, timeout_s=SHORT_S))
    assert isinstance(refused, LeafFailed)
    assert (refused.code, refused.retryable, refused.happened) == ("no_slot", True, False)
    assert gate.ran == 1
    gate.open.set()
    assert await executor.run(call(gate.verb, number=7)) == LeafReturned(output={"result": 7})
    assert gate.ran == 2


async def test_a_thread_that_cannot_be_started_takes_no_slot(
    executor_of: Executors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no more threads a call fails, certainly not begun; once it has, the next
    one finds the slot free.
    """
    gate = Gate()
    gate.open.set()
    executor = executor_of(gate.verb, threads=1)

    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", none_left)
        refused = [await executor.run(call(gate.verb)) for _ in range(2)]
    assert {
        (result.code, result.retryable, result.happened)
        for result in refused
        if isinstance(result, LeafFailed)
    } == {("no_slot", True, False)}
    assert await executor.run(call(gate.verb, number=7)) == LeafReturned(output={"result": 7})
    assert gate.ran == 1


async def test_no_more_plain_functions_run_than_there_are_slots(executor_of: Executors) -> None:
    """Twelve calls on three slots: three run, nine wait their turn, all end."""
    gate = Gate()
    executor = executor_of(gate.verb, threads=3)
    calls = [
        asyncio.create_task(executor.run(call(gate.verb, number=number))) for number in range(12)
    ]
    for _ in range(3):
        await gate.has_entered()
    assert gate.ran == 3
    gate.open.set()
    assert await asyncio.gather(*calls) == [
        LeafReturned(output={"result": number}) for number in range(12)
    ]


async def test_a_waiting_call_that_gives_up_never_runs(executor_of: Executors) -> None:
    """A call that found no slot in its time is not started later."""
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    first = asyncio.create_task(executor.run(call(gate.verb)))
    await gate.has_entered()
    refused = [await executor.run(call(gate.verb, timeout_s=SHORT_S)) for _ in range(3)]
    assert {type(result) for result in refused} == {LeafFailed}
    gate.open.set()
    await first
    await executor.run(call(gate.verb))
    assert gate.ran == 2


@pytest.mark.parametrize("running", [True, False])
async def test_cancellation_passes(executor_of: Executors, running: bool) -> None:
    """Cancelling the caller cancels the wait at once; a running function keeps its slot, a waiting
    one never starts.
    """
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    first = asyncio.create_task(executor.run(call(gate.verb)))
    await gate.has_entered()
    second = asyncio.create_task(executor.run(call(gate.verb)))
    await asyncio.sleep(0)
    victim = first if running else second
    victim.cancel()
    with pytest.raises(asyncio.CancelledError):
        await victim
    assert gate.ran == 1
    gate.open.set()
    other = second if running else first
    assert isinstance(await other, LeafReturned)
    assert gate.ran == (2 if running else 1)


async def test_cancelling_an_async_function_passes() -> None:
    """Cancellation from outside is no failure of the verb."""
    started = asyncio.Event()

    @verb(effect="read")
    async def sleep() -> None:
        """Sleep."""
        started.set()
        await asyncio.sleep(LONG_S)

    executor = LeafExecutor(Registry(functions=[sleep]))
    task = asyncio.create_task(executor.run(call(sleep)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await executor.close()


async def test_closing_waits_for_what_runs(executor_of: Executors) -> None:
    """close() lets running functions end within their time-outs and takes no more calls; a second
    close is the same.
    """
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    running = asyncio.create_task(executor.run(call(gate.verb, number=5)))
    await gate.has_entered()
    closing = asyncio.create_task(executor.close())
    await asyncio.sleep(0)
    refused = await executor.run(call(gate.verb))
    assert isinstance(refused, LeafFailed)
    assert (refused.code, refused.retryable, refused.happened) == ("closing", True, False)
    assert not closing.done()
    gate.open.set()
    await closing
    assert await running == LeafReturned(output={"result": 5})
    await executor.close()


async def test_closing_does_not_wait_past_a_time_out(executor_of: Executors) -> None:
    """A function that outlived its time-out does not hold up closing."""
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    await gate.time_out(executor)
    await executor.close()
    assert not gate.open.is_set()
    gate.open.set()


async def test_closing_waits_for_a_cancelled_call_that_still_runs(executor_of: Executors) -> None:
    """A function whose caller was cancelled still has its time to end."""
    gate = Gate()
    executor = executor_of(gate.verb, threads=1)
    running = asyncio.create_task(executor.run(call(gate.verb)))
    await gate.has_entered()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    closing = asyncio.create_task(executor.close())
    await asyncio.sleep(0)
    assert not closing.done()
    gate.open.set()
    await closing


async def test_an_async_function_that_ignores_its_cancellation_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A verb that swallows its cancellation ends for the run at its time-out all the same; once all
    is closed no loop waits for it.
    """
    monkeypatch.setattr(executor_module, "END_S", SHORT_S)
    going = asyncio.Event()

    @verb(effect="read", name="stubborn")
    async def stubborn() -> dict[str, bool]:
        """Never stops when asked."""
        while not going.is_set():
            try:
                await going.wait()
            except asyncio.CancelledError:
                continue
        return {"stopped": True}

    executor, tasks = LeafExecutor(Registry([], [stubborn])), asyncio.all_tasks()
    call = LeafCall(spec=stubborn.spec, args={}, key="k", attempt=1, timeout_s=SHORT_S)
    assert isinstance(await executor.run(call), LeafTimedOut)
    (left,) = asyncio.all_tasks() - tasks
    try:
        await executor.close()
        await executor.close()
        assert asyncio.all_tasks() == tasks
        assert not left.done()
        assert [record.getMessage() for record in caplog.records] == [
            "a verb ignores its cancellation and is left behind: stubborn"
        ]
    finally:
        going.set()
        await left
