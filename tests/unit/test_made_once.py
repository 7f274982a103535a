"""What never changes while a process runs is made once in it, whoever opens another ``Ordain`` or
loads the same catalog again.
"""

from __future__ import annotations

import pytest

from ordain.contracts.catalog import Catalog
from ordain.flows.planner.kind import PLANNER
from ordain.flows.shipped import shipped_kinds
from ordain.models.embedding import installed_embedder
from tests.unit.flows.house import shipped


def test_a_catalog_that_is_loaded_again_shares_what_it_is_made_of() -> None:
    """Its data and compiled verbs are those of before, and nobody can write to them; where its
    tables are had is each one's own.
    """
    encoded = shipped().encoded
    first, second = (
        Catalog.from_bytes(encoded, lambda digest, name=name: name) for name in (b"one", b"two")
    )
    assert second.verbs is first.verbs
    assert second.data is first.data
    assert (first.table(), second.table()) == (b"one", b"two")
    with pytest.raises(TypeError):
        second.data.verbs.clear()


def test_the_shipped_kinds_are_one_value() -> None:
    """A shipped kind that is named besides is none more."""
    assert shipped_kinds((PLANNER,)) is shipped_kinds()


def test_the_embedders_files_are_read_once() -> None:
    """Whoever remembers in this process shares the vectors."""
    embedder = installed_embedder()
    assert embedder is not None
    assert installed_embedder() is embedder
