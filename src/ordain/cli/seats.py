"""``ordain seats``: the seats of a council as they are written, and findings of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ordain.cli.exit_codes import OK
from ordain.cli.output import print_json, print_table
from ordain.cli.places import home_of
from ordain.cli.verb_lint import print_findings
from ordain.contracts.council import Seat
from ordain.verbs.council.folder import SEATS
from ordain.verbs.template_lint import WARNING
from ordain.verbs.yaml_lint import ToSay, lint_named

COLUMNS = ("name", "universe", "temperature", "whose", "what it is for")


def print_seats(data_dir: Path | None, *, as_json: bool) -> int:
    """Every seat, by name.

    Raises:
        ConfigurationError: a file of the folder is none.
    """
    found = SEATS.of(home_of(data_dir) / SEATS.name)
    seats = [
        {**seat.model_dump(mode="json"), "shipped": name in SEATS.shipped()}
        for name, seat in sorted(found.items())
    ]
    if as_json:
        print_json({"seats": seats})
        return OK
    whose = {True: "shipped", False: "own"}
    print_table(
        COLUMNS,
        [
            (
                one["name"],
                one["universe"],
                str(one["temperature"]),
                whose[one["shipped"]],
                one["role_description"],
            )
            for one in seats
        ],
    )
    return OK


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such seat or file.
    """
    linted = lint_named(
        SEATS, home_of(data_dir) / SEATS.name, what, _lint_seat, unknown="unknown_seat"
    )
    return print_findings(linted, strict=strict, as_json=as_json)


def _lint_seat(seat: Seat) -> Iterator[ToSay]:
    """What a seat leaves to be said that can be loaded."""
    if not seat.role_description.strip():
        yield (
            WARNING,
            ("role_description",),
            "it is asked as nobody in particular",
            "say as whom it is asked, and what it looks at",
        )
