"""Questions on a terminal: each is put again until nothing is wrong with its answer."""

from __future__ import annotations

from collections.abc import Callable

from ordain.cli.output import show
from ordain.errors import ConfigurationError


def ask(
    what: str, usual: str, wrong: Callable[[str], str] | None = None, *, gone: str | None = None
) -> str:
    """One question; the usual answer where none is given.

    ``wrong`` says what is wrong with an answer ("": nothing), and the question is put again.
    ``gone`` is the answer of whoever has gone, where that changes nothing any more.

    Raises:
        ConfigurationError: whoever is asked has gone (``missing_option``).
    """
    while True:
        try:
            said = input(f"{what}{f' [{usual}]' if usual else ''}: ").strip() or usual
        except EOFError:
            if gone is None:
                raise left() from None
            show("")
            return gone
        problem = "" if wrong is None else wrong(said)
        if not problem:
            return said
        show(problem)


def left() -> ConfigurationError:
    """Whoever is asked has gone before anything was done; what is told of it begins a line."""
    show("")
    return ConfigurationError("nothing was changed", code="missing_option")


def refusal_of(check: Callable[[str], object], code: str | None = None) -> Callable[[str], str]:
    """A check that raises, as what is wrong with an answer; where a code is named, only what is
    refused by it, since another answer would mend nothing else.
    """

    def wrong(said: str) -> str:
        try:
            check(said)
        except ConfigurationError as error:
            if code not in (None, error.code):
                raise
            return error.message
        return ""

    return wrong
