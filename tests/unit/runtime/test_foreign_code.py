"""What an embedder's code raises is named, and no signal; what a signal's handler raises is one
wherever it comes.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

import msgspec
import pytest
from msgspec import Struct
from pydantic import BaseModel

from ordain.contracts.conversation import Message
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.effects.children import Join, Spawn
from ordain.errors import (
    ConfigurationError,
    FlowFault,
    InvalidRequest,
    JournalDiverged,
    LeaseLost,
    OrdainError,
    Refused,
)
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Serves, Settlement, Wire
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import FaultedBody, RecordKind, Status, raw
from ordain.rules.decision import Decision, Rule
from ordain.rules.spend import Spend
from ordain.rules.step import StepReason
from ordain.runtime.conversation import Conversation
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.foreign_code import (
    asked_of,
    class_of,
    contained,
    input_of,
    place_of,
    said_by,
    sent_by_signal,
)
from ordain.runtime.intake import Intake
from ordain.runtime.opening import root_run
from ordain.runtime.replay import replay
from ordain.runtime.setup import RunSetup
from ordain.testing import catalog_of, kind_of
from tests.unit.runtime.house import House

CATALOG = catalog_of()


async def _done(context: FlowContext, given: Any) -> str:
    return "done"


def raises(error: BaseException) -> Callable[..., NoReturn]:
    def fails(*_: Any) -> NoReturn:
        raise error

    return fails


@contextmanager
def handling(number: int, handler: Any) -> Iterator[None]:
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def caught(raising: Callable[[], Any]) -> BaseException:
    try:
        raising()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


ERRORS = [
    TypeError("five"),
    KeyError("six"),
    SystemExit(7),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError(),
]


# --- signals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt("x"), ValueError("y")])
def test_what_code_raises_is_no_signal(error: BaseException) -> None:
    """By whatever name, and whoever handles signals."""
    with handling(signal.SIGINT, signal.default_int_handler):
        assert not sent_by_signal(caught(raises(error)))
    assert not sent_by_signal(caught(sys.exit))


def _exits(*_: Any) -> None:
    sys.exit(3)


@pytest.mark.parametrize("handler", [_exits, raises(KeyboardInterrupt()), lambda *_: sys.exit(3)])  # pyright: ignore[reportUnknownLambdaType]
def test_what_a_handler_raises_is_a_signal(handler: Any) -> None:
    """Wherever it came, in a frame of its own."""
    with handling(signal.SIGTERM, handler):
        assert sent_by_signal(caught(lambda: signal.raise_signal(signal.SIGTERM)))


def test_pythons_own_handler_has_no_frame() -> None:
    """It stops what happens to run."""
    with handling(signal.SIGINT, signal.default_int_handler):
        assert sent_by_signal(caught(lambda: signal.raise_signal(signal.SIGINT)))


async def test_a_thread_gets_no_signals() -> None:
    """What is raised there is its own."""
    assert not sent_by_signal(await asyncio.to_thread(caught, sys.exit))


# --- errors of foreign classes --------------------------------------------------------------------


def _asked(_: object) -> NoReturn:
    raise SystemExit(8)


class Silent(FlowFault):
    """Ends the process when it is looked at."""

    message = code = details = __traceback__ = __cause__ = property(_asked)  # type: ignore[assignment]

    def __init__(self) -> None:
        Exception.__init__(self)


class Lying(JournalDiverged):
    """Says what no row can hold."""

    def __init__(self) -> None:
        super().__init__("mine")
        self.code = 7.5j  # type: ignore[assignment]


def test_an_error_is_told_by_its_class_alone() -> None:
    """Whatever it makes of being asked; of the house's own class it says what it holds, if that is
    text.
    """
    silent = caught(raises(Silent()))
    assert isinstance(silent, FlowFault)
    assert class_of(silent) == "Silent"
    assert place_of(silent).startswith("test_foreign_code.py:")
    assert said_by(silent) == ("faulted", "Silent is no error of Ordain's own")
    assert said_by(Lying())[0] == "journal_diverged"
    odd = JournalDiverged("it differs")
    assert said_by(odd) == ("journal_diverged", "it differs")
    odd.code, odd.message = object(), "\ud800"  # type: ignore[assignment]
    assert said_by(odd) == ("journal_diverged", "?")
    assert class_of(type("\u00e4" * 5000, (Exception,), {})()) == "\u00e4" * 200
    assert place_of(ValueError("never raised")) == ""


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt()], ids=lambda error: type(error).__name__
)
async def test_a_task_of_its_own_ends_nobody_else(error: BaseException) -> None:
    """What code raises there is a fault; what a signal's handler raises still ends the process."""

    async def call() -> None:
        raise error

    async def stopped() -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(
        FlowFault, match=f"a call raised {type(error).__name__} at test_foreign_code.py"
    ):
        await asyncio.ensure_future(contained("a call", call))
    with handling(signal.SIGTERM, raises(error)), pytest.raises(type(error)):
        await contained("a call", stopped)


