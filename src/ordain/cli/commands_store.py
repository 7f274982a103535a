"""``ordain store``: its arguments. What it does stands in ``cli.storage``."""

from __future__ import annotations

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

store = group("store")


@store.command(name="compact")
def compact(*, options: CommonOptions = DEFAULTS) -> int:
    """Give the room that nothing stands in back to the disk; refused while a server or another
    engine holds the folder.
    """
    from ordain.cli.storage import compact_store  # lazy: storage

    return compact_store(options.data_dir, as_json=options.as_json)
