"""Whole images of the formats that models are shown, as small as they come."""

from __future__ import annotations

import zlib
from struct import pack


def _chunk(name: bytes, body: bytes) -> bytes:
    return pack(">I", len(body)) + name + body + pack(">I", zlib.crc32(name + body))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\x80"))
    + _chunk(b"IEND", b"")
)
GIF = (
    b"GIF89a"
    + pack("<HHBBB", 1, 1, 0x80, 0, 0)
    + bytes(6)
    + b","
    + pack("<HHHHB", 0, 0, 1, 1, 0)
    + b"\x02\x02\x44\x01\x00;"
)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x7f"
    b"\xff\xd9"
)
_VP8L = b"\x2f\x00\x00\x00\x00\x07\x50\x11"
WEBP = b"RIFF" + pack("<I", 12 + len(_VP8L)) + b"WEBPVP8L" + pack("<I", len(_VP8L)) + _VP8L
