"""Rule ``history``: which part of a session's history a prompt holds.

Recent entries whole and in order, as many as fit; entries that a summary covers, by that summary;
where more than policy's number stand uncovered, the older ones are summarised first. What neither
stands whole nor is covered is counted, and the header says so, as it does of an entry that is too
long by itself and is shown cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class HistoryReason(Reason):
    """How much of what was said before stands in a prompt."""

    WHOLE = "history.whole", "Everything stands in the prompt, whole or summarised."
    SUMMARISE = (
        "history.summarise",
        "More entries or bytes than policy's stand whole: the older ones are summarised first.",
    )
    LEFT_OUT = (
        "history.left_out",
        "Part of the history neither fits nor is summarised, or is shown cut.",
    )


class Window(Struct, frozen=True, kw_only=True, tag="window"):
    """The last ``whole`` entries stand in the prompt, ``cut`` of them cut short, and the summary if
    ``summary``; ``left_out`` do not.
    """

    whole: int
    summary: bool
    left_out: int
    cut: int = 0


class Summarise(Struct, frozen=True, kw_only=True, tag="summarise"):
    """The oldest ``entries`` of those listed are summarised before the window is chosen; where
    older ones are not listed, as many as one prompt holds of those.
    """

    entries: int


class HistoryFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes of the uncovered entries that were read, oldest first; how many older ones there are;
    the summary's bytes (-1: none).

    ``room_bytes`` is what the model's window leaves; ``may_summarise`` that a verb for it is there
    and has not failed in this turn. ``imported``: what stands as the summary nobody here made; a
    client showed it. Runs of builds before do not say so.
    """

    sizes: tuple[int, ...]
    older: int = 0
    summary_bytes: int = -1
    room_bytes: int
    may_summarise: bool = False
    imported: bool = False


def decide_history(
    facts: HistoryFacts, inputs: None, policy: Policy
) -> Decision[Window | Summarise]:
    """Summarise where too much stands uncovered, by number or bytes; else as many of the latest
    entries as fit.
    """
    table, bound = policy.history, policy.history.entry_bytes
    cuts = max(facts.sizes, default=0) > bound  # of most histories no entry is cut
    sizes = [min(size, bound) for size in facts.sizes] if cuts else facts.sizes
    if facts.may_summarise and (
        len(sizes) + facts.older > table.max_entries or sum(sizes) > table.max_bytes
    ):
        kept = _fitting(sizes, table.max_bytes // 2, table.keep_entries)
        return Decision(
            outcome=Summarise(entries=max(1, len(sizes) - kept)), reason=HistoryReason.SUMMARISE
        )
    room = min(table.max_bytes, facts.room_bytes)
    summary = 0 < facts.summary_bytes <= room
    whole = _fitting(sizes, room - (facts.summary_bytes if summary else 0), table.max_entries)
    cut = sum([size > bound for size in facts.sizes[len(sizes) - whole :]]) if cuts else 0
    left_out = facts.older + len(sizes) - whole + (facts.summary_bytes > 0 and not summary)
    reason = HistoryReason.LEFT_OUT if left_out or cut else HistoryReason.WHOLE
    return Decision(
        outcome=Window(whole=whole, summary=summary, left_out=left_out, cut=cut), reason=reason
    )


def _fitting(sizes: Sequence[int], room: int, most: int) -> int:
    """How many of the latest entries fit, without a gap."""
    fitting, latest = 0, sizes[max(0, len(sizes) - most) :]
    if sum(latest) <= room:
        return len(latest)
    for size in reversed(latest):
        if size > room:
            break
        room -= size
        fitting += 1
    return fitting


_FACTS = msgspec.json.Decoder(HistoryFacts)
_WINDOW = msgspec.json.Decoder(Window | Summarise)


def _tells(recorded: Recorded) -> HeaderShare:
    """What does not stand whole in the prompt."""
    window = _WINDOW.decode(recorded.outcome)
    if not isinstance(window, Window) or not (window.left_out or window.summary or window.cut):
        return SILENT
    cut = f", {window.cut} cut" if window.cut else ""
    imported = _FACTS.decode(recorded.facts).imported
    before = ", older ones as the client showed them" if imported else ", older ones summed up"
    summed = before if window.summary else ""
    what = (
        f"history: {window.whole - window.cut} entries whole{cut}{summed}, {window.left_out} "
        "left out"
    )
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


HISTORY: Rule[HistoryFacts, None, Any] = Rule(
    name="history",
    outcome=Window | Summarise,
    apply=decide_history,
    reasons=(HistoryReason,),
    tells=_tells,
)