# --- kinds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_kind_that_fails_is_named_with_what_it_was_asked(error: BaseException) -> None:
    """And nothing of what it raised is lost."""
    kind = kind_of(_done)
    with pytest.raises(
        ConfigurationError, match=f"kind part@1 fails at label: {type(error).__name__}"
    ) as refused:
        asked_of(kind, "label", raises(error))
    assert refused.value.__cause__ is error
    assert refused.value.code == "invalid_kind"


@pytest.mark.parametrize(
    "error", [InvalidRequest("no"), Refused("not now"), ConfigurationError("wrong")]
)
def test_a_kind_may_refuse(error: OrdainError) -> None:
    """In the house's own words."""
    assert caught(lambda: asked_of(kind_of(_done), "wire.take", raises(error))) is error


def test_an_input_of_another_shape_is_the_requests_fault() -> None:
    """And anything else the kind's."""
    kind = replace(kind_of(_done), decode_input=msgspec.json.Decoder(int).decode)
    with pytest.raises(
        InvalidRequest, match="kind part@1 cannot read this input: Expected `int`"
    ) as refused:
        input_of(kind, raw("text"))
    assert refused.value.code == "invalid_input"
    with pytest.raises(ConfigurationError, match="part@1 fails at decode_input: KeyError"):
        input_of(replace(kind, decode_input=raises(KeyError("x"))), raw(1))


@pytest.mark.parametrize("what", ["decode_input", "label", "grant"])
@pytest.mark.parametrize(
    "error",
    [TypeError("five"), SystemExit(7), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_a_run_is_opened_and_set_up_by_kinds_that_answer(what: str, error: BaseException) -> None:
    """Else whoever opens it, or reads an old one, is told which did not."""
    good: Kind[Any, Any] = kind_of(_done)
    bad = replace(good, **{what: raises(error)})  # type: ignore[arg-type]
    opening = dry_opening(raw(None), "r", 10**12)
    with pytest.raises(
        ConfigurationError, match=f"kind part@1 fails at {what}: {type(error).__name__}"
    ):
        root_run(bad, opening, CATALOG)
    bare = msgspec.structs.replace(root_run(good, opening, CATALOG).started, label=None, grant=None)
    with pytest.raises(
        ConfigurationError, match=f"kind part@1 fails at {what}: {type(error).__name__}"
    ):
        RunSetup.of("r", bad, bare, CATALOG, Kinds((bad,)))


# --- runs -----------------------------------------------------------------------------------------


async def _exiting(context: FlowContext, given: Any) -> None:
    sys.exit(5)


async def _interrupting(context: FlowContext, given: Any) -> None:
    raise KeyboardInterrupt


async def _looked_at(context: FlowContext, given: Any) -> None:
    raise Silent


async def _lies(context: FlowContext, given: Any) -> None:
    raise Lying


async def _opens(context: FlowContext, given: Any) -> None:
    child = Spawn[Any](flow="bad", input=raw(None), deadline=context.hard, allowance=Spend())
    with suppress(BaseException):
        await context.fx.children((child,), Join())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"run": _exiting}, "SystemExit"),
        ({"run": _interrupting}, "KeyboardInterrupt"),
        ({"run": _looked_at}, "Silent"),
        ({"run": _lies}, "Lying"),
        ({"settle": raises(SystemExit())}, "SystemExit"),
        ({"settle": raises(KeyboardInterrupt())}, "KeyboardInterrupt"),
        ({"reply": raises(SystemExit())}, "SystemExit"),
        ({"header": raises(SystemExit())}, "SystemExit"),
    ],
)
async def test_who_would_end_the_process_ends_its_run(change: dict[str, Any], named: str) -> None:
    """As a fault that replays equal; the next run goes on."""
    kind = replace(kind_of(_done, charged=False), **change)
    with House(kind) as house:
        for _ in range(2):
            stored = await house.played(kind)
            assert stored.status is Status.FAULTED
            (fault,) = [
                body
                for body in house.bodies(stored.id, RecordKind.FAULTED)
                if isinstance(body, FaultedBody)
            ]
            assert fault.error == named
            report = replay(stored, house.catalog, house.kinds)
            assert (report.verdict, report.differences) == ("equal", [])


def test_a_dry_run_of_it_is_a_fault() -> None:
    """Whoever rehearses it is told."""
    kind = replace(kind_of(_done), run=_exiting)
    with pytest.raises(FlowFault, match="the flow raised SystemExit"):
        dry_run(
            kind,
            dry_opening(raw(None), "r", 10**12),
            CATALOG,
            NothingSpent(CATALOG.policy),
            Kinds(),
        )


