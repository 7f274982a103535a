"""What a file is by its own first bytes, and whether that is what it is said to be. Pure."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple

from ordain.contracts.file_signs import is_pdf


class FileKind(StrEnum):
    """A document, whose text is read; an image, which models may see; or anything else, which
    nobody reads.
    """

    DOCUMENT = "document"
    IMAGE = "image"
    OTHER = "other"


class SniffedFile(NamedTuple):
    """A file as its bytes tell it: its kind, its media type ("" of text, which has no first bytes
    of its own), and what it is in words.
    """

    kind: FileKind
    media_type: str
    words: str


PDF = "application/pdf"
IMAGES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
"""The images that models are shown, each with what such a file begins with."""
_WEBP = b"WEBP"
_IN_RIFF = {b"WAVE": "sound", b"AVI ": "a moving picture"}
_ENDS = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b"\x00;"}
"""What the last part of a whole image holds; bytes that nobody needs may come after it."""
_OTHERS = {
    "a ZIP archive or an Office document": (b"PK\x03\x04", b"PK\x05\x06"),
    "an old Office document": (b"\xd0\xcf\x11\xe0",),
    "a program": (b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
    "a compressed file": (
        b"\x1f\x8b",
        b"BZh",
        b"\xfd7zXZ",
        b"7z\xbc\xaf",
        b"Rar!",
        b"\x28\xb5\x2f\xfd",
    ),
    "sound": (b"ID3", b"fLaC", b"OggS", b"\xff\xfb", b"\xff\xf3"),
    "a moving picture": (b"\x1a\x45\xdf\xa3",),
    "an image of a format that models are not shown": (b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00"),
    "a database": (b"SQLite format 3\x00",),
    "rich text": (b"{\\rtf",),
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""UTF-16 says so, and is full of NULs."""
_MARKUP = frozenset({"application/xhtml+xml"})
_UNDECIDED = frozenset({"application/octet-stream", "binary/octet-stream"})
_ENDINGS = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".pdf": PDF,
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    **{f".{one}": f"audio/{one}" for one in ("aac", "flac", "m4a", "mp3", "oga", "ogg", "opus")},
    ".wav": "audio/wav",
    **{f".{one}": f"video/{one}" for one in ("avi", "m4v", "mkv", "mov", "mp4", "mpeg", "webm")},
    **{f".{one}": f"image/{one}" for one in ("avif", "bmp", "heic", "ico", "tif", "tiff")},
}
"""What a file's name says that it is. Of pictures, sound and moving pictures that nobody reads it
is enough that text is none; pictures that are text (SVG) are read as that.
"""
NAMES = {
    "text/markdown": "md",
    "text/x-markdown": "md",
    "text/html": "html",
    "application/xhtml+xml": "html",
    PDF: "pdf",
}
"""The ending by which a document of a media type is read as what it is, where its name has none."""
_PEEKED = 4096
LEAST_IMAGE = 24
"""Bytes: no image is smaller."""


def sniffed(content: bytes, *, whole: bool = True) -> SniffedFile:
    """What a file is by its own bytes, whatever it is called; text where nothing else is known of
    it. Not ``whole``: these are its first bytes, which tell nothing of where it ends.
    """
    for media_type, begins in IMAGES.items():
        if content.startswith(begins) and (media_type != "image/webp" or content[8:12] == _WEBP):
            if whole and not _is_whole(content, media_type):
                return SniffedFile(FileKind.OTHER, "", f"an image ({media_type}) that is cut off")
            return SniffedFile(FileKind.IMAGE, media_type, f"an image ({media_type})")
    if is_pdf(content):
        return SniffedFile(FileKind.DOCUMENT, PDF, "a PDF")
    for words, begins in _OTHERS.items():
        if content.startswith(begins):
            return SniffedFile(FileKind.OTHER, "", words)
    if content.startswith(b"RIFF") and content[8:12] in _IN_RIFF:
        return SniffedFile(FileKind.OTHER, "", _IN_RIFF[content[8:12]])
    if content[4:8] == b"ftyp":
        return SniffedFile(FileKind.OTHER, "", "a moving picture")
    if b"\x00" in content[:_PEEKED] and not content.startswith(_WIDE):
        return SniffedFile(FileKind.OTHER, "", "a file of bytes that are no text")
    return SniffedFile(FileKind.DOCUMENT, "", "text")


def _is_whole(content: bytes, media_type: str) -> bool:
    """Whether an image goes to its end, as far as that can be told without reading it."""
    if len(content) < LEAST_IMAGE:
        return False
    if media_type == "image/webp":  # it says how long it is
        return int.from_bytes(content[4:8], "little") + 8 <= len(content)
    return _ENDS[media_type] in content


def said_of(name: str, media_type: str) -> tuple[str, ...]:
    """What a file is said to be: by its media type, and by the ending of its name; nothing where
    neither decides.
    """
    said = media_type.partition(";")[0].strip().lower()
    named = _ENDINGS.get(PurePath(name).suffix.lower(), "")
    return tuple(one for one in (said, named) if one and one not in _UNDECIDED)


def agrees(said: str, found: SniffedFile) -> bool:
    """Whether a file can be what it is said to be. Of what is said to be something that nobody
    reads its bytes decide.
    """
    said = "image/jpeg" if said == "image/jpg" else said
    if said == PDF or said in IMAGES:
        return said == found.media_type
    if said.startswith("text/") or said in _MARKUP:
        return found.kind is FileKind.DOCUMENT and not found.media_type
    return (
        not said.startswith(("image/", "audio/", "video/")) or found.kind is not FileKind.DOCUMENT
    )
