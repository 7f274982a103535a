"""What a file is by its bytes, and when it lies about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.runtime.file_kinds import IMAGES, PDF, FileKind, agrees, said_of, sniffed
from tests.shapes.pictures import GIF, JPEG, PNG, WEBP

BEGINS = {
    PNG: FileKind.IMAGE,
    JPEG: FileKind.IMAGE,
    GIF: FileKind.IMAGE,
    WEBP: FileKind.IMAGE,
    PNG + b"more": FileKind.IMAGE,
    b"RIFF\x10\x00\x00\x00WAVEfmt ": FileKind.OTHER,
    b"%PDF-1.7\n": FileKind.DOCUMENT,
    b"\n\n  %PDF-1.7\n": FileKind.DOCUMENT,
    b"PK\x03\x04word/": FileKind.OTHER,
    b"MZ\x90\x00": FileKind.OTHER,
    b"\x7fELF\x02": FileKind.OTHER,
    b"\x00\x00\x00\x18ftypmp42": FileKind.OTHER,
    b"text\x00and more": FileKind.OTHER,
    "Grüße\n".encode(): FileKind.DOCUMENT,
    "Grüße\n".encode("utf-16"): FileKind.DOCUMENT,
    b"": FileKind.DOCUMENT,
}


@pytest.mark.parametrize("content", BEGINS)
def test_a_file_is_what_its_bytes_are(content: bytes) -> None:
    """Whatever it is called."""
    assert sniffed(content).kind is BEGINS[content]


@pytest.mark.parametrize("image", [PNG, JPEG, GIF, WEBP])
def test_an_image_that_is_cut_off_is_none(image: bytes) -> None:
    """Wherever it is cut; no model is shown it, and it is not what its name says. First bytes alone
    are not said to be cut off.
    """
    for length in range(12, len(image)):
        found = sniffed(image[:length])
        assert found.kind is FileKind.OTHER
        assert "cut off" in found.words
        assert not any(agrees(said, found) for said in IMAGES)
        if length > 15:
            assert sniffed(image[:length], whole=False).kind is FileKind.IMAGE


@pytest.mark.parametrize(
    ("name", "media_type", "content", "fits"),
    [
        ("a.txt", "text/plain", b"words", True),
        ("a.txt", "", PNG, False),
        ("a.md", "text/markdown; charset=utf-8", b"# Words", True),
        ("a.png", "image/png", PNG, True),
        ("a.png", "image/png", b"words", False),
        ("a.jpg", "image/jpeg", PNG, False),
        ("a.jpg", "image/jpg", JPEG, True),
        ("a.pdf", "application/pdf", b"%PDF-1.4", True),
        ("a.pdf", "", b"words", False),
        ("a.txt", "application/octet-stream", b"%PDF-1.4", False),
        ("a", "text/html", b"%PDF-1.4", False),
        ("a", "application/octet-stream", b"%PDF-1.4", True),
        ("a.csv", "text/csv", b"a,b", True),
        ("a.csv", "text/csv", b"PK\x03\x04", False),
        ("a.json", "application/json", b"{}", True),
        ("a.heic", "image/heic", b"words", False),
        ("a.mp3", "audio/mpeg", b"words", False),
        ("a.mp3", "", b"words", False),
        ("a.mp3", "", b"ID3\x03", True),
        ("a.wav", "", b"RIFFxxxxWAVEfmt ", True),
        ("a.txt", "", b"RIFFxxxxWAVEfmt ", False),
        ("a.txt", "", b"RIFF raff is a word", True),
        ("a.mp4", "", b"words", False),
        ("a.heic", "", b"words", False),
        ("a.svg", "", b"<svg/>", True),
    ],
)
def test_a_file_that_lies_is_told(name: str, media_type: str, content: bytes, fits: bool) -> None:
    """Both what its media type and what its name says has to be so."""
    assert all(agrees(said, sniffed(content)) for said in said_of(name, media_type)) is fits


@given(st.binary(max_size=40), st.sampled_from([*IMAGES, PDF]))
def test_nothing_passes_for_an_image_or_a_pdf_by_its_name(content: bytes, said: str) -> None:
    """Only what begins like one is one."""
    assert agrees(said, sniffed(content)) == (sniffed(content).media_type == said)