@pytest.mark.parametrize("what", ["decode_input", "label"])
@pytest.mark.parametrize(
    "error", [TypeError("five"), SystemExit(7)], ids=lambda error: type(error).__name__
)
async def test_a_child_of_a_kind_that_fails_is_a_fault_of_who_opens_it(
    what: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """Swallowed or not; the log names kind and error, and no value."""
    parent: Kind[Any, Any] = replace(kind_of(_opens, charged=False), name="parent")
    bad = replace(kind_of(_done), name="bad", **{what: raises(error)})
    with House(parent, bad) as house:
        stored = await house.played(parent)
        assert stored.status is Status.FAULTED
        assert replay(stored, house.catalog, house.kinds).equal
    assert (
        "a child run of bad@1 with an input that its kind cannot read or label: "
        f"{type(error).__name__}"
    ) in caplog.text
    assert "five" not in caplog.text


async def test_a_signal_while_a_flow_runs_still_stops_the_process() -> None:
    """A handler that exits is not taken for its flow's doing, nor is what Python's own makes of
    SIGINT.
    """

    async def run(context: FlowContext, given: int) -> None:
        with suppress(Exception):
            signal.raise_signal(given)

    kind = kind_of(run, charged=False)
    with (
        House(kind) as house,
        handling(signal.SIGTERM, _exits),
        handling(signal.SIGINT, signal.default_int_handler),
    ):
        for number, raised in ((signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)):
            opened = await house.open(kind, int(number))
            with pytest.raises(raised):
                await house.drive(opened)
            assert house.stored(opened).status is Status.READY


class Looked(Struct, frozen=True):
    """Facts of nothing."""


@pytest.mark.parametrize("part", ["apply", "tells"])
@pytest.mark.parametrize(
    "error",
    [SystemExit(9), KeyboardInterrupt(), LeaseLost("mine")],
    ids=lambda error: type(error).__name__,
)
async def test_a_rule_that_would_end_the_process_ends_its_run(
    part: str, error: BaseException
) -> None:
    """Swallowed by its flow or not; what it fails to tell of is told as what cannot be read."""
    made = Decision(outcome=Looked(), reason=StepReason.CALL)
    rule: Rule[Any, Any, Any] = Rule(
        name="looks", outcome=Looked, apply=lambda *_: made, reasons=(StepReason,)
    )
    rule = replace(rule, **{part: raises(error)})  # type: ignore[arg-type]

    async def run(context: FlowContext, given: Any) -> str:
        for _ in range(2):
            with suppress(BaseException):
                context.fx.decide(rule, Looked(), None)
        return "done"

    kind = kind_of(run, rules=(rule,), charged=False)
    with House(kind) as house:
        stored = await house.played(kind)
        assert stored.status is (Status.FAULTED if part == "apply" else Status.COMPLETED)
        assert replay(stored, house.catalog, house.kinds).equal
        told = house.services.headers.own(stored).lines
        assert sum("cannot be read" in line.what for line in told) == (2 if part == "tells" else 0)


async def test_an_excerpt_that_would_end_the_process_is_told_as_unreadable() -> None:
    """The parent ends as it does, and its header says so of that one."""
    child = replace(kind_of(_done, charged=False), name="bad", excerpt=raises(KeyboardInterrupt()))
    parent: Kind[Any, Any] = replace(kind_of(_opens, charged=False), name="parent")
    with House(parent, child) as house:
        run = await house.open(parent)
        await house.drive(run)
        await house.drive(derived_id(run, 0, 0))
        assert (await house.drive(run)).status is Status.COMPLETED
        assert replay(house.stored(run), house.catalog, house.kinds).equal
        assert (
            sum(
                "cannot be read" in line.what
                for line in house.services.headers.own(house.stored(run)).lines
            )
            == 1
        )


async def test_a_kind_that_cancels_its_task_is_a_fault() -> None:
    """It is asked for a run's end where there is neither a loop nor a task, live as in replay."""

    def cancels(_: Any) -> Settlement:
        task: Any = asyncio.current_task()
        task.cancel()
        return Settlement(status=Status.COMPLETED, reason="ok")

    kind = replace(kind_of(_done, charged=False), settle=cancels)
    with House(kind) as house:
        stored = await house.played(kind)
        assert stored.status is Status.FAULTED
        assert replay(stored, house.catalog, house.kinds).equal


async def test_a_request_that_its_kind_fails_at_opens_nothing() -> None:
    """Nor does a message; whoever sent it is told the kind, and what it was asked."""

    class Ask(BaseModel):
        """A request."""

    fails = raises(LookupError("x"))
    wire = Wire(contract=Ask, take=fails, response=fails, other="other", said=())
    kind = replace(kind_of(_done), wire=wire, serves=Serves.REQUEST, commissioned=fails)
    with House(kind) as house:
        with pytest.raises(
            ConfigurationError, match=r"kind part@1 fails at wire\.take: LookupError"
        ):
            await Intake(house.services).of_request(Ask(), "ada", DEFAULT_WORKSPACE)
        message = Message.model_validate(
            {"session_id": "s1", "user_id": "ada", "message": {"text": "hello"}}
        )
        no_files: Any = None  # it brings none
        with pytest.raises(
            ConfigurationError, match="kind part@1 fails at commissioned: LookupError"
        ):
            await Conversation(house.services, no_files).receive(
                message, workspace=DEFAULT_WORKSPACE, principal="ada"
            )
        assert not house.store.query("SELECT id FROM runs")
