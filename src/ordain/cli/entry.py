"""Where the command begins and ends: arguments in, an exit code out, one line on stderr for
whatever went wrong.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence

from ordain import __version__
from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE, UNREADABLE, USAGE, Unjudged
from ordain.cli.hints import in_folder, named_folder
from ordain.collector import collect_seldom
from ordain.errors import (
    CallerError,
    Conflict,
    InvalidRequest,
    NotFound,
    OrdainError,
    Refused,
    Transient,
)

MESSAGE = 2000
"""Most characters of a message on stderr."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _give_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    if given in (["--version"], ["-V"]):
        print(f"ordain {__version__}")
        return OK
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without UTF-8 gets escapes, never a traceback
            stream.reconfigure(errors="backslashreplace")
    if arguments is None:  # the process is this command's
        collect_seldom()
    with named_folder(given):
        return _carried_out(given, as_json=as_json)


def _carried_out(given: list[str], *, as_json: bool) -> int:
    from ordain.cli.commands import app  # lazy: the version needs no parser

    try:
        code = app(given)
        # here it may fail: at the interpreter's end that would be told as an error of this command
        sys.stdout.flush()
    except OrdainError as error:
        own = not isinstance(error, InvalidRequest)  # which says what was said, as it was said
        _tell(error.code, in_folder(error.message) if own else error.message, as_json=as_json)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _read_no_further()
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # what writes the help ends so
            return _read_no_further()
        raise
    except UnicodeEncodeError:
        if (odd := next((one for one in given if not _is_text(one)), None)) is None:
            raise
        _tell("usage", f"{ascii(odd)[1:-1]} holds bytes that are no text (UTF-8)", as_json=as_json)
        return USAGE
    except RecursionError:
        _tell("too_deep", "an argument nests too deep", as_json=as_json)
        return USAGE
    except OSError as error:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        _tell("io", f"{ascii(where)[1:-1]}{error.strerror or error}", as_json=as_json)
        return UNAVAILABLE
    return code if isinstance(code, int) else OK


def _is_text(argument: str) -> bool:
    """A path may be any bytes; what is sent may not."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tell(code: str, message: str, *, as_json: bool) -> None:
    """What went wrong, on stderr: one line, or one JSON value where JSON is asked for."""
    said = json.dumps({"error": {"code": code, "message": message}})
    try:
        from ordain.contracts.visible import (
            escaped_json,
            visible_line,
        )  # lazy: an error needs them, the version does not
    except (ImportError, OSError, MemoryError):
        # what is to be told may be that no file can be opened any more
        told = said if as_json else f"ordain: {ascii(message)[1:-1]} [{code}]"
    else:
        told = (
            escaped_json(said)
            if as_json
            else f"ordain: {visible_line(message, MESSAGE)} [{visible_line(code, MESSAGE)}]"
        )
    print(told, file=sys.stderr)


def _give_streams() -> None:
    """What this process was begun without: of a closed stdin nothing is read, and what is written
    to a closed stdout goes nowhere.

    In their order: each takes the lowest number that is free, which is its own, and no file that is
    opened later gets it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)  # as the one that was closed would have been
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def _read_no_further() -> int:
    """Whoever was written to has read enough: no failure, and nothing more is tried."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def exit_code(error: OrdainError) -> int:
    """Whose fault it is, as an exit code."""
    match error:
        case Transient():
            return UNAVAILABLE
        case Refused(code="forbidden"):
            # a token that lacks something is wrong as one that is not good is
            return USAGE
        case Refused():
            return UNAVAILABLE if error.status == 429 else FAILED
        case Conflict():
            return FAILED
        case Unjudged():
            return UNREADABLE
        case NotFound() | CallerError():
            return USAGE
        case _:
            return FAILED
