"""The port as a flow holds it, and the awaiting of the flow: it awaits its port, and nothing else.

A flow never stands on the port's own stack: what it awaits comes out to ``awaiting_its_port``, which makes the call. So no event loop is seen
by a flow, whoever drives it, and what asks for one is refused at one place live, resumed, replayed and rehearsed.
"""

from __future__ import annotations

import asyncio
from asyncio import events
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from types import TracebackType, coroutine
from typing import Any, NoReturn

from ordain.errors import FlowFault
from ordain.ports.effects import Effects
from ordain.runtime.run_state import RunState

AWAITED = frozenset({"children", "claim", "perform"})
"""The methods of the port that take their time."""


class PortAwait:
    """One call of the port that a flow awaits; it begins when ``begun`` is awaited."""

    __slots__ = ("begun",)

    def __init__(self, begun: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Not begun yet."""
        self.begun = begun


class FlowPort:
    """What a flow holds of its port: its methods and nothing else. A law about port calls, no sandbox for Python."""

    __slots__ = ("authorize", "children", "claim", "decide", "new_id", "now", "perform")

    def __init__(self, port: Effects) -> None:
        """Only the methods, none of which says whose it is."""
        for name in self.__slots__:
            method = getattr(port, name)
            object.__setattr__(self, name, _awaited(method) if name in AWAITED else _at_once(method))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a flow cannot change its port: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a flow cannot change its port: {name}")


def _awaited(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    @coroutine
    def call(*args: Any, **named: Any) -> Generator[PortAwait, Any, Any]:
        return (yield PortAwait(lambda: method(*args, **named)))

    return call


def _at_once(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        return method(*args, **named)

    return call


class _NoLoop:
    """What asyncio finds where a flow asks it for the running loop: whatever is asked of it is refused, and ``refused`` kept."""

    __slots__ = ("_outside", "refused")

    def __init__(self) -> None:
        self._outside: Any = None
        self.refused: FlowFault | None = None

    def _refuse(self, what: str) -> NoReturn:
        self.refused = self.refused or FlowFault(f"the flow awaited something other than its port: it asked for an event loop ({what})")
        raise self.refused

    def __getattr__(self, name: str) -> Any:
        self._refuse(name)

    def __hash__(self) -> int:  # noqa: PLE0309 - asyncio looks the current task up by its loop
        self._refuse("current_task")

    def create_task(self, work: Any, **_: Any) -> Any:
        """Nor does it keep what would be a task of its own."""
        work.close()
        self._refuse("create_task")

    def __enter__(self) -> None:
        """A flow's own code runs from here on."""
        self._outside = events._get_running_loop()  # noqa: SLF001 - asyncio exports both of them for who runs coroutines
        events._set_running_loop(self)  # type: ignore[arg-type]  # noqa: SLF001

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        events._set_running_loop(self._outside)  # noqa: SLF001


@coroutine
def awaiting_its_port(
    begin: Callable[[], Coroutine[Any, Any, Any]], state: RunState, task: asyncio.Task[Any] | None
) -> Generator[Any, Any, Any]:
    """Await the flow while it awaits its port: what else it awaits no record holds, so that live and replay would not stop at one place.

    Nor may it cancel the task that drives it. Within one step nobody else can have done that.
    """
    no_loop = _NoLoop()
    with no_loop:
        flow = begin()
    step: Callable[[Any], Any] = flow.send
    throw: Callable[[Any], Any] = flow.throw
    given: Any = None
    while True:
        cancels = 0 if task is None else task.cancelling()
        awaited = returned = None
        try:
            with no_loop:
                awaited = step(given)
            over = False
        except StopIteration as stop:
            over, returned = True, stop.value
        except BaseException:  # the flow's, whatever it is; only not where the flow has cancelled its task or asked for a loop besides
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
        elif not isinstance(awaited, PortAwait):
            state.fault = state.fault or FlowFault("the flow awaited something other than its port")
        else:
            try:
                answer: Any = yield from awaited.begun().__await__()
                given, step = answer, flow.send
            except BaseException as error:  # thrown into the flow, which is who may handle it
                given, step = error, throw
            continue
        with suppress(Exception), no_loop:  # the flow is given up, whatever it says to that
            flow.close()
        state.raise_fault()


def _uncancelled(task: asyncio.Task[Any], cancels: int) -> Generator[Any, Any, None]:
    """Take back a cancellation that has not arrived yet; on older Pythons it arrives all the same, and here."""
    while task.cancelling() > cancels:
        task.uncancel()
    with suppress(asyncio.CancelledError):
        yield
