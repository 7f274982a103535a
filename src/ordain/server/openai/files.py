"""Files among the parts of a client's message: with their bytes they go with the message as any
other's attachments do. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ordain.contracts.attachments import FILE_BYTES
from ordain.contracts.conversation import DATA_CHARS, Attachment
from ordain.contracts.openai import ContentPart
from ordain.contracts.sizes import said_bytes
from ordain.errors import InvalidRequest

FILE_PARTS = frozenset({"file", "input_file"})
IMAGE_PARTS = frozenset({"image_url", "input_image"})
_DATA = re.compile(
    r"data:(?P<type>[A-Za-z0-9.+/-]{0,100})(;[A-Za-z0-9=.+-]{1,60})*;base64,",
    re.ASCII | re.IGNORECASE,
)


class SentFile(Struct, frozen=True):
    """A file of a request, and where in it it stands."""

    attachment: Attachment
    place: str


def misfit(place: str, code: str, message: str, *, status: int | None = None) -> InvalidRequest:
    """What does not fit, by where it stands."""
    return InvalidRequest(
        message,
        code=code,
        status=status,
        details={"errors": [{"place": place, "code": code, "message": message}]},
    )


def is_file(part: ContentPart) -> bool:
    """Whether a part is a file or a picture."""
    return part.type in FILE_PARTS or part.type in IMAGE_PARTS


def name_of(part: ContentPart) -> str:
    """What a file or picture is called; its kind where nobody says."""
    name = (_file(part) if part.type in FILE_PARTS else _picture(part)).get("name")
    return (name if isinstance(name, str) and name else part.type)[:300]


def sent_file(part: ContentPart, place: str) -> SentFile:
    """The part as an attachment.

    Raises:
        InvalidRequest: it has no bytes of its own, but an id or an address
            (``unsupported_parameter``): nothing is fetched. Or it is larger than any message may
            bring (``attachment_too_large``).
    """
    said = _file(part) if part.type in FILE_PARTS else _picture(part)
    data = said.get("data")
    found = _DATA.match(data) if isinstance(data, str) else None
    if not isinstance(data, str) or not data or (found is None and _is_data(data)):
        what = "a picture" if part.type in IMAGE_PARTS else "a file"
        message = (
            f"{what} is sent with its bytes (a data: URL with base64); ids and addresses are not "
            "fetched"
        )
        raise misfit(place, "unsupported_parameter", message)
    encoded = data[found.end() :] if found else data
    if len(encoded) > DATA_CHARS:
        raise misfit(
            place,
            "attachment_too_large",
            f"{name_of(part)} is larger than {said_bytes(FILE_BYTES)}",
            status=413,
        )
    return SentFile(
        Attachment(
            name=name_of(part), media_type=(found["type"] or None) if found else None, data=encoded
        ),
        place,
    )


def _file(part: ContentPart) -> Mapping[str, Any]:
    inner = part.file or {}
    return {
        "name": inner.get("filename", part.filename),
        "data": inner.get("file_data", part.file_data),
    }


def _picture(part: ContentPart) -> Mapping[str, Any]:
    url = part.image_url if isinstance(part.image_url, str) else (part.image_url or {}).get("url")
    return {"name": "picture", "data": url if isinstance(url, str) and _is_data(url) else None}


def _is_data(url: str) -> bool:
    """Whether an address is a data URL; a scheme is written large as well as small (RFC 3986,
    3.1).
    """
    return url[:5].lower() == "data:"
