"""What files begin with. Pure."""

from __future__ import annotations

import re

_PDF_BEHIND = re.compile(rb"%PDF-\d\.\d[^\r\n]{0,20}[\r\n]{1,2}%[\x80-\xff]{4}")
"""Its first line, and the one that says that bytes follow: no text about PDFs has that."""


def is_pdf(content: bytes) -> bool:
    """Whether a file begins as a PDF does; within its first KiB others may stand before it, where
    what follows is not what a text about PDFs would have there.
    """
    head = content[:1024]
    return head.lstrip().startswith(b"%PDF-") or _PDF_BEHIND.search(head) is not None
