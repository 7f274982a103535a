"""Rule ``history``: which part of a session's history a prompt holds.

Recent entries whole and in order, as many as fit; entries that a summary covers, by that summary; where more than policy's number
stand uncovered, the older ones are summarised first. What neither stands whole nor is covered is counted, and the header says so.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class Window(Struct, frozen=True, kw_only=True, tag="window"):
    """The last ``whole`` entries stand in the prompt, and the summary if ``summary``; ``left_out`` entries do not."""

    whole: int
    summary: bool
    left_out: int


class Summarise(Struct, frozen=True, kw_only=True, tag="summarise"):
    """The oldest ``entries`` of those listed are summarised before the window is chosen; of more, the oldest of all."""

    entries: int


class HistoryFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes of the uncovered entries that were read, oldest first; how many older ones there are; the summary's bytes (-1: none).

    ``room_bytes`` is what the model's window leaves; ``may_summarise`` that a verb for it is there and has not failed in this turn.
    """

    sizes: tuple[int, ...]
    older: int = 0
    summary_bytes: int = -1
    room_bytes: int
    may_summarise: bool = False


def decide_history(facts: HistoryFacts, inputs: None, policy: Policy) -> Decision[Window | Summarise]:
    """Summarise where too much stands uncovered; else as many whole entries as fit."""
    table, count = policy.history, len(facts.sizes)
    if facts.may_summarise and count + facts.older > table.max_entries:
        return Decision(outcome=Summarise(entries=max(1, count - table.keep_entries)), reason=Reason.HISTORY_SUMMARISE)
    room = min(table.max_bytes, facts.room_bytes)
    summary = 0 <= facts.summary_bytes <= room
    room -= facts.summary_bytes if summary else 0
    whole = 0
    for size in reversed(facts.sizes[-table.max_entries :] if table.max_entries else ()):
        if size > room:
            break
        room -= size
        whole += 1
    if facts.may_summarise and whole < count:
        return Decision(outcome=Summarise(entries=count - whole // 2), reason=Reason.HISTORY_SUMMARISE)
    left_out = facts.older + count - whole + (1 if facts.summary_bytes > 0 and not summary else 0)
    reason = Reason.HISTORY_LEFT_OUT if left_out else Reason.HISTORY_WHOLE
    return Decision(outcome=Window(whole=whole, summary=summary and facts.summary_bytes > 0, left_out=left_out), reason=reason)


HISTORY: Rule[HistoryFacts, None, Any] = Rule(name="history", outcome=Window | Summarise, apply=decide_history)
