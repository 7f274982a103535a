"""Command lines that people are told to run next, with the data folder that this command line
names: copied anywhere they are about the same folder.

Only what is ours is held to be such a line: whoever shows a person's or a model's words shows them
as they are.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ordain.cli.places import home_of
from ordain.errors import ConfigurationError

OPTION = "--data-dir"
ADDRESS = "--url"
THERE = " (on the server's machine)"
_GROUPS = (
    "approvals|cards|config|docs|grants|local|memory|models"
    "|runs|seats|sessions|store|token|verbs|wording|workflows"
)
_LINE = re.compile(
    rf"\bordain (?:(?:{_GROUPS}) [a-z]+\b|(?:call|chat|doctor|init|plan|replay|serve)\b)(?! "
    rf"{OPTION})"
)
"""A command of a folder by its whole name. Those that copy a folder say themselves which one."""
_FOLDER: ContextVar[str] = ContextVar(
    "the data folder that the command line names, from the root", default=""
)
_ELSEWHERE: ContextVar[bool] = ContextVar(
    "whether the command line names a server elsewhere", default=False
)


@contextmanager
def named_folder(arguments: Sequence[str]) -> Generator[None]:
    """While a command with these arguments runs, what is told names the folder that they name,
    unless it is the one that is meant without.
    """
    folder, elsewhere = (
        _FOLDER.set(_folder(_last(arguments, OPTION))),
        _ELSEWHERE.set(bool(_last(arguments, ADDRESS))),
    )
    try:
        yield
    finally:
        _FOLDER.reset(folder)
        _ELSEWHERE.reset(elsewhere)


def in_folder(text: str) -> str:
    """A text of ours, each command line in it with the folder."""
    if not (folder := _FOLDER.get()):
        return text
    from ordain.contracts.shell_words import shell_word  # lazy: the version and the help need none

    return _LINE.sub(lambda found: f"{found[0]} {OPTION} {shell_word(folder)}", text)


def where_it_runs(text: str) -> str:
    """The same of a text of whoever answered: where that is a server elsewhere, a command line in
    it is for that machine.
    """
    return f"{text}{THERE}" if _ELSEWHERE.get() and _LINE.search(text) else in_folder(text)


def _last(arguments: Sequence[str], option: str) -> str:
    """What the option is given, the last time that it stands there."""
    ours = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    given = ""
    for at, argument in enumerate(ours):
        name, sign, value = argument.partition("=")
        if name == option:
            given = value if sign else "".join(ours[at + 1 : at + 2])
    return given


def _folder(given: str) -> str:
    """The folder from the root, links in it as they are; "" where none is named, or the one that is
    meant without.
    """
    if not given:
        return ""
    try:
        home = home_of(Path(given))
        return "" if home.resolve() == home_of(None).resolve() else str(home.absolute())
    except (ConfigurationError, OSError, RuntimeError, ValueError):
        # no folder can be there, or nobody has a home
        return str(Path.cwd() / given)
