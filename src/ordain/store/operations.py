"""Operations inside the write transaction, by name: leases, tokens, catalogs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.ports.store import Outcome
from ordain.store.access_operations import ACCESS_OPERATIONS
from ordain.store.catalog_units import drop_catalog, keep_catalog
from ordain.store.lease_operations import LEASE_OPERATIONS

OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    **ACCESS_OPERATIONS,
    **LEASE_OPERATIONS,
    "keep_catalog": keep_catalog,
    "drop_catalog": drop_catalog,
}
