"""A reference into a transcript, turned back into what it says."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import Erased, JournalCorrupt
from ordain.flows.transcript import NEAR, HistoryRef, Spoken, resolve
from ordain.ports.sessions import Entry, EntryKind

KINDS = st.sampled_from(
    [EntryKind.MESSAGE, EntryKind.REPLY, EntryKind.QUESTION, EntryKind.SAID, EntryKind.SUMMARY]
)


def entry(seq: int, kind: EntryKind) -> Entry:
    return Entry(
        seq=seq,
        kind=kind,
        at=seq,
        thread=1,
        run="",
        channel="web",
        message_id=str(seq),
        attached="",
        reason="",
        anchor="",
        size=8,
        through=0,
        digest=b"",
        chain=blake2b(str(seq).encode(), digest_size=16).digest(),
        body=msgspec.json.encode({"text": f"said {seq}"}),
        decision=None,
        timestamp_ms=0,
    )


class Session:
    """A transcript of entries 1 to n, and how often somebody looked into it."""

    def __init__(self, kinds: Sequence[EntryKind]) -> None:
        self.entries = [entry(number, kind) for number, kind in enumerate(kinds, 1)]
        self.looks = 0

    def __call__(self, session: str, first: int, last: int) -> Sequence[Entry]:
        assert session == "s"
        self.looks += 1
        return self.entries[first - 1 : last]


def reference(session: Session, first: int, last: int, head: int, own: int) -> HistoryRef:
    spoken = [
        one
        for one in session.entries[first - 1 : last]
        if one.kind is not EntryKind.SUMMARY and one.seq != own
    ]
    chain = session.entries[head - 1].chain.hex()
    return HistoryRef(
        session="s", first=first, last=last, own=own, entries=len(spoken), head=head, digest=chain
    )


@given(st.lists(KINDS, min_size=1, max_size=2 * NEAR), st.data())
def test_it_says_what_it_names_and_no_more(kinds: list[EntryKind], data: st.DataObject) -> None:
    """Wherever the head stands, near the history, far behind it or within it: its entries but the
    own one, in order, each with its role.
    """
    session = Session(kinds)
    first = data.draw(st.integers(1, len(kinds)))
    last = data.draw(st.integers(first, len(kinds)))
    head, own = data.draw(st.integers(1, len(kinds))), data.draw(st.integers(1, len(kinds)))
    ref = reference(session, first, last, head, own)
    said = [
        one
        for one in session.entries[first - 1 : last]
        if one.kind is not EntryKind.SUMMARY and one.seq != own
    ]
    expected = tuple(
        {
            "role": "user" if one.kind is EntryKind.MESSAGE else "assistant",
            "content": f"said {one.seq}",
        }
        for one in said
    )
    assert resolve(session, ref) == Spoken(history=expected, summary=None)


@pytest.mark.parametrize(("head", "looks"), [(4, 1), (4 + NEAR, 1), (5 + NEAR, 2)])
def test_a_head_that_is_near_is_read_with_the_history(head: int, looks: int) -> None:
    """A look into a storage costs more than some entries; far more entries than are said are not
    read.
    """
    session = Session([EntryKind.MESSAGE] * (2 * NEAR))
    assert len(resolve(session, reference(session, 1, 4, head, own=0)).history) == 4
    assert session.looks == looks


@pytest.mark.parametrize("head", [5, 2 * NEAR])
def test_another_transcript_is_none(head: int) -> None:
    """The head's link fixes all before it: where it is another one, or an entry is missing, nothing
    is shown.
    """
    session = Session([EntryKind.MESSAGE] * (2 * NEAR))
    ref = reference(session, 1, 4, head, own=0)
    for wrong in (
        msgspec.structs.replace(ref, digest="00" * 16),
        msgspec.structs.replace(ref, entries=3),
        msgspec.structs.replace(ref, head=99),
    ):
        with pytest.raises(JournalCorrupt):
            resolve(session, wrong)


def test_what_was_swept_before_stands_between_what_is_shown() -> None:
    """Retention takes content out of the midst of a session: what was gone when the history was
    chosen was not counted, and what went since is told as erased.
    """
    session = Session([EntryKind.MESSAGE, EntryKind.REPLY] * 4)
    session.entries = [
        msgspec.structs.replace(one, body=None) if one.seq in (3, 5) else one
        for one in session.entries
    ]
    ref = msgspec.structs.replace(reference(session, 2, 6, 7, own=7), entries=3)
    shown = [one["content"] for one in resolve(session, ref).history]
    assert shown == ["said 2", "said 4", "said 6"]
    session.entries[1] = msgspec.structs.replace(session.entries[1], body=None)
    with pytest.raises((Erased, JournalCorrupt)):
        resolve(session, ref)
    whole = Session([EntryKind.MESSAGE] * 4)
    ref = reference(whole, 1, 3, 4, own=4)
    whole.entries[1] = msgspec.structs.replace(whole.entries[1], body=None)
    with pytest.raises(Erased):
        resolve(whole, ref)


def test_a_summary_stands_alone() -> None:
    """Of a session of which nothing is shown whole, the summary is, and the head is asked for."""
    session = Session([EntryKind.MESSAGE, EntryKind.SUMMARY, EntryKind.MESSAGE])
    ref = HistoryRef(session="s", summary=2, head=3, digest=session.entries[2].chain.hex())
    assert resolve(session, ref) == Spoken(history=(), summary="said 2")


@pytest.mark.parametrize(("first", "looks"), [(1, 1), (3, 2)])
def test_a_summary_among_what_is_shown_is_read_with_it(first: int, looks: int) -> None:
    """It is said in the turn after what it covers, and the entries of that turn are shown whole."""
    session = Session([EntryKind.MESSAGE, EntryKind.SUMMARY, *[EntryKind.MESSAGE] * 4])
    ref = msgspec.structs.replace(reference(session, first, 5, 6, own=6), summary=2)
    spoken = resolve(session, ref)
    assert spoken.summary == "said 2"
    assert "said 2" not in [said["content"] for said in spoken.history]
    assert session.looks == looks
