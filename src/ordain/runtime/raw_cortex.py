"""``raw_cortex`` (B-04, PLN-22): what a prompt-plan verb replied, word for word, for who looks into
a trace. Nothing keeps it: it is made from journals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordain.effects.results import ModelAnswer
from ordain.errors import JournalError
from ordain.flows.kind import AnswerHad
from ordain.flows.kinds import Kinds
from ordain.journal.codec import decode
from ordain.journal.folds import ending
from ordain.journal.records import NULL, ChildEndedBody, ObservationBody, RecordKind
from ordain.ports.store import JournalStore, StoredRun, load_run
from ordain.runtime.recorded_form import RESULTS
from ordain.runtime.run_view import RunView, ending_of

RAW_BYTES = 4096
MARK = "…"


def cut(text: str, most: int = RAW_BYTES) -> str:
    """The text within so many bytes of UTF-8; where it is longer, its beginning and ``…``, whole
    characters alone.
    """
    body = text.encode()
    return (
        text
        if len(body) <= most
        else body[: most - len(MARK.encode())].decode(errors="ignore") + MARK
    )


async def raw_replies(store: JournalStore, kinds: Kinds, stored: StoredRun) -> Mapping[str, str]:
    """What the run itself and those that it opened replied, by run; of kinds that have no such
    reply, and of erased runs, nothing.
    """
    found: dict[str, str] = {}
    for run in (stored.id, *_children(stored)):
        child = stored if run == stored.id else await load_run(store, run)
        reply = None if child is None else _reply(child, kinds)
        if reply is not None:
            found[run] = reply
    return found


def _children(stored: StoredRun) -> Iterator[str]:
    for record in stored.records:
        if (
            record.kind is RecordKind.CHILD_ENDED
            and record.body is not None
            and isinstance(body := decode(record), ChildEndedBody)
        ):
            yield body.child


def _reply(stored: StoredRun, kinds: Kinds) -> str | None:
    kind = kinds.get(stored.flow, stored.flow_version)
    end = ending(stored.records)
    if kind is None or kind.cortex is None or end is None or stored.key is None:
        return None
    view = RunView(stored=stored, header=end.header, result=end.result, verdict=end.verdict)
    try:
        reply = kind.cortex(ending_of(view), tuple(_answers(stored)))
    except (JournalError, msgspec.MsgspecError):
        # swept, or of a damaged row: what is left of it is no reply
        return None
    return cut(msgspec.json.encode(reply).decode())


def _answers(stored: StoredRun) -> Iterator[AnswerHad]:
    """Every answer of a model that the run had, with the time from the question to it; one that was
    swept is none.
    """
    asked = 0
    for record in stored.records:
        if record.kind is RecordKind.INTENT:
            asked = record.at
        elif (
            record.kind is RecordKind.OBSERVATION
            and record.body is not None
            and isinstance(body := decode(record), ObservationBody)
        ):
            result = None if body.result == NULL else RESULTS.decode(body.result)
            if isinstance(result, ModelAnswer):
                yield AnswerHad(answer=result, elapsed_ms=(record.at - asked) // 1000)
