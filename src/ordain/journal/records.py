"""The closed set of journal record kinds and the body of each.

A run is the sequence of its records. ``Record`` is the envelope as stored; a body is msgspec JSON
with a version per kind, upcast on read and never rewritten (``journal.upcasters``). Effects,
results, outcomes and facts are kept as raw JSON here: their types belong to the layers above, and a
fold looks only at the fields it needs.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.access import TokenScope
from ordain.contracts.approvals import Consent, MayAsk
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import NULL
from ordain.rules.profile import HeldProfile, ProfiledBy
from ordain.rules.spend import Spend

PAYLOAD_BYTES = 4096
"""A body longer than this goes to the payload table; digest and chain do not change."""
UNKNOWN_ENDS = (b'"result":"outcome_unknown"', b'"ended":"unknown"')
"""By these bytes a call is found, among all that records say, of whose end nobody knows; a record
that holds them may say something else.
"""


class RecordKind(StrEnum):
    """What a record says."""

    STARTED = "started"
    DECISION = "decision"
    CLAIM = "claim"
    INTENT = "intent"
    OBSERVATION = "observation"
    DELIVERED = "delivered"
    CHILD_ENDED = "child_ended"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    ENDED = "ended"
    FAULTED = "faulted"
    NOTE = "note"


HANDED_TO_FLOW = frozenset(
    {
        RecordKind.STARTED,
        RecordKind.OBSERVATION,
        RecordKind.CLAIM,
        RecordKind.CHILD_ENDED,
        RecordKind.DELIVERED,
    }
)
"""The kinds whose ``at`` moves the flow's ``now()``."""

DECIDED = frozenset({RecordKind.DECISION, RecordKind.CLAIM})
"""The kinds that hold a decision, with its rule's name, outcome, reason and facts."""

BESIDE_FLOW = frozenset(
    {RecordKind.SUSPENDED, RecordKind.RESUMED, RecordKind.NOTE, RecordKind.FAULTED}
)
"""The kinds a flow never sees: re-execution passes over them."""


class Status(StrEnum):
    """Where a run stands. The last four are settled: nothing follows them but notes. ``queued``:
    behind another turn of its thread.
    """

    QUEUED = "queued"
    READY = "ready"
    RUNNING = "running"
    WAITING = "waiting"
    FAULTED = "faulted"
    DIVERGED = "diverged"
    QUARANTINED = "quarantined"
    FLOW_UNAVAILABLE = "flow_unavailable"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


SETTLED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT})
STOPPED = frozenset({Status.FAULTED, Status.DIVERGED, Status.QUARANTINED, Status.FLOW_UNAVAILABLE})


_CLASS = {RecordKind.STARTED: "input", RecordKind.ENDED: "result", RecordKind.CHILD_ENDED: "result"}


def content_class(kind: RecordKind, name: str) -> str:
    """The retention class of a record's content: input, model, verb, result; or note, which is
    kept.
    """
    if kind in (RecordKind.INTENT, RecordKind.OBSERVATION):
        return "model" if name.startswith("model") else "verb"
    return _CLASS.get(kind, "note")


class Record(Struct, frozen=True, gc=False, kw_only=True):
    """One journal record as stored. Like other values that a run makes by the dozen it is in no
    cycle, and none is looked for in it (``gc``).

    ``at`` is microseconds since 1970 UTC and never decreases within a run. ``digest`` is keyed by
    the run's subject; ``chain`` covers everything before it but no body, so that it survives
    erasure. ``body`` is None once erased.
    """

    seq: int
    kind: RecordKind
    name: str
    v: int
    at: int
    digest: bytes
    chain: bytes
    body: bytes | None


class Untaken(Struct, frozen=True, gc=False, kw_only=True):
    """A yes or a no (``said``) with which a request begins, and which answers nothing: ``about`` is
    the question, or what waits for an approver, which stays open.
    """

    said: str
    approval: bool
    about: str


