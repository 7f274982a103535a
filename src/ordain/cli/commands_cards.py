"""``ordain cards``: the agents that work may be handed to. What a command does is imported when it
runs.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

cards = group("cards")


@cards.command(name="list")
def list_cards(*, options: CommonOptions = DEFAULTS) -> int:
    """Every agent: its domain, who takes its place, its verbs, and what of them is not here."""
    from ordain.cli.cards import print_cards  # lazy: verbs and catalog

    return print_cards(options.data_dir, as_json=options.as_json)


@cards.command(name="show")
def show_card(name: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """One agent."""
    from ordain.cli.cards import print_card  # lazy: verbs and catalog

    return print_card(options.data_dir, name, as_json=options.as_json)


@cards.command(name="lint")
def lint_cards(
    *what: Annotated[
        str, Parameter(help="Names of agents, or files; without any, every file in cards/.")
    ],
    strict: Annotated[bool, Parameter(negative=(), help="A warning is a failure too.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every problem of cards as they are written, with file, line and what to do. Exit code 1:
    there is an error.
    """
    from ordain.cli.cards import print_lint  # lazy: verbs and catalog

    return print_lint(options.data_dir, what, strict=strict, as_json=options.as_json)


@cards.command(name="new")
def new_card(
    name: str,
    /,
    *,
    domain: Annotated[
        str | None, Parameter(help="What it owns; without it the name up to _agent.")
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Write a complete card as a beginning, in the data folder's cards/."""
    from ordain.cli.new_card import write_card  # lazy: it writes files

    return write_card(options.data_dir, name, domain, as_json=options.as_json)
