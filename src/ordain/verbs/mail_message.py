"""A mail as bytes: headers and text, all of it ASCII, so that any server takes it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256

from msgspec import Struct

_SEVEN_BITS = SMTP.clone(cte_type="7bit")
_FOLD = ",\r\n "
"""One address a line: no list is too long for one, and nothing has to find out where it may be
broken.
"""


class Letter(Struct, frozen=True, kw_only=True):
    """A checked mail: addresses as they are sent, a subject of one line, a text with line feeds."""

    to: Sequence[str]
    cc: Sequence[str]
    subject: str
    body: str

    @property
    def recipients(self) -> tuple[str, ...]:
        """Whoever gets it, each once."""
        return tuple(dict.fromkeys((*self.to, *self.cc)))


def message_id(key: str, sender: str) -> str:
    """The Message-ID of the call with this idempotency key: the same in every attempt. The key
    itself is nobody else's to know.
    """
    return f"<{sha256(f'ordain mail {key}'.encode()).hexdigest()[:40]}@{sender.rpartition('@')[2]}>"


def composed(letter: Letter, *, sender: str, identity: str, at_us: int) -> bytes:
    """The message with CRLF line ends, neither dot-stuffed nor ended; ``at_us`` 0 leaves the date
    to the server.

    Raises:
        ValueError: a value would be more than its header's; what is checked never is.
    """
    content = EmailMessage(_SEVEN_BITS)
    content.set_content(letter.body)
    head = "".join(
        f"{name}: {_one(value)}\r\n" for name, value in _headers(letter, sender, identity, at_us)
    )
    return head.encode("ascii") + content.as_bytes()


def _headers(letter: Letter, sender: str, identity: str, at_us: int) -> Iterator[tuple[str, str]]:
    yield "From", sender
    yield "To", _FOLD.join(letter.to)
    if letter.cc:
        yield "Cc", _FOLD.join(letter.cc)
    yield "Subject", _subject(letter.subject)
    if at_us:
        yield "Date", format_datetime(datetime.fromtimestamp(at_us / 1e6, UTC))
    yield "Message-ID", identity


def _subject(text: str) -> str:
    """As it is where that reads back the same; else as encoded words, which keep every space where
    ``EmailMessage`` loses some.
    """
    if text.isascii() and text == text.strip() and "=?" not in text:
        return text
    return Header(text, "utf-8", maxlinelen=76, header_name="Subject").encode(linesep="\r\n")


def _one(value: str) -> str:
    """The value, which begins no other header: every line end in it is a fold."""
    if (
        not all(line[:1] == " " for line in value.split("\r\n")[1:])
        or not value.replace("\r\n", "").isprintable()
    ):
        raise ValueError("a header has one value")
    return value
