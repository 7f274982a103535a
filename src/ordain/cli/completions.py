"""What Tab makes of a command that is being typed: its name, then what may stand behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ordain.cli.slash import ABOUT, Slash, named_slash

FILES_OFFERED = 200
Names = Callable[[Slash], Awaitable[Sequence[str]]]
"""What may stand behind a command."""


class SlashCompleter(Completer):
    """Commands, and what ``names`` has for each; behind ``/attach`` the files there are. A message
    is completed by nobody.
    """

    def __init__(self, names: Names) -> None:
        """Asked when Tab is pressed."""
        self._names = names

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """See ``Completer``; what may stand behind a command is asked for, so nothing is known at
        once.
        """
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """See ``Completer``."""
        line = document.text_before_cursor
        if not line.startswith("/") or line.startswith("//") or "\n" in line:
            return
        name, *words = line.split(" ")
        if not words:
            for slash in Slash:
                if slash.startswith(name):
                    yield Completion(slash, start_position=-len(name), display_meta=ABOUT[slash][1])
        elif (slash := named_slash(name)) is Slash.ATTACH:
            typed = line[len(name) :].lstrip()
            for found in await asyncio.to_thread(file_names, typed):
                yield Completion(found, start_position=-len(typed))
        elif slash is not None:
            typed, given = words[-1], set(words[:-1])
            for option in await self._names(slash):
                if (
                    option not in given
                    and option.isprintable()
                    and (option.startswith(typed) or (len(typed) > 1 and option.endswith(typed)))
                ):
                    yield Completion(option, start_position=-len(typed))


def file_names(typed: str) -> Sequence[str]:
    """What a path may go on as, folders with a slash behind them; of hidden ones those alone whose
    point is typed. Nothing where the folder cannot be read. In a message words stand one space
    apart, and so no name is offered that has two.
    """
    folder, slash, begun = typed.rpartition("/")
    try:
        there = sorted(
            Path(folder + slash or ".").expanduser().iterdir(), key=lambda path: path.name
        )
        fitting = (
            f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
            for path in there
            if path.name.startswith(begun)
            and (begun.startswith(".") or not path.name.startswith("."))
            and path.name.isprintable()
            and path.name == " ".join(path.name.split())
        )
        return tuple(islice(fitting, FILES_OFFERED))
    except (OSError, RuntimeError):  # no such folder, or nobody's home
        return ()
