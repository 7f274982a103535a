"""Command lines that people are told to run next, with the data folder that this command line names: copied as they stand they are about the same folder.

Only what is ours is held to be such a line: whoever shows a person's or a model's words shows them as they are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ordain.cli.places import home_of
from ordain.errors import ConfigurationError

OPTION = "--data-dir"
_GROUPS = "approvals|cards|config|docs|grants|local|memory|models|runs|seats|sessions|store|token|verbs|wording|workflows"
_LINE = re.compile(rf"\bordain (?:(?:{_GROUPS}) [a-z]+\b|(?:call|chat|doctor|init|plan|replay|serve)\b)(?! {OPTION})")
"""A command of a folder by its whole name. Those that copy a folder say themselves which one."""
_FOLDER: ContextVar[str] = ContextVar("the data folder that the command line names", default="")


@contextmanager
def named_folder(arguments: Sequence[str]) -> Generator[None]:
    """While a command with these arguments runs, what is told names the folder that they name, unless it is the one that is meant without."""
    token = _FOLDER.set(_named(arguments))
    try:
        yield
    finally:
        _FOLDER.reset(token)


def in_folder(text: str) -> str:
    """A text of ours, each command line in it with the folder."""
    return _LINE.sub(rf"\g<0>{_option().replace(chr(92), chr(92) * 2)}", text) if _FOLDER.get() else text


def _option() -> str:
    return f" {OPTION} {shlex.quote(_FOLDER.get())}"


def _named(arguments: Sequence[str]) -> str:
    ours = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    given = ""
    for at, argument in enumerate(ours):
        name, sign, value = argument.partition("=")
        if name == OPTION:
            given = value if sign else "".join(ours[at + 1 : at + 2])
    return "" if not given or _is_default(given) else given


def _is_default(given: str) -> bool:
    try:
        return home_of(Path(given)).resolve() == home_of(None).resolve()
    except (ConfigurationError, OSError, RuntimeError):  # no folder can be there, or nobody has a home
        return False
