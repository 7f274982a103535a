"""``ordain seats``: who speaks in a council. What a command does is imported when it runs."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

seats = group("seats")


@seats.command(name="list")
def list_seats(*, options: CommonOptions = DEFAULTS) -> int:
    """Every seat, shipped and of the data folder's council/, as it is written now."""
    from ordain.cli.seats import print_seats  # lazy: it reads files

    return print_seats(options.data_dir, as_json=options.as_json)


@seats.command(name="lint")
def lint_seats(
    *what: Annotated[
        str, Parameter(help="Names of seats, or files; without any, every file in council/.")
    ],
    strict: Annotated[bool, Parameter(negative=(), help="A warning is a failure too.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every problem of seats as they are written, with file, line and what to do. Exit code 1:
    there is an error.
    """
    from ordain.cli.seats import print_lint  # lazy: it reads files

    return print_lint(options.data_dir, what, strict=strict, as_json=options.as_json)
