"""A transcript's entries as whoever reads them is shown them: as events of a session's stream, and
their bodies by themselves. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ordain.contracts.events import (
    ApprovalEvent,
    DurableEvent,
    ErasedEvent,
    MessageEvent,
    OptionView,
    QuestionEvent,
    ReplyEvent,
    SaidEvent,
    SummaryEvent,
)
from ordain.contracts.text_links import links_of, texts_of
from ordain.contracts.visible import visible_value
from ordain.errors import JournalCorrupt
from ordain.ports.sessions import IMPORTED_IDS, Entry, EntryKind
from ordain.runtime.brief import readable_header
from ordain.runtime.remedies import remedies


class EntryBody(msgspec.Struct):
    """What an entry's body may hold, of any kind."""

    text: str = ""
    user: str = ""
    header: str = ""
    ok: bool = False
    verdict: str = ""
    key: str = ""
    expects: str = ""
    options: tuple[OptionView, ...] = ()
    until: int = 0
    approval: str = ""
    digest: str = ""
    subject: str = ""
    tier: str = ""


_BODY = msgspec.json.Decoder(EntryBody)


def shown_body(entry: Entry) -> EntryBody | None:
    """What an entry's body holds, None of one that was erased. What anybody said in it commands
    nobody who shows it.

    Raises:
        JournalCorrupt: it cannot be read.
    """
    if entry.body is None:
        return None
    try:
        body = _BODY.decode(entry.body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise JournalCorrupt(
            f"entry {entry.seq}: column body holds what cannot be read",
            details={"seq": entry.seq, "column": "body"},
        ) from None
    return visible_value(body)


def event_of(entry: Entry) -> DurableEvent:
    """A transcript entry as an event. Raises as ``shown_body``."""
    place: dict[str, Any] = {
        "seq": entry.seq,
        "at_ms": entry.at // 1000,
        "message_id": entry.message_id,
        "thread": entry.thread,
        "run": entry.run,
    }
    body = shown_body(entry)
    if body is None:
        return ErasedEvent(**place, kind=str(entry.kind))
    return _said(entry, place, body)


def _said(entry: Entry, place: Mapping[str, Any], body: EntryBody) -> DurableEvent:
    """The event of an entry whose body is read; ``place`` is what every event has."""
    text = body.text
    match entry.kind:
        case EntryKind.MESSAGE:
            return MessageEvent(
                **place,
                channel=entry.channel,
                text=text,
                user=body.user,
                attached=entry.attached,
                reason=entry.reason,
                anchor=entry.anchor,
            )
        case EntryKind.REPLY:
            return ReplyEvent(
                **place,
                header=readable_header(body.header),
                narrative=text,
                ok=body.ok,
                verdict=body.verdict,
                remedies=list(remedies(body.header)),
                links=links_of(texts_of([text, body.header])),
            )
        case EntryKind.QUESTION:
            until_ms = body.until // 1000
            return QuestionEvent(
                **place,
                text=text,
                key=body.key,
                expected_type=body.expects,
                options=body.options,
                expires_at_ms=until_ms,
                links=links_of(texts_of([text, *(option.label for option in body.options)])),
            )
        case EntryKind.APPROVAL:
            return ApprovalEvent(
                **place,
                text=text,
                approval=body.approval,
                digest=body.digest,
                subject=body.subject,
                tier=body.tier,
                expires_at_ms=body.until // 1000,
                links=links_of(text),
            )
        case EntryKind.SAID:
            return SaidEvent(**place, text=text, links=links_of(text))
        case EntryKind.SUMMARY:
            return SummaryEvent(
                **place,
                text=text,
                through=entry.through,
                links=links_of(text),
                imported=entry.message_id.startswith(IMPORTED_IDS),
            )
