"""``ordain store``: its arguments. What it does stands in ``cli.storage``."""

from __future__ import annotations

from cyclopts import App

from ordain.cli.options import DEFAULTS, CommonOptions

store = App(name="store", help="The data folder's own database.")


@store.command(name="compact")
def compact(*, options: CommonOptions = DEFAULTS) -> int:
    """Give the room that nothing stands in back to the disk; refused while a server or another engine holds the folder."""
    from ordain.cli.storage import compact_store  # lazy: storage

    return compact_store(options.data_dir, as_json=options.as_json)
