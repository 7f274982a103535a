"""Images that came with a message: referred to by its number and their digests; no run's record
holds their bytes.
"""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.catalog import Catalog

IMAGE_TOKENS = 1600
"""What is reserved of a prompt for one image: about what the largest takes with the providers that
say so.
"""


class ImagesShown(Struct, frozen=True, kw_only=True):
    """Images of entry ``seq`` of the run's own session, by digest."""

    seq: int
    digests: tuple[str, ...]


def seeing(catalog: Catalog) -> frozenset[str]:
    """The model profiles that declare that their model sees."""
    return frozenset(name for name, profile in catalog.data.profiles.items() if profile.vision)
