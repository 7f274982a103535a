"""The shapes of what the face answers with, beside the contracts: the published schemas are made
from them, and nothing else is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from ordain.contracts.events import DurableEvent
from ordain.contracts.text_links import TextLink
from ordain.contracts.verdict import RunVerdict
from ordain.runtime.door import RecordKind, Status

Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
StatusName = Annotated[str, Meta(extra_json_schema={"enum": [str(status) for status in Status]})]
KindName = Annotated[str, Meta(extra_json_schema={"enum": [str(kind) for kind in RecordKind]})]
VerdictName = Annotated[
    str, Meta(extra_json_schema={"enum": [str(verdict) for verdict in RunVerdict]})
]
Hex = Annotated[str, Meta(pattern="^[0-9a-f]*$")]


class View(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shape of an answer, in snake_case."""


class CamelView(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A shape of the conversation's answers, whose own spelling is camelCase (B-12)."""


class RunItem(View, frozen=True):
    """A run in a list; ``principal`` asked for it, and ``words`` are the first of what was asked,
    both "" once erased.
    """

    run_id: str
    flow: str
    status: StatusName
    reason: str
    parent: str | None
    root: str
    records: int
    created_at: Moment
    ended_at: Moment | None
    wake_at: Moment | None
    principal: str
    words: str


class RunPage(View, frozen=True):
    """Runs, newest first; ``next`` is what ``before`` asks the next page with, null where there is
    none.
    """

    runs: Sequence[RunItem]
    next: str | None


class PriceTier(View, frozen=True):
    """What a call costs whose prompt has more than ``above_tokens``."""

    above_tokens: int
    usd_micros_per_1k_input: int
    usd_micros_per_1k_output: int


class ModelItem(View, frozen=True):
    """A model profile: the lanes behind which it stands, and its prices in micro-dollars per 1,000
    tokens with their day.
    """

    name: str
    provider: str
    model: str
    structured: str
    lanes: Sequence[str]
    usd_micros_per_1k_input: int
    usd_micros_per_1k_output: int
    tiers: Sequence[PriceTier]
    priced_on: str | None


class ModelList(View, frozen=True):
    """Model profiles, by name."""

    models: Sequence[ModelItem]


class CostSum(View, frozen=True):
    """Attempts at model calls, added up. ``tokens`` and ``usd_micros`` are what was booked: of a
    lost attempt, all that was reserved.

    ``estimated`` attempts had no token counts of the provider's; ``failures`` are attempts by
    error; ``models`` is who answered.
    """

    key: str
    attempts: int
    failed: int
    estimated: int
    input_tokens: int
    output_tokens: int
    tokens: int
    usd_micros: int
    failures: Mapping[str, int]
    models: Sequence[str]


class Costs(View, frozen=True):
    """What model calls came to.

    ``complete`` is false where the journal holds more runs than are read in one go; ``since`` then
    is later than was asked.
    """

    workspace: str
    by: str
    since: Moment
    until: Moment
    complete: bool
    runs: int
    unreadable_runs: int
    erased_attempts: int
    total: CostSum
    groups: Sequence[CostSum]


class JournalBytes(View, frozen=True):
    """What a run's journal takes."""

    records: int
    payloads: int


class Run(View, frozen=True):
    """A run: where it stands, its header, the verdict that opens it (null while it is at work, and
    of runs recorded without one), and once it rests ``response``: the body that its caller gets.

    ``waits_for_stopped`` are the runs below it that have stopped: it waits until somebody resumes
    or cancels them. ``links`` are the addresses in what the header quotes, absent where there are
    none; ``response`` has its own.
    """

    run_id: str
    flow: str
    flow_version: int
    status: StatusName
    reason: str
    at_rest: bool
    erased: bool
    parent: str | None
    root: str
    workspace: str
    session_id: str | None
    thread_id: str | None
    catalog: str
    records: int
    journal_bytes: JournalBytes
    resumes: int
    waiting_at: int | None
    waits_for_stopped: Sequence[str]
    unknown_effects: Sequence[int]
    created_at: Moment
    ended_at: Moment | None
    wake_at: Moment | None
    header: str
    verdict: VerdictName | None
    response: Any
    links: Sequence[TextLink] | UnsetType = UNSET


class RunBelowItem(View, frozen=True):
    """A run below another one, ``depth`` deep. What it cost is with all that is below it; ``verb``
    is the call that it carries out, "" of none.
    """

    run_id: str
    depth: int
    flow: str
    verb: str
    status: str
    reason: str
    verdict: str
    model_calls: int
    verb_calls: int
    tokens: int
    usd_micros: int
    duration_ms: int


class RunTreeView(View, frozen=True):
    """The runs below a run, each before what is below it; ``whole``: none was left out, and all can
    be read.
    """

    run_id: str
    runs: Sequence[RunBelowItem]
    whole: bool


class JournalRecord(View, frozen=True):
    """A record as stored; ``body`` is null once erased."""

    seq: int
    kind: KindName
    name: str
    v: int
    at: Moment
    digest: Hex
    chain: Hex
    body: Raw | None


class Journal(View, frozen=True):
    """Everything that a run's journal holds, in order. ``raw_cortex`` is what it and the runs below
    it replied as prompt-plan verbs, by run, cut at 4 KiB; {} unless ``debug`` is asked for.
    """

    run_id: str
    flow: str
    catalog: str
    status: StatusName
    records: Sequence[JournalRecord]
    raw_cortex: Mapping[str, str]


class Rest(View, frozen=True):
    """The last event of a run's stream: it rests."""

    status: StatusName
    reason: str


class SessionItem(CamelView, frozen=True):
    """A session in a list; ``words`` are the first that were said in it, "" once erased."""

    session_id: str
    channel: str
    user_id: str
    head: int
    open_turns: int
    erased: bool
    created_at: Moment
    last_activity_at: Moment
    words: str


class SessionPage(View, frozen=True):
    """Sessions, the most recently used first; ``next`` is what ``before`` asks the next page with,
    null where there is none.
    """

    sessions: Sequence[SessionItem]
    next: str | None


class PendingQuestion(CamelView, frozen=True):
    """What a thread waits for."""

    key: str
    expected_type: str
    asked_at_message_id: str


class InFlight(CamelView, frozen=True):
    """The turn of a thread that is going on, and those behind it."""

    run_id: str
    queued: Sequence[str]


class AwaitingApproval(CamelView, frozen=True):
    """The approval that a thread waits for (C5): the workflow that proposes it, null where none
    does, and the entry that asks.
    """

    approval_id: str
    workflow_id: str | None
    proposed_at_message_id: str


class Thread(CamelView, frozen=True):
    """A micro-thread (C5)."""

    thread_id: str
    intent: str
    slots: dict[str, Any]
    status: str
    pending_question: PendingQuestion | None
    awaiting_approval: AwaitingApproval | None
    in_flight: InFlight | None
    last_error: dict[str, Any] | None
    last_activity_at: Moment
    summary: str


class Session(SessionItem, frozen=True):
    """A session and its threads, those at work first (C5)."""

    workspace: str
    active_thread_id: str | None
    threads: Sequence[Thread]


class Transcript(View, frozen=True):
    """Entries of a session in order; ``next`` is what ``after`` asks the next page with, null at
    the end.
    """

    entries: Sequence[DurableEvent]
    next: int | None


class Health(View, frozen=True):
    """The process answers; ``instance`` tells servers apart."""

    status: str
    version: str
    instance: str
    verb_problems: int
    verb_warnings: int
    verbs_unconfirmed: int


class Ready(View, frozen=True):
    """Runs are accepted."""

    status: str
    checks: dict[str, bool]


class SchemaNames(View, frozen=True):
    """The published contracts."""

    schemas: Sequence[str]


class JsonSchema(Struct, frozen=True, kw_only=True):
    """A contract as JSON Schema (2020-12)."""

    dialect: str = field(name="$schema")


class SocketAccepted(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event", tag="accepted"
):
    """A frame to a WebSocket's client: the message is durable."""

    session_id: str
    seq: int
    message_id: str
    duplicate: bool


class SocketRefused(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event", tag="refused"
):
    """A frame to a WebSocket's client: nothing came of the message; the socket stays open."""

    message_id: str | None
    problem: Annotated[
        dict[str, Any], Meta(extra_json_schema={"$ref": "#/components/schemas/Problem"})
    ]


class Begun(View, frozen=True):
    """A request that nobody waits for: its run, and where its outcome will be."""

    run_id: str
    location: str
