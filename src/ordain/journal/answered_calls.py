"""How many model calls of a run came to an end, by what they were for: read from its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ordain.journal.records import Record, RecordKind


class _Asked(Struct):
    purpose: str
    role: str = ""


class _ModelIntent(Struct):
    effect: _Asked


def answered_calls(records: Sequence[Record]) -> defaultdict[tuple[str, str], int]:
    """How many model calls of each purpose and role came to an end; an attempt that was lost with
    the process did not, the next takes its place.
    """
    answered: defaultdict[tuple[str, str], int] = defaultdict(int)
    asked = "", ""
    for record in records:
        if record.name == "model_call" and record.body is not None:
            if record.kind is RecordKind.INTENT:
                effect = msgspec.json.decode(record.body, type=_ModelIntent).effect
                asked = effect.purpose, effect.role
            elif record.kind is RecordKind.OBSERVATION and b'"code":"lost"' not in record.body:
                answered[asked] += 1
    return answered
