"""A reference into a session's transcript, turned back into what it says, where a prompt is
rendered: live and in replay. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from ordain.errors import Erased, JournalCorrupt, JournalError
from ordain.ports.sessions import EntryKind, EntryText

ROLES = {
    EntryKind.MESSAGE: "user",
    EntryKind.REPLY: "assistant",
    EntryKind.QUESTION: "assistant",
    EntryKind.SAID: "assistant",
}

NEAR = 8
"""A transcript's head that stands so few entries behind a history is read with it: each look into a
storage costs more than some entries.
"""

TranscriptReader = Callable[[str, int, int], Sequence[EntryText]]
"""(session, first, last) -> the transcript's entries with these numbers, in the run's own
workspace.
"""


class HistoryRef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Part of a session's transcript by reference: entries ``first`` to ``last`` without ``own``,
    and the summary before them.

    ``size_bytes`` is what their texts have as JSON, each cut to ``cut`` bytes (0: none is longer);
    ``digest`` is the link of entry ``head``, which fixes all that stands before it.
    """

    session: str
    first: int = 0
    last: int = 0
    own: int = 0
    entries: int = 0
    size_bytes: int = 0
    summary: int = 0
    cut: int = 0
    head: int = 0
    digest: str = ""


class Spoken(Struct, frozen=True, kw_only=True):
    """What a prompt shows of a history."""

    history: tuple[dict[str, str], ...]
    summary: str | None


def resolve(transcript: TranscriptReader | None, ref: HistoryRef | None) -> Spoken:
    """What the referenced entries say.

    Raises:
        Erased: their content was erased.
        JournalCorrupt: they are not what the reference names.
    """
    if ref is None or (not ref.entries and not ref.summary):
        return Spoken(history=(), summary=None)
    if transcript is None:
        raise JournalCorrupt("a history is referred to where there is no transcript")
    first, last = (ref.first, ref.last) if ref.entries else (ref.head, ref.head)
    # as in most turns, whose message is the head and follows what was said before
    together = 0 <= ref.head - last <= NEAR
    end = ref.head if together else last
    # a summary was said after what it covers, so that it mostly stands among what is read anyway
    apart = ref.summary > 0 and not first <= ref.summary <= end
    parts = [(first, end)]
    if apart:
        parts.append((ref.summary, ref.summary))
    if not together:
        parts.append((ref.head, ref.head))
    read, *others = _all(transcript, ref.session, parts)
    found = (others[0] if apart else read) if ref.summary else ()
    summaries = [entry for entry in found if entry.seq == ref.summary]
    whole = (
        [
            entry
            for entry in read
            if entry.seq <= last and entry.kind in ROLES and entry.seq != ref.own
        ]
        if ref.entries
        else []
    )
    if len(whole) > ref.entries:
        # what retention had swept by then was not counted, and stands between what was
        whole = [entry for entry in whole if entry.body is not None]
    head = [entry for entry in (read if together else others[-1])[-1:] if entry.seq == ref.head]
    if not head or head[0].chain.hex() != ref.digest or len(whole) != ref.entries:
        raise JournalCorrupt(
            f"entries {ref.first}-{ref.last} of session {ref.session} are not what was referred to"
        )
    said = [(ROLES[entry.kind], text_of(entry)) for entry in whole]
    if ref.cut:
        said = [(role, _shortened(text, ref.cut)) for role, text in said]
    return Spoken(
        history=tuple([{"role": role, "content": text} for role, text in said]),
        summary=text_of(summaries[0]) if summaries else None,
    )


def _all(
    transcript: TranscriptReader, session: str, parts: Sequence[tuple[int, int]]
) -> list[Sequence[EntryText]]:
    """All parts, each asked for before it is told that one cannot be had: what is not there yet is
    then read together.
    """
    read: list[Sequence[EntryText]] = []
    for at, (first, last) in enumerate(parts):
        try:
            read.append(transcript(session, first, last))
        except JournalError:
            # bound to no name: an error that a frame of its own traceback holds is a cycle, with
            # all that those frames hold
            for later, end in parts[at + 1 :]:
                try:
                    transcript(session, later, end)
                except JournalError:
                    continue
            raise
    return read


CUT = "… (cut)"


def _shortened(text: str, bound: int) -> str:
    """The text, cut so that it has at most ``bound`` bytes as JSON."""
    if len(msgspec.json.encode(text)) <= bound:
        return text
    kept = text[:bound]
    while kept and len(msgspec.json.encode(kept + CUT)) > bound:
        kept = kept[: len(kept) * 3 // 4]
    return kept + CUT


class _Body(Struct):
    text: str = ""


_BODY = msgspec.json.Decoder(_Body)


def text_of(entry: EntryText) -> str:
    """The text of an entry.

    Raises:
        Erased: it was erased.
    """
    if entry.body is None:
        raise Erased(f"entry {entry.seq} of the transcript was erased", details={"seq": entry.seq})
    return _BODY.decode(entry.body).text