class Label(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What others need to know of a run; its kind writes it when the run is opened, and nobody
    looks into the input for it.

    ``agent`` is whom a root works for (the name of its account), ``verb`` the composite verb that
    it carries out, ``after`` the run that it takes the place of or tells of; ``narrates``: its
    words stand below the header of the run that it works for. ``untaken`` is what of the message
    that it answers was no answer to what is open.
    """

    agent: str = ""
    verb: str = ""
    after: str = ""
    narrates: bool = False
    untaken: Untaken | None = None


class Started(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The run exists: what it runs, on what input, for whom, and what it may do. ``depth`` is how
    many verb calls it is nested in.

    ``session`` and ``thread`` (0: none) are where in a conversation it belongs, "" outside of any.
    ``label``, ``grant`` and ``wording`` are None and "" in records of builds before them: the run's
    kind makes the label from the input, a child's grant is ``scope``, a root's what its kind
    grants, and the wording whichever its catalog names. ``runs`` is how many may be opened below
    it, children of children included: of a child its share of its parent's, which nothing else on
    record of it says; None of roots and of builds before it. ``profiled`` says by what the run
    decides which pinned profile holds, before it does anything; ``profile`` is what its parent
    decided. ``scopes`` are those of the token that asked for the root; None where that was the
    owner, and of builds before them. ``may_ask`` is whom the run may ask for what it may not do by
    itself; None: nobody, and of builds before it. ``consent`` is the yes that the call rests on
    which a child carries out. ``chain`` are the cards that its work was handed through, the one it
    works as last; ``root`` is the run at the root of a child, "" of builds before it.
    ``asks_again``: a call of whose end nobody knows is covered by no grant once more; not so in
    records of builds before. ``doubted`` are the digests of such calls that the run's parent knew
    of; None in records of builds before, which allow a call in doubt that needs nobody's yes.
    ``redoes``: a person is asked of such a call in doubt, where there is one to ask; not so in
    records of builds before, which deny it. ``reserves_apart``: the run's header tells tokens that
    were reserved apart from those that were used; of builds before as if they were among them.
    """

    flow: str
    flow_version: int
    catalog: str
    input: Raw
    workspace: str
    principal: str
    subject: str
    parent: str | None = None
    parent_addr: int | None = None
    index: int = 0
    depth: int = 0
    scope: tuple[str, ...] = ()
    deadline: int
    allowance: Spend
    keep_thoughts: bool = True
    session: str = ""
    thread: int = 0
    label: Label | None = None
    grant: CapabilityScope | None = None
    wording: str = ""
    runs: int | None = None
    scopes: tuple[TokenScope, ...] | None = None
    profiled: ProfiledBy | None = None
    profile: HeldProfile | None = None
    may_ask: MayAsk | None = None
    chain: tuple[str, ...] = ()
    root: str = ""
    consent: Consent | None = None
    asks_again: bool = False
    doubted: tuple[str, ...] | None = None
    redoes: bool = False
    reserves_apart: bool = False


class DecisionBody(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A local rule's decision: ``addr`` is ``effect/rule#k``; ``refs`` are seqs of the records its
    inputs came from.
    """

    addr: str
    outcome: Raw
    reason: str
    facts: Raw
    refs: tuple[int, ...] = ()


class ClaimBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A shared rule's decision, taken inside the write transaction that also made the change."""

    addr: int
    claim: Raw
    outcome: Raw
    reason: str
    facts: Raw


class IntentBody(Struct, frozen=True, gc=False, kw_only=True):
    """Effect number ``addr`` is about to go live."""

    addr: int
    effect: Raw


class ObservationBody(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What became of effect ``addr``. ``catalog`` is the current catalog's digest where it is not
    the pinned one.
    """

    addr: int
    result: Raw
    catalog: str = ""
    mail: int = 0


class DeliveredBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An interrupt reached the flow at effect ``addr``."""

    addr: int
    mail: int
    what: str
    by: str = ""
    why: str = ""


class ChildEndedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Child ``index`` of the join at ``addr`` has settled."""

    addr: int
    index: int
    child: str
    ended: Raw
    mail: int = 0


class SuspendedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run waits at effect ``addr`` and costs nothing; ``wake_at`` in microseconds where a timer
    runs.

    ``waits_for`` is children, approval, answer or timer; version 1 did not say (``unknown``).
    """

    addr: int
    waits_for: str
    wake_at: int | None = None


class ResumedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run goes on: after a stop, by whom and why; or after time that was not its own, ``by`` ""
    and ``why`` what became of it.

    ``lost_us`` is how much of the run's time was lost before this record, since the last one that
    says so (B-23).
    """

    by: str
    why: str
    lost_us: int = 0


class EndedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run has settled. The rendered header is kept here, so that it outlives erasure, and the
    ``verdict`` that opens it ("": it has none).

    The record's digest covers everything but ``result``, which may be swept; ``result_digest``
    (hex, keyed) covers that, and ``result`` stands last.
    """

    status: Status
    reason: str
    header: str
    verdict: str = ""
    result_digest: str = ""
    result: Raw = NULL


class FaultedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A bug in a flow or a rule: what broke and where, no values."""

    error: str
    where: str = ""


class NoteBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an operator did, with who and why."""

    by: str
    action: str
    why: str = ""
    details: Raw = NULL


Body = (
    Started
    | DecisionBody
    | ClaimBody
    | IntentBody
    | ObservationBody
    | DeliveredBody
    | ChildEndedBody
    | SuspendedBody
    | ResumedBody
    | EndedBody
    | FaultedBody
    | NoteBody
)

BODY_OF: dict[RecordKind, type[Body]] = {
    RecordKind.STARTED: Started,
    RecordKind.DECISION: DecisionBody,
    RecordKind.CLAIM: ClaimBody,
    RecordKind.INTENT: IntentBody,
    RecordKind.OBSERVATION: ObservationBody,
    RecordKind.DELIVERED: DeliveredBody,
    RecordKind.CHILD_ENDED: ChildEndedBody,
    RecordKind.SUSPENDED: SuspendedBody,
    RecordKind.RESUMED: ResumedBody,
    RecordKind.ENDED: EndedBody,
    RecordKind.FAULTED: FaultedBody,
    RecordKind.NOTE: NoteBody,
}
CURRENT_VERSION: dict[RecordKind, int] = {**dict.fromkeys(RecordKind, 1), RecordKind.SUSPENDED: 2}


def raw(value: object) -> Raw:
    """The value as raw JSON, in the journal's one encoding."""
    return Raw(ENCODER.encode(value))


ENCODER = msgspec.json.Encoder(order="deterministic")
