"""A run as people see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.argument_faults import argument_faults
from ordain.contracts.catalog import UNCONFIRMED, Catalog
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.remedies import confirming
from ordain.effects.children import AnyEnded
from ordain.effects.effect import EFFECT, Children
from ordain.effects.results import VerbFailed
from ordain.errors import JournalCorrupt
from ordain.flows.kind import Ending
from ordain.flows.kinds import Kinds
from ordain.flows.values import Values
from ordain.journal.codec import decode
from ordain.journal.records import (
    NULL,
    SETTLED,
    STOPPED,
    ChildEndedBody,
    DecisionBody,
    EndedBody,
    IntentBody,
    ObservationBody,
    Record,
    RecordKind,
    Status,
)
from ordain.ports.store import StoredRun
from ordain.rules.header import HeaderFacts, render_header
from ordain.runtime.brief import readable_header
from ordain.runtime.recorded_form import ENDS, RESULTS
from ordain.runtime.remedies import remedies_by_code

AT_REST = SETTLED | STOPPED
MISFITS_CHARS = 500
CHILD_STOPPED = "child_stopped"
"""The code of a run that waits for one that has stopped: it goes on when that is resumed after the
fix.
"""


_DECISION = RecordKind.DECISION
"""A name of its own, as for whatever is asked of each record: a member is found in its enum eight
times as slowly.
"""


class _Asked(Struct):
    """What of a first record a response is made from."""

    input: msgspec.Raw


_ASKED = msgspec.json.Decoder(_Asked)


class RunView(Struct, frozen=True, kw_only=True):
    """A run's row, header with its verdict ("": none yet, or of a kind without one) and, once
    settled, its result (raw JSON).
    """

    stored: StoredRun
    header: str
    result: msgspec.Raw
    verdict: str = ""

    @property
    def at_rest(self) -> bool:
        """Whether the run has settled or stopped."""
        return self.stored.status in AT_REST


def viewed(
    stored: StoredRun, end: EndedBody | HeaderFacts, header: str = "", verdict: str = ""
) -> RunView:
    """A run as faces are given it: by how it ended, or by its facts while it has not; ``header``
    and ``verdict`` where something was said since.

    What is recorded stays as it is: replay and erasure read it from the journal.
    """
    recorded, result = (
        (end.header, end.result) if isinstance(end, EndedBody) else (render_header(end), NULL)
    )
    return RunView(
        stored=stored,
        header=readable_header(header or recorded),
        result=result,
        verdict=verdict or end.verdict,
    )


def why_nothing(stored: StoredRun) -> str:
    """The code that says why a run that nobody waits for any more has no result."""
    if stored.key is None:
        return "erased"
    return CHILD_STOPPED if stored.status is Status.WAITING else stored.reason or str(stored.status)


def exact_fields(kinds: Kinds, stored: StoredRun) -> frozenset[str]:
    """The fields of its response that are given as they were recorded."""
    kind = kinds.get(stored.flow, stored.flow_version)
    return frozenset() if kind is None or kind.wire is None else kind.wire.exact


def may_pass(stored: StoredRun, code: str) -> bool | None:
    """Whether the verb that failed with this code said that the same call may succeed later; None
    where no verb of this run did.
    """
    last = next(
        (one.seq for one in reversed(stored.records) if one.kind is RecordKind.OBSERVATION), None
    )
    if last is None or stored.records[last].body is None:
        return None
    result = handed(stored.records, (last,))[last]
    return result.retryable if isinstance(result, VerbFailed) and result.code == code else None


def ending_of(
    view: RunView, raw: Mapping[str, str] | None = None, catalog: Catalog | None = None
) -> Ending:
    """What a response is made from; ``raw`` is what runs below it replied, word for word,
    ``catalog`` what there is now to mean by a name that is none.
    """
    stored, verbs = view.stored, () if catalog is None else catalog.verbs
    first = stored.records[0].body
    return Ending(
        run=stored.id,
        status=stored.status,
        header=view.header,
        verdict=view.verdict,
        output=view.result,
        given={} if first is None else msgspec.json.decode(_ASKED.decode(first).input),
        erased=not stored.key,
        why=why_nothing(stored),
        handed=lambda seqs: handed(stored.records, seqs),
        may_pass=lambda code: may_pass(stored, code),
        remedies=remedies_by_code(view.header),
        meant=lambda name: "" if name in verbs else did_you_mean(name, verbs),
        confirms=lambda name: "" if catalog is None else _confirms(catalog, name),
        misfits=lambda name, given: "" if catalog is None else _misfits(catalog, name, given),
        raw_cortex=raw or {},
        reasons=lambda rule: [
            body.reason
            for body in map(decode, _decisions(stored.records, rule))
            if isinstance(body, DecisionBody)
        ],
        carried=lambda verb, rule: carried(stored.records, verb, rule),
    )


def _decisions(records: Sequence[Record], rule: str) -> list[Record]:
    return [
        one
        for one in records
        if one.name == rule and one.kind is _DECISION and one.body is not None
    ]


def carried(records: Sequence[Record], verb: str, rule: str) -> AnyEnded | None:
    """How the run ended that these records opened first to carry out this verb once this rule had
    decided; None where there is none, or that was erased.
    """
    decided = next((one.seq for one in _decisions(records, rule)), len(records))
    place: tuple[int, int] | None = None
    for record in records[decided:]:
        if record.body is None or record.kind not in {RecordKind.INTENT, RecordKind.CHILD_ENDED}:
            continue
        body = decode(record)
        if place is None and isinstance(body, IntentBody) and record.name == "children":
            place = next(
                (
                    (body.addr, index)
                    for index, called in enumerate(_called(body))
                    if called == verb
                ),
                None,
            )
        elif isinstance(body, ChildEndedBody) and (body.addr, body.index) == place:
            return ENDS.decode(body.ended)
    return None


def _called(body: IntentBody) -> list[str | None]:
    """The verb that each run of a join is opened to carry out."""
    effect = EFFECT.decode(body.effect)
    spawns = effect.spawns if isinstance(effect, Children) else ()
    return [None if spawn.authorized is None else spawn.authorized.call.verb for spawn in spawns]


def _confirms(catalog: Catalog, verb: str) -> str:
    """What people do about a verb that is off because nobody has confirmed it; "" of any other."""
    return (
        confirming(verb)
        if catalog.inactive_reason(verb, catalog.policy.verbs) == UNCONFIRMED
        else ""
    )


def _misfits(catalog: Catalog, verb: str, given: Mapping[str, Any]) -> str:
    """Which arguments do not fit the verb as it is now; "" where it is gone, or they do by now."""
    found = catalog.verbs.get(verb)
    return "" if found is None else "; ".join(argument_faults(found.input, given))[:MISFITS_CHARS]


def handed(records: Sequence[Record], seqs: Iterable[int]) -> Values:
    """What these records handed to the flow.

    Raises:
        Erased: one of them was erased or swept.
        JournalCorrupt: one of them holds what cannot be read back.
    """
    values = Values()
    for seq in seqs:
        body = decode(records[seq])
        try:
            if isinstance(body, ObservationBody):
                values[seq] = RESULTS.decode(body.result)
            elif isinstance(body, ChildEndedBody):
                values[seq] = ENDS.decode(body.ended)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise JournalCorrupt(
                f"record {seq} ({records[seq].kind}): {error}", details={"seq": seq}
            ) from error
    return values
