"""What holds each column of the store's tables to what was written: the law that a new column has
to be put under.

``LEDGER``: the ledger's items or rows. ``CHAIN``: digests and links of a journal or transcript.
``DERIVED``: it repeats what is under one of those, and is compared. What is under none is
``Unseen``: whatever it says, no face that tells what happened says anything else, nor in another
order; with the reason why. Or it is ``Apart``: a face of its own shows it, as something that is so
now and no record of what happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Held(Enum):
    """What a changed value is found by."""

    LEDGER = "ledger"
    CHAIN = "chain"
    DERIVED = "derived"


@dataclass(frozen=True)
class Unseen:
    """Nobody can see it: why."""

    why: str


@dataclass(frozen=True)
class Apart:
    """It is no record of what happened: why. ``faces`` are the addresses that show it."""

    why: str
    faces: tuple[str, ...]


LEDGER, CHAIN, DERIVED = Held.LEDGER, Held.CHAIN, Held.DERIVED
LEASE = Unseen(
    "who drives a run now: each start writes it anew, and a wrong one is fenced, not believed"
)
CLOCK = Unseen(
    "when an engine was at work, for the time that runs lose; what a run lost stands in its journal"
)
PROGRESS = Unseen(
    "how far housekeeping got; gone, it begins anew. What it destroyed is on the ledger"
)
NUMBER = Unseen(
    "a row's own number, which keeps rows together in the file; their order is that of a column "
    "under the ledger or a chain"
)
OUTBOX = Unseen(
    "nothing delivers or shows it; the words stand in the run's record and its transcript"
)
SAID = Unseen("an engine's own note, read by the next")
FINDING = Apart(
    "what finds what is remembered, made from its words: it tells how near they are to a "
    "question, and how many there are",
    ("/docs", "/memory", "/docs/"),
)
ACCESS = Apart(
    "who may come in, and no record of what happened: restoring revokes it",
    ("/tokens", "/tokens/audit"),
)

COLUMNS: dict[str, dict[str, Held | Unseen | Apart]] = {
    "ledger": dict.fromkeys(("no", "items", "chain"), LEDGER),
    "engine": dict.fromkeys(("one", "epoch", "holder", "since"), LEASE),
    "subjects": {
        "no": DERIVED,
        "workspace": DERIVED,
        "id": LEDGER,
        "key": CHAIN,
        "erased_at": LEDGER,
    },
    "runs": {
        **dict.fromkeys(
            (
                "id",
                "parent",
                "parent_addr",
                "child",
                "root",
                "workspace",
                "session",
                "thread",
                "subject",
            ),
            LEDGER,
        ),
        **dict.fromkeys(
            (
                "flow",
                "flow_version",
                "catalog",
                "created_at",
                "status",
                "reason",
                "ended_at",
                "head_seq",
            ),
            LEDGER,
        ),
        **dict.fromkeys(("resumes", "resumes_at"), LEDGER),
        "wake_at": DERIVED,
        "no": DERIVED,
        **dict.fromkeys(("epoch", "holder"), LEASE),
    },
    "records": {
        **dict.fromkeys(("seq", "kind", "name", "v", "at", "digest", "chain", "body"), CHAIN),
        "run": CHAIN,
        "reason": DERIVED,
        "pos": NUMBER,
        "payload": Unseen(
            "a body that lies apart; of a row with a body of its own nobody reads it. Held to the "
            "record where it is read"
        ),
    },
    "sheets": {"pos": NUMBER, "run": CHAIN, "seq": CHAIN, "settled": DERIVED, "records": CHAIN},
    "payloads": {
        **dict.fromkeys(("id", "workspace", "subject", "class", "digest"), DERIVED),
        "bytes": CHAIN,
        "erased_at": Unseen("when its bytes went, for nobody: that they went is on the ledger"),
    },
    "mailbox": {
        **dict.fromkeys(("id", "run", "kind", "addr", "key", "body", "at"), LEDGER),
        "taken": DERIVED,
    },
    "requests": dict.fromkeys(("workspace", "request_id", "digest", "run"), LEDGER),
    "catalogs": dict.fromkeys(("digest", "bytes"), CHAIN),
    "accounts": dict.fromkeys(("workspace", "name", "tokens", "usd_micros"), LEDGER),
    "outbox": dict.fromkeys(("id", "run", "addr", "text", "at", "delivered_at"), OUTBOX),
    "sessions": {
        **dict.fromkeys(
            ("workspace", "id", "subject", "generation", "head", "chain", "threads", "active"),
            LEDGER,
        ),
        **dict.fromkeys(("channel", "user", "created_at", "last_at"), LEDGER),
        "no": DERIVED,
    },
    "threads": dict.fromkeys(
        ("session", "id", "status", "intent", "run", "asked", "slots", "last_error", "touched_at"),
        LEDGER,
    ),
    "turns": {
        **dict.fromkeys(("run", "id", "session", "thread", "state"), DERIVED),
        "counts": Unseen(
            "whether a turn takes up room in its session while it is at work; what was decided by "
            "it stands in the decision's facts"
        ),
    },
    "transcript": {
        **dict.fromkeys(
            (
                "session",
                "seq",
                "kind",
                "at",
                "thread",
                "run",
                "channel",
                "message_id",
                "edits",
                "timestamp_ms",
            ),
            CHAIN,
        ),
        **dict.fromkeys(
            (
                "attached",
                "reason",
                "anchor",
                "size",
                "through",
                "author",
                "digest",
                "chain",
                "body",
            ),
            CHAIN,
        ),
        "decision": CHAIN,
        "marks": CHAIN,
        "subject": DERIVED,
        "no": NUMBER,
    },
    "approvals": {
        **dict.fromkeys(
            (
                "id",
                "workspace",
                "run",
                "root",
                "addr",
                "session",
                "thread",
                "subject",
                "tier",
                "digest",
                "workflow",
            ),
            LEDGER,
        ),
        **dict.fromkeys(
            (
                "asked_at",
                "expires_at",
                "state",
                "decided_at",
                "decided_by",
                "granted",
                "claimed_by",
                "claimed_at",
            ),
            LEDGER,
        ),
        "no": DERIVED,
    },
    "grants": {
        **dict.fromkeys(
            (
                "id",
                "workspace",
                "principal",
                "expires_at",
                "uses_left",
                "revoked_at",
                "body",
                "content",
            ),
            LEDGER,
        ),
        "subject": DERIVED,
        "no": DERIVED,
    },
    "erasures": dict.fromkeys(
        ("subject", "at"),
        Unseen(
            "what is left to do of an erasure, of which no face shows anything once its key is "
            "destroyed"
        ),
    ),
    "sweeps": dict.fromkeys(("class", "ended_at", "run", "seq"), PROGRESS),
    "probes": dict.fromkeys(("one", "at"), SAID),
    "beats": dict.fromkeys(("one", "at"), CLOCK),
    "pauses": dict.fromkeys(("no", "began", "ended"), CLOCK),
    "items": {
        **dict.fromkeys(
            (
                "no",
                "workspace",
                "id",
                "kind",
                "state",
                "title",
                "theme",
                "mood",
                "tags",
                "media_type",
                "trust",
                "author",
            ),
            LEDGER,
        ),
        **dict.fromkeys(
            (
                "source",
                "session",
                "run",
                "subject",
                "key",
                "digest",
                "size",
                "pages",
                "passages",
                "created_at",
            ),
            LEDGER,
        ),
        **dict.fromkeys(("removed_at", "removed_by", "seal"), LEDGER),
        "words": Unseen(
            "where an addition goes on from; of what is whole it is made anew from its passages"
        ),
    },
    "passages": dict.fromkeys(
        ("no", "item", "seq", "page", "start", "stop", "heading", "text"), LEDGER
    ),
    "vectors": dict.fromkeys(
        ("no", "workspace", "embedder", "passage", "dimension", "vector"), FINDING
    ),
    "library": {"workspace": FINDING, "passages": DERIVED, "removals": FINDING},
    "word_indexes": dict.fromkeys(("no", "workspace", "deletions", "merging", "merged"), FINDING),
    "configuration": dict.fromkeys(
        ("place", "resource", "id", "version", "config", "by", "at"), LEDGER
    ),
    "tokens": dict.fromkeys(
        (
            "no",
            "name",
            "scopes",
            "workspaces",
            "rate",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
        ),
        ACCESS,
    ),
    "token_secrets": dict.fromkeys(("id", "token", "digest", "created_at", "ends_at"), ACCESS),
    "token_audit": dict.fromkeys(
        (
            "no",
            "day",
            "event",
            "token",
            "asked",
            "reason",
            "by",
            "address",
            "first_at",
            "last_at",
            "count",
        ),
        ACCESS,
    ),
}
"""By table and column."""
WHILE: dict[str, str] = {
    "mailbox": "taken IS NULL",
    "transcript": "marks IS NOT NULL",
    "items": "state = 'kept'",
    "passages": "item IN (SELECT no FROM items WHERE state = 'kept')",
}
"""Of which rows that is so, where it is not of all: what was taken, the record that took it says;
links of the first version cover less; of what is no longer remembered the words are gone.
"""
