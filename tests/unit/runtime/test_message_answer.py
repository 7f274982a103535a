"""What became of a message, of its entry and of the one that answers it."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.errors import JournalCorrupt
from ordain.journal.records import ENCODER
from ordain.ports.sessions import Entry, EntryKind
from ordain.runtime.message_answer import answer_of


def entry(kind: EntryKind, seq: int, body: Any = None, **more: Any) -> Entry:
    plain: dict[str, Any] = {
        "at": 1,
        "thread": 1,
        "run": "r",
        "channel": "web",
        "attached": "",
        "reason": "",
        "anchor": "",
    }
    rest: dict[str, Any] = {
        "size": 0,
        "through": 0,
        "timestamp_ms": None,
        "digest": b"",
        "chain": b"",
        "decision": None,
    }
    encoded = None if body is None else ENCODER.encode(body)
    return Entry(
        **{
            "seq": seq,
            "kind": kind,
            "message_id": f"m{seq}",
            "body": encoded,
            **plain,
            **rest,
            **more,
        }
    )


MESSAGE = entry(
    EntryKind.MESSAGE, 1, {"text": "hi"}, attached="new_request", reason="attach.new_request"
)


def test_a_message_alone_says_what_it_was_taken_for() -> None:
    """Its class, thread and run, and no answer."""
    found = answer_of(MESSAGE, None, "s", duplicate=True)
    assert (
        found.session_id,
        found.message_id,
        found.session_seq,
        found.attached,
        found.reason,
    ) == (
        "s",
        "m1",
        1,
        "new_request",
        "attach.new_request",
    )
    assert (found.thread_id, found.run_id, found.duplicate) == ("1", "r", True)
    assert (found.reply, found.question, found.approval) == (None, None, None)


def test_its_answer_is_the_reply_that_stands_there() -> None:
    """Header, words and verdict as they were recorded."""
    header = "✓ ok · ordain run r · turn@7 · completed · ok"
    found = answer_of(
        MESSAGE,
        entry(
            EntryKind.REPLY, 2, {"header": header, "text": "Hello.", "ok": True, "verdict": "ok"}
        ),
        "s",
    )
    assert found.reply is not None
    assert (found.reply.header, found.reply.narrative, found.reply.ok, found.reply.verdict) == (
        header,
        "Hello.",
        True,
        "ok",
    )


def test_an_answer_that_is_none_is_damage() -> None:
    """What stands there is no event of its kind."""
    with pytest.raises(JournalCorrupt):
        answer_of(MESSAGE, entry(EntryKind.REPLY, 2, [1, 2]), "s")
