"""What files begin with."""

from __future__ import annotations

import pytest

from ordain.contracts.file_signs import is_pdf

BEGIN = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (BEGIN, True),
        (b"\n \n%PDF-1.4 nothing else", True),
        (b"HTTP/1.1 200 OK\r\n\r\n" + BEGIN.replace(b"\n", b"\r\n"), True),
        (b"x" * 1024 + BEGIN, False),
        ("A PDF begins:\n%PDF-1.7\n% \u00e2\u00e3\n".encode(), False),
        (b"", False),
    ],
)
def test_a_pdf_is_told_by_its_beginning(content: bytes, told: bool) -> None:
    """With something before it, where no text would go on so."""
    assert is_pdf(content) is told
