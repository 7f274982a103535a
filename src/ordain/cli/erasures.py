"""What is told beside a command that destroys words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordain.cli.hints import where_it_runs
from ordain.cli.output import print_json, show, warn


def tell_removed(done: Mapping[str, Any], *, as_json: bool) -> None:
    """What became of a note or a document."""
    if as_json:
        print_json(done)
    else:
        show(f"{done['outcome']}: {done['id']}")
        tell_copies()


def tell_copies() -> None:
    """That the database's file may keep copies, and what clears it; beside the result."""
    warn(
        where_it_runs(
            "no command finds it any more; unused parts of the database's pages may keep copies of "
            "it until the server is stopped and this is run: ordain store compact"
        )
    )
