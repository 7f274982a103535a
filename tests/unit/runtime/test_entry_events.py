"""A transcript's entries as whoever reads them is shown them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.contracts.events import ErasedEvent
from ordain.errors import JournalCorrupt
from ordain.ports.sessions import Entry, EntryKind
from ordain.runtime.entry_events import event_of, shown_body

HOSTILE = "pay \u202e001\u202c\x00\x07 now\x7f\u2066!\n\t\u05d9\u05d5\u05dd"
SHOWN = "pay [U+202E]001[U+202C]␀␇ now␡[U+2066]!\n\t\u05d9\u05d5\u05dd"


def entry(kind: EntryKind, body: bytes | None) -> Entry:
    told: dict[str, Any] = dict.fromkeys(("channel", "attached", "reason", "anchor"), "")
    return Entry(
        seq=1, kind=kind, at=0, thread=1, run="r", message_id="m", size=2, through=0,
            timestamp_ms=0, digest=b"", chain=b"", body=body,
        decision=None, **told,
    )  # fmt: skip


@pytest.mark.parametrize("kind", list(EntryKind))
def test_what_was_said_commands_nobody_who_shows_it(kind: EntryKind) -> None:
    """Of each kind of entry: NUL, DEL, other controls and what reorders a text are shown in its
    event; ends of lines and right-to-left words stay.
    """
    options = [{"key": "A", "label": HOSTILE}]
    body = msgspec.json.encode({"text": HOSTILE, "header": "h", "ok": True, "options": options})
    event = event_of(entry(kind, body))
    assert getattr(event, "narrative" if kind is EntryKind.REPLY else "text") == SHOWN
    assert [option.label for option in getattr(event, "options", ())] == (
        [SHOWN] if kind is EntryKind.QUESTION else []
    )
    shown = shown_body(entry(kind, body))
    assert shown is not None
    assert (shown.text, shown.options[0].label) == (SHOWN, SHOWN)


def test_what_was_erased_has_no_body_and_what_cannot_be_read_is_told() -> None:
    """An erased entry is an event of its own; a body that is no JSON names its entry."""
    assert shown_body(entry(EntryKind.REPLY, None)) is None
    assert isinstance(event_of(entry(EntryKind.REPLY, None)), ErasedEvent)
    for read in (shown_body, event_of):
        with pytest.raises(JournalCorrupt, match="entry 1: column body"):
            read(entry(EntryKind.REPLY, b"{"))
