"""What code of an embedder raises where the house calls it: named with the kind and what was asked of it, and never taken for a signal."""

from __future__ import annotations

import signal
import threading
from functools import partial
from opcode import opmap
from traceback import walk_tb
from types import CodeType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def sent_by_signal(error: BaseException) -> bool:
    """Whether a signal's handler raised it, wherever the process was just then; what code raises by itself, by whatever name, is no signal."""
    if isinstance(error, Exception) or threading.current_thread() is not threading.main_thread():
        return False
    frames = list(walk_tb(error.__traceback__))
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    if any(frame.f_code in handlers for frame, _ in frames):
        return True
    if not isinstance(error, KeyboardInterrupt) or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    return not _by_statement(error)


def _code(handler: Any) -> CodeType | None:
    """The code of a handler that is Python; asyncio's is a partial."""
    while isinstance(handler, partial):
        handler = handler.func
    return getattr(handler, "__code__", None)


def _by_statement(error: BaseException) -> bool:
    """Whether a ``raise`` raised it; Python's own handler of SIGINT has no frame, and stops whatever instruction there is."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]
