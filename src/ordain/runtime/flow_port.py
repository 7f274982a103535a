"""The port as a flow holds it, and the awaiting of the flow: it awaits its port, and nothing else.

A flow never stands on the port's own stack: what it awaits comes out to ``awaiting_its_port``,
which makes the call. So no event loop is seen by a flow, whoever drives it, and what asks for one
is refused at one place live, resumed, replayed and rehearsed.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from datetime import datetime
from types import coroutine
from typing import Any, NoReturn

from msgspec import Struct

from ordain.errors import FlowFault
from ordain.ports.effects import Effects
from ordain.runtime.run_state import RunState

_running_loop: Callable[[], Any] = asyncio._get_running_loop  # noqa: SLF001 - asyncio exports both for who runs coroutines
_set_running_loop: Callable[[Any], None] = asyncio._set_running_loop  # noqa: SLF001

AWAITED = frozenset({"children", "claim", "perform"})
"""The methods of the port that take their time."""


class PortAwait:
    """A call of the port that a flow awaits: what it asks for, and nothing to make the call
    with.
    """

    __slots__ = ("args", "method")

    def __init__(self, method: str, *args: Any) -> None:
        """Of one of ``AWAITED``."""
        self.method, self.args = method, args

    def __await__(self) -> Generator[PortAwait, Any, Any]:
        """Comes out to whoever drives the flow."""
        return (yield self)


class FlowPort(Struct, frozen=True, eq=False):
    """What a flow holds of its port (``ports.effects.Effects``): its methods and nothing else. A
    law about port calls, no sandbox for Python.
    """

    decide: Any
    authorize: Any
    now: Any
    new_id: Any
    perform: Any
    children: Any
    claim: Any


def flow_port(port: Effects, asked: set[Any]) -> FlowPort:
    """What is answered at once is asked of ``port``; none of the methods says whose it is. What is
    to be awaited stands in ``asked`` until it is.
    """

    def decide(rule: Any, facts: Any, inputs: Any, refs: tuple[int, ...] = ()) -> Any:
        return port.decide(rule, facts, inputs, refs)

    def authorize(call: Any, within: Any, refs: tuple[int, ...] = (), *, ahead: int = 0) -> Any:
        return port.authorize(call, within, refs, ahead=ahead)

    def now() -> datetime:
        return port.now()

    def new_id() -> str:
        return port.new_id()

    def perform(effect: Any) -> PortAwait:
        asked.add(call := PortAwait("perform", effect))
        return call

    def children(spawns: Any, until: Any) -> PortAwait:
        asked.add(call := PortAwait("children", spawns, until))
        return call

    def claim(claim: Any) -> PortAwait:
        asked.add(call := PortAwait("claim", claim))
        return call

    return FlowPort(decide, authorize, now, new_id, perform, children, claim)


class _NoLoop:
    """What asyncio finds where a flow asks it for the running loop: whatever is asked of it is
    refused, and ``refused`` kept.

    That it has no current task is no refusal: a line of a log asks for that.
    """

    __slots__ = ("refused",)

    def __init__(self) -> None:
        self.refused: FlowFault | None = None

    def _refuse(self, what: str) -> NoReturn:
        self.refused = self.refused or FlowFault(
            f"the flow awaited something other than its port: it asked for an event loop ({what})"
        )
        raise self.refused

    def __getattr__(self, name: str) -> Any:
        self._refuse(name)

    def create_task(self, work: Any, **_: Any) -> Any:
        """Nor does it keep what would be a task of its own."""
        work.close()
        self._refuse("create_task")


class _OwnCode:
    """While a flow's own code runs: it finds ``no_loop`` where it asks for the running one, and
    nothing of others is finalized meanwhile.

    Garbage may ask for a loop as it goes (a connection that was left open does), and that is no
    doing of the flow's.
    """

    __slots__ = ("_collecting", "_no_loop", "_outside")

    def __init__(self, no_loop: _NoLoop) -> None:
        """Outside is the loop that runs now, or none."""
        self._no_loop, self._outside = no_loop, _running_loop()
        self._collecting = False

    def __enter__(self) -> None:
        """From here on."""
        self._collecting = gc.isenabled()
        gc.disable()
        _set_running_loop(self._no_loop)

    def __exit__(self, *_: object) -> None:
        """All is as it was."""
        _set_running_loop(self._outside)
        if self._collecting:
            gc.enable()


@coroutine
def awaiting_its_port(
    begin: Callable[[], Coroutine[Any, Any, Any]],
    port: Effects,
    state: RunState,
    task: asyncio.Task[Any] | None,
) -> Generator[Any, Any, Any]:
    """Await the flow while it awaits ``port``: what else it awaits no record holds, so that live
    and replay would not stop at one place.

    Nor may it cancel the task that drives it. Within one step nobody else can have done that.
    """
    no_loop = _NoLoop()
    own_code = _OwnCode(no_loop)
    with own_code:
        flow = begin()
    del begin
    step: Callable[[Any], Any] = flow.send
    given: Any = None
    while True:
        cancels = 0 if task is None else task.cancelling()
        awaited = returned = None
        try:
            with own_code:
                awaited = step(given)
            over = False
        except StopIteration as stop:
            over, returned = True, stop.value
        except BaseException:
            # the flow's, whatever it is; only not where the flow has cancelled its task or asked
            # for a loop besides
            if no_loop.refused is None and (task is None or task.cancelling() <= cancels):
                raise
            over = False
        finally:
            given = None  # an error that was thrown in would hold this frame, and the run with it
        if task is not None and task.cancelling() > cancels:
            state.fault = state.fault or FlowFault("the flow cancelled the task that drives it")
            yield from _uncancelled(task, cancels)
        elif no_loop.refused is not None:
            state.fault = state.fault or no_loop.refused
        elif over:
            return returned
        elif (asked := _asked(awaited)) is None:
            state.fault = state.fault or FlowFault("the flow awaited something other than its port")
        else:
            state.asked.discard(awaited)
            try:
                # a coroutine: one of this form may delegate to it
                call: Generator[Any, Any, Any] = getattr(port, asked[0])(*asked[1])
                awaited = asked = None  # nothing is kept for as long as the call takes but the call
                given = yield from call
                step = flow.send
            except BaseException as error:  # thrown into the flow, which is who may handle it
                given, step = error, flow.throw
            continue
        with suppress(Exception), own_code:  # the flow is given up, whatever it says to that
            flow.close()
        state.raise_fault()


def _asked(awaited: object) -> tuple[str, tuple[Any, ...]] | None:
    """The method and the arguments of a port call, each read once and neither of a type that could
    say something else later; None of anything else.
    """
    if type(awaited) is not PortAwait:
        return None
    method, args = awaited.method, awaited.args
    return (
        (method, args)
        if type(method) is str and method in AWAITED and type(args) is tuple
        else None
    )


def _uncancelled(task: asyncio.Task[Any], cancels: int) -> Generator[Any, Any, None]:
    """Take back a cancellation that has not arrived yet; on older Pythons it arrives all the same,
    and here.
    """
    while task.cancelling() > cancels:
        task.uncancel()
    with suppress(asyncio.CancelledError):
        yield
