"""Where the command begins and ends: arguments in, an exit code out, one line on stderr for whatever went wrong."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence

from ordain import __version__
from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE, USAGE
from ordain.errors import CallerError, Conflict, NotFound, OrdainError, Refused, Transient

MESSAGE = 2000
"""Most characters of a message on stderr."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        print(f"ordain {__version__}")
        return OK
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without UTF-8 gets escapes, never a traceback
            stream.reconfigure(errors="backslashreplace")
    from ordain.cli.commands import app  # lazy: the version needs no parser

    try:
        code = app(given)
    except OrdainError as error:
        from ordain.contracts.visible import escaped_json  # lazy: see above
        from ordain.rules.header import plain  # lazy: an error needs it, the version does not

        said = {"error": {"code": error.code, "message": error.message}}
        print(
            escaped_json(json.dumps(said))
            if "--json" in given
            else f"ordain: {plain(error.message, MESSAGE)} [{plain(error.code, MESSAGE)}]",
            file=sys.stderr,
        )
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except RecursionError:
        print("ordain: an argument nests too deep [too_deep]", file=sys.stderr)
        return USAGE
    except OSError as error:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        print(f"ordain: {ascii(where)[1:-1]}{error.strerror or error} [io]", file=sys.stderr)
        return UNAVAILABLE
    return code if isinstance(code, int) else OK


def exit_code(error: OrdainError) -> int:
    """Whose fault it is, as an exit code."""
    match error:
        case Transient():
            return UNAVAILABLE
        case Refused():
            return UNAVAILABLE if error.status == 429 else FAILED
        case Conflict():
            return FAILED
        case NotFound() | CallerError():
            return USAGE
        case _:
            return FAILED
