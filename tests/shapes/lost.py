"""A build that opens runs of a kind and cannot go on with them: what a run meets whose build was
changed or taken back under it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.runtime.services import Services


@dataclass(frozen=True)
class Losing(Kinds):
    """Kinds that can be opened, of which those of the name ``lost`` can not be driven."""

    lost: str = ""

    def get(self, name: str, version: int) -> Kind[Any, Any] | None:
        """None for every version of the lost kind."""
        return None if name == self.lost else super().get(name, version)


@contextmanager
def losing(services: Services, name: str) -> Iterator[None]:
    """As long as this lasts no run of this kind goes on."""
    whole = services.kinds
    services.kinds = Losing(whole.all, lost=name)
    try:
        yield
    finally:
        services.kinds = whole
