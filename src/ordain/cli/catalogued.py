"""What a house has: as the server that holds the folder says, else as the folder says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ordain.cli.connection import connect, running_server
from ordain.contracts.catalog import Catalog


def served_or(
    home: Path,
    address: str,
    here: Callable[[], Any],
    params: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """What the server that holds the folder answers at an address, else what is made ``here``."""
    return asyncio.run(_served_or(home, address, here, params))


async def _served_or(
    home: Path, address: str, here: Callable[[], Any], params: Mapping[str, str]
) -> Any:
    if await running_server(home) is None:
        return here()
    async with connect(home, drive=False) as connection:
        return await connection.ask("GET", address, params=dict(params))


def folder_catalog(home: Path) -> Catalog:
    """The catalog of a folder as it is written now.

    Raises:
        ConfigurationError: something in it cannot be used.
    """
    from ordain.app import shipped_kinds  # lazy: beside a server none of this is needed
    from ordain.catalogs import build_catalog, build_registry  # lazy: see above
    from ordain.settings import load_settings  # lazy: see above

    settings = load_settings(home=home)
    return build_catalog(settings, build_registry(settings), shipped_kinds())
