"""How a catalog pins its wording: catalogs of before stay as they were, and one identity is
compiled once.
"""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import FIRST_WORDING, CatalogData
from ordain.contracts.policy import Policy
from ordain.errors import JournalCorrupt
from ordain.wording.table import Table
from ordain.wording.wording import first_wording, wording_of

POLICY = Policy(version=1)
TABLE = Table.of([("stop", ["halt"])])


def test_a_catalog_without_wording_is_as_it_was() -> None:
    """It has no such key in its bytes, means the first wording, and needs nothing beside itself."""
    catalog = Catalog(CatalogData(policy=POLICY))
    assert b'"wording"' not in catalog.encoded
    assert Catalog.from_bytes(catalog.encoded).digest == catalog.digest
    assert catalog.wording_id == FIRST_WORDING
    assert wording_of(catalog) is first_wording()
    assert [digest for digest, _ in catalog.stored] == [catalog.digest]


def test_a_catalog_with_wording_brings_its_table() -> None:
    """The table is stored under its digest, before the catalog that names it; loaded again the
    catalog reads with it.
    """
    catalog = Catalog(
        CatalogData(policy=POLICY, wording=f"1:{TABLE.digest}"), {TABLE.digest: TABLE.encoded}.get
    )
    assert catalog.stored == ((TABLE.digest, TABLE.encoded), (catalog.digest, catalog.encoded))
    again = Catalog.from_bytes(catalog.encoded, dict(catalog.stored).get)
    assert wording_of(again).cues("halt").stop == 2
    assert wording_of(again) is wording_of(catalog)
    other = catalog.changed(policy=POLICY.model_copy(update={"system_state": "x"}))
    assert (other.wording_id, wording_of(other)) == (catalog.wording_id, wording_of(catalog))


def test_what_this_build_cannot_read_is_no_wording() -> None:
    """A later engine's catalog, and one whose table is nowhere: typed, not read with something
    else.
    """
    later = Catalog(
        CatalogData(policy=POLICY, wording=f"10:{TABLE.digest}"), {TABLE.digest: TABLE.encoded}.get
    )
    with pytest.raises(JournalCorrupt, match="no wording engine 10"):
        wording_of(later)
    lost = Catalog(CatalogData(policy=POLICY, wording=f"1:{'0' * 64}"), {}.get)
    for use in (lambda: wording_of(lost), lambda: lost.stored):
        with pytest.raises(JournalCorrupt, match="not stored"):
            use()


@pytest.mark.parametrize("wording", ["1", "x:y", f"0:{'0' * 64}", f"1:{'G' * 64}", f"1:{'0' * 63}"])
def test_an_identity_is_engine_and_digest(wording: str) -> None:
    """Anything else is refused when the catalog is read."""
    with pytest.raises(ValidationError):
        CatalogData(policy=POLICY, wording=wording)
