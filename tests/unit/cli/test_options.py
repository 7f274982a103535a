"""What every command takes stands anywhere on the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args, get_type_hints

import pytest

from ordain.cli import options
from ordain.cli.options import CommonOptions, behind_command

TREE = {("verbs",), ("verbs", "list"), ("chat",)}


def commands(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """As the tree of commands parts a line: the longest beginning that is a command."""
    at = 0
    while tuple(arguments[: at + 1]) in TREE and at < len(arguments):
        at += 1
    return arguments[:at], arguments[at:]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("verbs list --data-dir d", "verbs list --data-dir d"),
        ("--data-dir d verbs list --pack p", "verbs list --data-dir d --pack p"),
        ("verbs --data-dir=d --json list", "verbs list --data-dir=d --json"),
        ("--json verbs --data-dir d list", "verbs list --json --data-dir d"),
        ("--json chat hello --json verbs", "chat --json hello --json verbs"),
        ("chat verbs list", "chat verbs list"),
        ("chat -- --json verbs", "chat -- --json verbs"),
        ("--data-dir d nosuch", "nosuch --data-dir d"),
        ("--data-dir", ""),
        ("--data-dir d", ""),
        ("--port 5 verbs", "--port 5 verbs"),
        ("", ""),
    ],
)
def test_they_go_behind_the_command(typed: str, meant: str) -> None:
    """The command is the same wherever they stand; what is no command stays what it is, and so do a
    message's words.
    """
    assert behind_command(typed.split(), commands) == meant.split()


def test_every_one_of_them_is_known() -> None:
    """One that every command takes and that could only stand behind would be a surprise."""
    hints = get_type_hints(CommonOptions, include_extras=True)
    assert {name for hint in hints.values() for name in get_args(hint)[1].name} == set(
        vars(options)["_COMMON"]
    )
