"""A mail as it may be: addresses, subject, text. Validation only.

An address is one address and nothing else: no display name, no group, no comment, no quoted part,
no source route. So what a person reads is where the mail goes, and nothing in it means anything to
a header, to a server's command line or to a program behind the server.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import idna
from pydantic import Field

from ordain.errors import InvalidRequest

MailSecurity = Literal["tls", "starttls", "none"]
"""How a connection to a mail server is encrypted: from its beginning, before anything is said that
matters, not at all.
"""

ADDRESS_CHARS = 254
LOCAL_CHARS = 64
RECIPIENTS_MAX = 20
"""Most addresses in ``to``, and most in ``cc``."""
SUBJECT_CHARS = 300
BODY_CHARS = 20_000

_NO_LINE_END = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
"""Control characters, and what ends a line anywhere: a class of a pattern in a JSON Schema."""

AddressText = Annotated[
    str,
    Field(
        min_length=3,
        max_length=ADDRESS_CHARS,
        pattern=rf'^[^{_NO_LINE_END}\s@<>()\[\]\\,;:"]+@[^{_NO_LINE_END}\s@<>()\[\]\\,;:"]+$',
    ),
]
"""What a schema can say of an address; ``plain_address`` says the rest."""
Addresses = Annotated[list[AddressText], Field(min_length=1, max_length=RECIPIENTS_MAX)]
CopyAddresses = Annotated[list[AddressText], Field(max_length=RECIPIENTS_MAX)]
SubjectLine = Annotated[
    str, Field(min_length=1, max_length=SUBJECT_CHARS, pattern=f"^[^{_NO_LINE_END}]*$")
]
MailText = Annotated[str, Field(min_length=1, max_length=BODY_CHARS)]

_LOCAL = re.compile(
    r"[A-Za-z0-9_#$&'*+=?^{}~][A-Za-z0-9_#$&'*+=?^{}~-]*(?:\.[A-Za-z0-9_#$&'*+=?^{}~-]+)*"
)
"""RFC 5321's dot-string, less what some servers act on: ``% ! | / ` ``, and a dash in front."""
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINE_END = re.compile(f"[{_NO_LINE_END}]")


def plain_address(text: str) -> str:
    """The address as it is sent: the domain in lower case, names in other scripts as IDNA 2008 has
    them.

    Raises:
        InvalidRequest: ``bad_address``: it is not exactly one plain address. Its value is not told.
    """
    local, _, domain = text.rpartition("@")
    if len(local) > LOCAL_CHARS or not _LOCAL.fullmatch(local):
        raise _bad_address(
            "what stands before the @ is no plain name of ASCII letters, digits and a few signs"
        )
    labels = [_label(part) for part in domain.split(".")]
    if labels[-1].isdigit():
        raise _bad_address("what stands after the @ is no domain")
    address = f"{local}@{'.'.join(labels)}"
    if len(address) > ADDRESS_CHARS:
        raise _bad_address(f"longer than {ADDRESS_CHARS} characters")
    return address


def _label(part: str) -> str:
    try:
        label = part.lower() if part.isascii() else idna.alabel(part).decode()
        if label.startswith("xn--"):
            idna.ulabel(label)
    except UnicodeError as error:
        raise _bad_address("what stands after the @ is no domain that IDNA knows") from error
    if not _LABEL.fullmatch(label):
        raise _bad_address("what stands after the @ is no domain")
    return label


def _bad_address(why: str) -> InvalidRequest:
    return InvalidRequest(why, code="bad_address")


def checked_subject(text: str) -> str:
    """The subject, which is one line of well-formed text.

    Raises:
        InvalidRequest: ``bad_subject``.
    """
    if (
        not text.strip()
        or len(text) > SUBJECT_CHARS
        or _LINE_END.search(text)
        or not _well_formed(text)
    ):
        raise InvalidRequest(
            "a subject is one line of text, without control characters", code="bad_subject"
        )
    return text


def checked_body(text: str) -> str:
    """The text, with line ends of one kind (line feeds).

    Raises:
        InvalidRequest: ``bad_text``.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if (
        not lines.strip()
        or len(text) > BODY_CHARS
        or _CONTROL.search(lines)
        or not _well_formed(text)
    ):
        raise InvalidRequest("a mail has a text, without control characters", code="bad_text")
    return lines


def _well_formed(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True
