"""Packs (C3): verbs by the name under which a message, or an agent chain, may ask for them
together. Pure lookups in what a catalog declares.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy


def pack_verbs(packs: Sequence[str], catalog: Catalog, policy: Policy) -> tuple[str, ...]:
    """The verbs of these packs together that may run here; of a name that policy does not know
    there are none.
    """
    known = policy.supervisor.packs
    return tuple(
        verbs_named([pattern for name in packs for pattern in known.get(name, ())], catalog, policy)
    )


def verbs_named(patterns: Sequence[str], catalog: Catalog, policy: Policy) -> Sequence[str]:
    """The verbs that the patterns name, as far as they are active here and no mode's entry."""
    usable = (catalog.usable(pattern, policy.verbs) for pattern in patterns)
    return sorted(frozenset[str]().union(*usable))
