"""Packs (C3): verbs by the name under which a message, or an agent chain, may ask for them
together. Pure lookups in what a catalog declares.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ENTRY_OF
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
    return [
        verb
        for verb in sorted(frozenset[str]().union(*map(catalog.named_by, patterns)))
        if not catalog.verbs[verb].spec.entry
        and verb not in ENTRY_OF.values()
        and catalog.inactive_reason(verb, policy.verbs) is None
    ]
