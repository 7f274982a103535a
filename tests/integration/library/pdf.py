"""PDFs made by hand, so that a test says every byte of them."""

from __future__ import annotations

import io
import zlib

from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    TextStringObject,
)


def pdf(*pages: str, stream: bytes | None = None, meaning: dict[str, str] | None = None) -> bytes:
    """A PDF with a line of text on each page; ``stream`` is the content of every page instead,
    already deflated.

    ``meaning`` says for letters what they mean, as the hexadecimal digits of their UTF-16.
    """
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    if meaning is not None:
        pairs = "".join(f"<{ord(letter):02X}> <{said}>\n" for letter, said in meaning.items())
        table = (
            "begincmap\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n"
            f"{len(meaning)} beginbfchar\n{pairs}endbfchar\nendcmap\n"
        )
        objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 4 0 R >>"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(table), table.encode()))
    kids: list[str] = []
    for text in pages:
        drawn = (
            stream
            if stream is not None
            else zlib.compress(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1"))
        )
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(drawn) + drawn + b"\nendstream"
        )
        contents = len(objects)
        objects.append(
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << "
                b"/F1 3 0 "
                b"R >> >> /Contents %d 0 R >>"
            )
            % contents
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    written, places = bytearray(b"%PDF-1.7\n"), list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    at = len(written)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    written += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return bytes(
        written
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n".encode()
    )


def filled_form(content: bytes, **fields: str) -> bytes:
    """The same PDF with a form on its first page, filled in; a value that begins with a slash is
    the state of a box, and a name that begins with `above_` stands in the field above the one on the page.
    """
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    widgets = ArrayObject()
    for name, value in fields.items():
        widget = DictionaryObject({NameObject("/Subtype"): NameObject("/Widget")})
        field = widget
        if value.startswith("/"):
            widget[NameObject("/AS")] = NameObject(value)
        if name.startswith("above_"):
            field = DictionaryObject()
            widget[NameObject("/Parent")] = _kept(writer, field)
        field[NameObject("/T")] = TextStringObject(name)
        field[NameObject("/FT")] = NameObject("/Btn" if value.startswith("/") else "/Tx")
        field[NameObject("/V")] = TextStringObject(value)
        widgets.append(_kept(writer, widget))
    writer.pages[0][NameObject("/Annots")] = widgets
    return _written(writer)


def _kept(writer: PdfWriter, made: DictionaryObject) -> IndirectObject:
    return writer._add_object(made)  # pyright: ignore[reportPrivateUsage] - pypdf has no other way


def with_pictures(content: bytes, *numbers: int) -> bytes:
    """The same PDF with a picture on the pages of these numbers, the first is 1."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    picture = DictionaryObject({NameObject("/Subtype"): NameObject("/Image")})
    for number in numbers:
        shown = writer.pages[number - 1]["/Resources"].get_object()
        assert isinstance(shown, DictionaryObject)
        shown[NameObject("/XObject")] = DictionaryObject({NameObject("/Im1"): picture})
    return _written(writer)


def encrypted(content: bytes, password: str) -> bytes:
    """The same PDF behind a password."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    writer.encrypt(password, algorithm="RC4-128")
    return _written(writer)


def _written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
