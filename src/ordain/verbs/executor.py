"""The executor of leaf verbs: one attempt, every failure a value, nothing of what a failing verb
held in a message.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from functools import partial
from pathlib import PurePath
from typing import Any

from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import VerbSpec
from ordain.ports.verb import (
    WITHDRAWN,
    AnyLeafResult,
    LeafCall,
    LeafFailed,
    LeafTimedOut,
    VerbPort,
)
from ordain.runtime.time_limit import ended_within
from ordain.verbs.functions import DELAY_MAX_S, AnyFunctionVerb, VerbContext, VerbError
from ordain.verbs.registry import Registry
from ordain.verbs.returned_value import returned, unless_harmless
from ordain.verbs.signatures import Unfitting
from ordain.verbs.threads import NoSlot, OutOfTime, Raised, Threads

MESSAGE_MAX = 300
"""Most characters of a failure's message."""

NO_SLOT = LeafFailed(
    code="no_slot", message="no thread for plain functions was free", retryable=True
)

END_S = 5.0
"""How long the end waits for functions that were cancelled."""

THREADS = 8
"""Plain functions that run at once, where settings do not say otherwise."""

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_log = logging.getLogger("ordain.verbs")


class LeafExecutor(VerbPort):
    """``VerbPort`` over a registry of Python functions. Belongs to one event loop."""

    def __init__(self, registry: Registry, *, threads: int = THREADS) -> None:
        """``threads`` bounds how many plain functions run at once, those past their time
        included.
        """
        self._registry = registry
        self.threads = Threads(threads)
        self._active = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._tasks = set[asyncio.Task[Any]]()

    def replace(self, registry: Registry) -> None:
        """Take the code of another registry from the next call on; calls under way end as they
        began.
        """
        self._registry = registry

    def implements(self, verb_id: str) -> bool:
        """Whether there is a function behind the id."""
        return self._registry.is_coded(verb_id)

    async def run(self, call: LeafCall) -> AnyLeafResult:
        """Attempt once."""
        if not self._registry.is_coded(call.spec.name):
            return LeafFailed(code="not_implemented", message=f"no code for verb {call.spec.name}")
        if self._closing:
            return LeafFailed(code="closing", message="no more calls are taken", retryable=True)
        if call.timeout_s <= 0:
            return LeafFailed(
                code="no_time", message="the deadline had passed before the call began"
            )
        verb = await self._code_of(call)
        if isinstance(verb, LeafFailed):
            return verb
        try:
            arguments = verb.signature.arguments(call.args)
        except Unfitting as error:
            return LeafFailed(code="bad_input", message=str(error))
        if verb.signature.context:
            arguments["context"] = VerbContext(
                key=call.key,
                attempt=call.attempt,
                left_s=call.timeout_s,
                at_us=call.at_us,
                last_look=call.last_look,
                workspace=call.workspace,
                session=call.session,
                run=call.run,
                principal=call.principal,
            )
        self._active += 1
        try:
            if verb.asynchronous:
                return await self._awaited(verb, call, arguments)
            return await self._threaded(verb, call, arguments)
        finally:
            self._active -= 1
            if self._closing and not self._active:
                self._idle.set()

    async def _code_of(self, call: LeafCall) -> AnyFunctionVerb | LeafFailed:
        """What is called. Code that waits to be imported is so in a thread: that takes a while, and
        fails where files or memory have run out.
        """
        registry, name = self._registry, call.spec.name
        if not registry.is_deferred(name):
            return registry.function(name)
        try:
            found = await self.threads.run(partial(registry.function, name), call.timeout_s)
        except NoSlot:
            return NO_SLOT
        except OutOfTime:
            return LeafFailed(
                code="not_loaded", message="its code was not imported in time", retryable=True
            )
        if isinstance(found, Raised):
            _log.error("the code of %s cannot be imported", name, exc_info=found.error)
            return LeafFailed(
                code="not_loaded",
                message=f"its code cannot be imported now ({type(found.error).__name__})",
                retryable=True,
            )
        if (why := await call.last_look()) is not None:  # that took its time
            return LeafFailed(code=WITHDRAWN, message=why)
        return found

    async def close(self) -> None:
        """Take no more calls and wait for running ones, each of which ends by its own time-out, and
        a while for cancelled ones; plain ones no longer than ``threads`` was told. Idempotent.
        """
        self._closing = True
        if self._active:
            await self._idle.wait()
        await self.threads.close()
        if self._tasks:
            _, stubborn = await asyncio.wait(self._tasks, timeout=END_S)
            for task in stubborn:
                # ``asyncio.run`` waits for every task that it knows: like a thread, this one must
                # not keep the process
                _log.error(
                    "a verb ignores its cancellation and is left behind: %s", task.get_name()
                )
                asyncio._unregister_task(task)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - documented, for tasks of others
            self._tasks -= stubborn

    async def _threaded(
        self, verb: AnyFunctionVerb, call: LeafCall, arguments: dict[str, Any]
    ) -> AnyLeafResult:
        try:
            result = await self.threads.run(
                partial(_called, verb, call.spec, arguments), call.timeout_s
            )
        except NoSlot:
            return NO_SLOT
        except OutOfTime:
            return LeafTimedOut()
        return _raised(result.error, call.spec) if isinstance(result, Raised) else result

    async def _awaited(
        self, verb: AnyFunctionVerb, call: LeafCall, arguments: dict[str, Any]
    ) -> AnyLeafResult:
        """Await the verb in a task of its own, so that one that ignores its cancellation cannot
        hold up the run.
        """
        task = asyncio.get_running_loop().create_task(
            _caught(verb, call.spec, arguments), name=call.spec.name
        )
        self._tasks.add(task)
        try:
            done = await ended_within(task, call.timeout_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            if task.done():
                self._tasks.discard(task)
            else:
                task.add_done_callback(self._tasks.discard)
        if not done:
            task.cancel()
            await asyncio.sleep(0)  # lets a well-behaved verb clean up before its time-out is told
            return LeafTimedOut()
        return task.result()


def _called(verb: AnyFunctionVerb, spec: VerbSpec, arguments: dict[str, Any]) -> AnyLeafResult:
    """Call a plain function and encode its result, all in its thread."""
    return returned(verb.function(**arguments), verb, spec)


async def _caught(
    verb: AnyFunctionVerb, spec: VerbSpec, arguments: dict[str, Any]
) -> AnyLeafResult:
    try:
        return returned(await verb.function(**arguments), verb, spec)
    except BaseException as error:
        # foreign code in a task of its own: whatever it or its result raises, exit() included, is
        # its failure
        return _raised(error, spec)


def _raised(error: BaseException, spec: VerbSpec) -> LeafFailed:
    if isinstance(error, VerbError):
        try:
            return _declared(error, spec)
        except BaseException as other:
            # a subclass is foreign code too: whatever its attributes raise is what it raised
            error = other
    # An exception's text is made of the values the verb worked with: only its type and place may
    # leave.
    _log.debug("verb %s raised", spec.name, exc_info=error)
    message = f"raised {type(error).__name__}{_raised_at(error)}"
    return LeafFailed(
        code="verb_raised", message=message[:MESSAGE_MAX], happened=unless_harmless(spec)
    )


def _declared(error: Any, spec: VerbSpec) -> LeafFailed:
    """What a ``VerbError`` says. Its attributes can be set to anything: one that is not of its type
    says nothing.
    """
    code, message, happened = error.code, error.message, error.happened
    return LeafFailed(
        code=_plain(code) if isinstance(code, str) and _CODE.match(code) else "verb_error",
        message=_plain(message)[:MESSAGE_MAX] if isinstance(message, str) else "",
        retryable=error.retryable is True,
        retry_after_ms=_delay_ms(error.retry_after_s),
        happened=False
        if spec.effect in HARMLESS
        else happened
        if isinstance(happened, bool)
        else None,
    )


def _plain(text: str) -> str:
    """The text of foreign code as one that JSON has a form for, whatever subclass it is of."""
    return str.encode(text, errors="replace").decode()


def _delay_ms(seconds: Any) -> int:
    """A delay that foreign code named, as whole milliseconds, ``DELAY_MAX_S`` at most; what is no
    delay counts as not named.
    """
    if not isinstance(seconds, int | float) or not seconds > 0:  # nor is what is not a number
        return 0
    return math.ceil(min(seconds, DELAY_MAX_S) * 1000)


def _raised_at(error: BaseException) -> str:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return (
        ""
        if traceback is None
        else f" at {PurePath(traceback.tb_frame.f_code.co_filename).name}:{traceback.tb_lineno}"
    )
