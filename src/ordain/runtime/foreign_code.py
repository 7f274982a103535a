"""What code of an embedder raises where the house calls it: named with the kind and what was asked
of it, and never taken for a signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from opcode import opmap
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import Any, ParamSpec, TypeVar

from msgspec import MsgspecError, Raw

from ordain import errors
from ordain.errors import (
    CallerError,
    ConfigurationError,
    FlowFault,
    InvalidRequest,
    OrdainError,
    Refused,
)
from ordain.flows.kind import Kind

P = ParamSpec("P")
T = TypeVar("T")
NAME_CHARS = 200
_CLASS_NAME, _TRACEBACK = vars(type)["__name__"], vars(BaseException)["__traceback__"]


def asked_of(
    kind: Kind[Any, Any], what: str, ask: Callable[P, T], *args: P.args, **named: P.kwargs
) -> T:
    """What a kind answers; ``what`` is the name of its function.

    Raises:
        CallerError, Refused: the kind refuses.
        ConfigurationError: it raised anything else, which is the cause (``invalid_kind``).
    """
    try:
        return ask(*args, **named)
    except (CallerError, Refused):
        raise
    except BaseException as error:
        # a kind is foreign code: even SystemExit is its failure and not the process's
        if sent_by_signal(error):
            raise
        # its text may hold values
        found = f"kind {kind.name}@{kind.version} fails at {what}: {type(error).__name__}"
        raise ConfigurationError(found, code="invalid_kind") from error


def input_of(kind: Kind[Any, Any], given: Raw) -> Any:
    """A new run's input, as its kind reads it.

    Raises:
        InvalidRequest: it is none of this kind's. Else as ``asked_of``.
    """
    try:
        return asked_of(kind, "decode_input", kind.decode_input, given)
    except ConfigurationError as error:
        cause = error.__cause__
        if not isinstance(cause, MsgspecError | ValueError):
            raise
        raise InvalidRequest(
            f"kind {kind.name}@{kind.version} cannot read this input: {str(cause)[:200]}",
            code="invalid_input",
        ) from cause


async def contained(what: str, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a task of its own awaits where it calls code of an embedder: out of a task
    ``SystemExit`` ends the event loop, and everybody with it.

    Raises:
        FlowFault: it raised what would end the process, and no signal asked for that. Whatever else
            it raises.
    """
    try:
        return await begin()
    except (SystemExit, KeyboardInterrupt) as error:
        if sent_by_signal(error):
            raise
        raise FlowFault(f"{what} raised {class_of(error)} at {place_of(error)}") from error


def class_of(error: BaseException) -> str:
    """The name of an error's class, as a record can hold it. Its class is foreign, and is asked
    nothing.
    """
    return plain_text(_CLASS_NAME.__get__(type(error)))[:NAME_CHARS]


def place_of(error: BaseException) -> str:
    """Where it was raised: file, line and function."""
    found = list(walk_tb(_traceback(error)))
    if not found:
        return ""
    code, line = found[-1][0].f_code, found[-1][1]
    return plain_text(
        f"{code.co_filename.rpartition('/')[2][:NAME_CHARS]}:{line} {code.co_name[:NAME_CHARS]}"
    )


def said_by(error: OrdainError) -> tuple[str, str]:
    """Code and message of an error that may be of a foreign class, or hold anything; of the house's
    own what they hold.
    """
    own = next(
        one
        for one in type(error).__mro__
        if one.__module__ == errors.__name__ and issubclass(one, OrdainError)
    )
    if own is not type(error):
        return own.code, f"{class_of(error)} is no error of Ordain's own"
    code, message = vars(error).get("code"), vars(error).get("message")
    return code if type(code) is str and code.isidentifier() else own.code, plain_text(
        message
    ) if type(message) is str else ""


def plain_text(text: str) -> str:
    """Text that can be encoded."""
    return text.encode(errors="replace").decode()


def _traceback(error: BaseException) -> TracebackType | None:
    return _TRACEBACK.__get__(error)


def sent_by_signal(error: BaseException) -> bool:
    """Whether a signal's handler raised it, wherever the process was just then; what code raises by
    itself, by whatever name, is no signal.

    A handler that has put another in its own place by then is not known any more.
    """
    if (
        issubclass(type(error), Exception)
        or threading.current_thread() is not threading.main_thread()
    ):
        return False
    frames = list(walk_tb(_traceback(error)))
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    if any(frame.f_code in handlers for frame, _ in frames):
        return True
    if (
        not issubclass(type(error), KeyboardInterrupt)
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        return False
    return not _by_statement(error)


def _code(handler: Any) -> CodeType | None:
    """The code of a handler that is Python: a function, an object that is called, or a partial of
    one, as asyncio's is.
    """
    while isinstance(handler, partial):
        handler = handler.func
    return getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)


def _by_statement(error: BaseException) -> bool:
    """Whether a ``raise`` raised it; Python's own handler of SIGINT has no frame, and stops
    whatever instruction there is.
    """
    last = _traceback(error)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return (
        last is not None and last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]
    )
