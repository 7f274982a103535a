"""Documents: the text of a file that a user adds."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from ordain.ports.library import Section

DOCUMENT_BYTES = 20 * 1024 * 1024
"""Largest document."""
NAME_CHARS, SOURCE_CHARS = 200, 1000
"""Longest name, and longest place that a document comes from."""


class Document(Struct, frozen=True, kw_only=True):
    """A document's text; ``pages`` is 0 where it has none."""

    media_type: str
    title: str
    pages: int
    sections: tuple[Section, ...]


class Documents(Protocol):
    """Reads text, Markdown, HTML and PDF in bounded memory and time. What it reads is hostile."""

    async def read(self, name: str, content: bytes) -> Document:
        """A document's text; its format is told by its first bytes and the ending of its name.

        Raises:
            InvalidRequest: it is too large, of no known format, encrypted, broken, or without text;
                the code says which.
            Transient: no process can be started to read it.
        """
        ...
