"""``ordain store compact``: the database of a folder that nobody serves, made as small as what
stands in it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ordain.cli.exit_codes import OK
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.errors import NotFound
from ordain.store.compaction import Need, compact
from ordain.store.folder import FILE

MB = 1_000_000


def compact_store(data_dir: Path | None, *, as_json: bool) -> int:
    """Say what it takes, do it, say how far it is.

    Raises:
        NotFound: there is no data.
        StorageUnavailable: an engine serves the folder (``lock_held``), or there is no room
            (``no_room``), or somebody reads it (``being_read``).
    """
    home = home_of(data_dir)
    if not (home / FILE).is_file():
        raise NotFound(f"there is no data in {home}", code="no_data")

    def told(need: Need) -> None:
        if not as_json:
            show(
                f"{home / FILE}: {need.size / MB:.1f} MB, of which {need.used / MB:.1f} MB hold "
                "something"
            )
            show(
                f"compacting takes {need.room / MB:.1f} MB more until it is done; "
                f"{need.free / MB:.1f} MB are free"
            )

    def progress(done: int, every: int) -> None:
        if not as_json and every:
            show(f"{100 * done // every} %")

    made = compact(home, told, progress)
    if as_json:
        print_json({"home": str(home), **asdict(made)})
    else:
        show(
            f"compacted: {made.before / MB:.1f} MB before, {made.after / MB:.1f} MB now, without "
            "copies of what was erased; from now on room is given back while it serves"
        )
    return OK
