"""A stored run replayed as an archive does it: with the transcript of its session, read as far as
its prompts refer to it.
"""

from __future__ import annotations

from ordain.ports.store import StoredRun
from ordain.runtime.replay import Replayed, replay
from ordain.runtime.services import Services
from tests.at_once import at_once


def replayed(services: Services, stored: StoredRun) -> Replayed:
    """The run by its pinned catalog."""
    catalog, said = (
        at_once(services.catalogs.pinned(stored.catalog)),
        services.transcript(stored.workspace),
    )
    return at_once(said.having(lambda: replay(stored, catalog, services.kinds, said)))
