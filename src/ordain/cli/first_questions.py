"""What ``ordain init`` asks on a terminal. A key is never shown, and never stands in a command
line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from getpass import getpass
from pathlib import Path

from ordain.cli.model_profiles import print_verdict
from ordain.cli.output import cell_text, show
from ordain.cli.questions import ask, left, refusal_of
from ordain.cli.typed_keys import model_refusal
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.nearest import did_you_mean
from ordain.models.exchange import checked_url
from ordain.models.trial import Verdict
from ordain.settings_file import SECRET_MAX, SECRET_MIN
from ordain.settings_profiles import env_value

TALK = "talk to it now?"
_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})
_SHOWN = 20


def sure(file: Path, there: Sequence[str]) -> bool:
    """Whether what is set up is to be replaced; nobody is asked where there is nothing."""
    if not there:
        return False
    show(f"{file} has profiles already: {', '.join(there)[:300]}")
    return _yes("put what you choose now behind every lane instead?", "no")


def kept(question: str) -> bool:
    """A yes, which Enter is too, to what comes after all is done: whoever has gone says no."""
    return _yes(question, "yes", gone="no")


def _yes(question: str, usual: str, gone: str | None = None) -> bool:
    """A yes or a no, asked for until it is one: a first message typed here is neither."""

    def wrong(said: str) -> str:
        return "" if said.lower() in _YES | _NO else "that is neither yes nor no"

    return ask(f"{question} (yes or no)", usual, wrong, gone=gone).lower() in _YES


def asked_choice(offers: Mapping[str, str], usual: str) -> str:
    """Which of these, by number or name; asked until it is one."""
    names = list(offers)
    show("What is to answer?")
    for number, name in enumerate(names, 1):
        show(f"  {number}  {name}: {cell_text(offers[name])}")

    def chosen(said: str) -> str:
        if said.isascii() and said.isdigit() and 1 <= int(said[:4]) <= len(names):
            return names[int(said[:4]) - 1]
        return said.lower()

    def wrong(said: str) -> str:
        unknown = f"that is none of 1 to {len(names)}{did_you_mean(said, names)}"
        return "" if chosen(said) in offers else unknown

    return chosen(ask("number or name", usual, wrong))


def asked_model(known: Sequence[str], check: Callable[[str], object]) -> str:
    """Which model; the first of those that the endpoint has, where it said. Asked until one is
    named that the endpoint has, as ``check`` says, as all here: only whoever leaves ends it.
    """
    if len(known) > 1:
        shown = ", ".join(map(cell_text, known[:_SHOWN])) + (
            f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        )
        show(f"models there: {shown}")
    refusal = refusal_of(check, "unknown_model")
    return ask(
        "model", known[0] if known else "", lambda said: model_refusal(said) or refusal(said)
    )


def asked_url(usual: str) -> str:
    """Where the endpoint is; asked until it is an address, before anything else is."""
    refusal = refusal_of(checked_url)
    return ask(
        "base URL, like http://127.0.0.1:8000/v1",
        usual,
        lambda said: refusal(said) if said else "a base URL is needed",
    )


def asked_key(use: str, variable: str | None) -> tuple[str | None, str]:
    """The variable that holds the key, or the key itself as it was typed; the variable's, where it
    is set.
    """
    if variable is not None and env_value(os.environ, variable):
        show(f"key: the one in {variable}")
        return variable, ""
    later = f"Enter: it will be in {variable}" if variable is not None else "Enter: it wants none"
    try:
        typed = _typed_key(f"key of {use} (not shown; goes into a file of yours alone. {later}): ")
    except EOFError:
        raise left() from None
    return (None, typed) if typed else (variable, "")


def another_key(use: str, verdict: Verdict) -> str:
    """A key in the place of one that was refused; "" where it was not, and where what is set up is
    kept as it is.
    """
    if verdict.code != ModelErrorCode.AUTHENTICATION:
        return ""
    print_verdict(verdict)
    try:
        return _typed_key(f"another key of {use} (not shown; Enter: keep what is set up): ")
    except EOFError:
        return ""


def _typed_key(question: str) -> str:
    """A key as it was typed, "" where none was; asked until it may be one. Raises EOFError: whoever
    is asked has gone.
    """
    while typed := getpass(question).strip():
        if (
            SECRET_MIN <= len(typed) <= SECRET_MAX
            and typed.isascii()
            and typed.isprintable()
            and " " not in typed
        ):
            break
        show("that is no key: one word of printable ASCII characters")
    return typed
