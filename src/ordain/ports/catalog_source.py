"""CatalogSource: where the catalog comes from, and whether what it is made of has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from ordain.contracts.catalog import Catalog


class CatalogProblem(Struct, frozen=True, kw_only=True):
    """Something that an operator wrote and that cannot be used; ``file`` and ``line`` where it
    stands in one ("", 0: nowhere).

    ``warning``: it is in use, and not as it was written.
    """

    code: str
    message: str
    file: str = ""
    line: int = 0
    warning: bool = False


class Built(Struct, frozen=True, kw_only=True):
    """A catalog, the code that belongs to it, and what was left out of it. ``install`` makes the
    executor use that code; it never fails.
    """

    catalog: Catalog
    install: Callable[[], None]
    problems: tuple[CatalogProblem, ...] = ()


class CatalogSource(Protocol):
    """What an operator has written, as files. Both methods read and may be called in any thread,
    one at a time.
    """

    def fingerprint(self) -> object:
        """Equal as long as nothing was written; cheap, and never an error."""
        ...

    def build(self) -> Built:
        """A new catalog of everything as it stands now; nothing that is in use is touched.

        Raises:
            ConfigurationError: something cannot be used; the message names file and line.
        """
        ...
