"""The shapes of ``/approvals``: an approval as its approvers see it, and what they send (WFL-01,
B-27).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType, structs
from pydantic import Field, JsonValue

from ordain.contracts.approvals import WHY_CHARS, Subject, Tier
from ordain.contracts.conversation import Camel
from ordain.contracts.legible_text import name_text
from ordain.contracts.moments import moment
from ordain.contracts.planner import Strict
from ordain.contracts.text_links import TextLink, links_of, texts_of
from ordain.runtime.approval_words import exact, titled
from ordain.runtime.approvals import ApprovalState, ApprovalView
from ordain.runtime.grants import TTL_S_MAX, TTL_S_MIN
from ordain.runtime.tickets import ticket_of
from ordain.server.documents import documented, shown
from ordain.server.examples import RUN
from ordain.server.sent_json import as_recorded
from ordain.server.shapes import Hex, Moment, View

SubjectName = Annotated[
    str, Meta(extra_json_schema={"enum": [str(subject) for subject in Subject]})
]
TierName = Annotated[str, Meta(extra_json_schema={"enum": [str(tier) for tier in Tier]})]
StateName = Annotated[
    str, Meta(extra_json_schema={"enum": [str(state) for state in ApprovalState]})
]
USES_MAX = 1_000_000


class ApprovalItem(View, frozen=True):
    """An approval in a list. ``what`` is one line made by code, "" once the run's content is gone;
    ``expires_at`` goes by the wall clock.

    ``digest`` is what a decision has to send: the hash of exactly what is asked for. ``claimed_by``
    is who says that they look at it, while it is open: others may decide it all the same.
    """

    approval_id: str
    state: StateName
    subject: SubjectName
    tier: TierName
    what: str
    digest: Hex
    requester: str
    run_id: str
    root: str
    session_id: str | None
    thread_id: str | None
    workflow_id: str | None
    asked_at: Moment
    expires_at: Moment
    decided_at: Moment | None
    decided_by: str | None
    grant_id: str | None
    claimed_by: str | None
    claimed_at: Moment | None


class ExactCall(View, frozen=True):
    """A call that is asked for, with its exact arguments.

    ``shown`` are the same arguments for whoever looks at them, on one line of JSON: what controls,
    hides, shows nothing or is seen as another sign stands there as its number.
    """

    verb: str
    args: dict[str, Any]
    shown: str


class WhoMay(View, frozen=True):
    """Who may say yes: whoever has the scope ``approvals`` and all of these ``roles`` of policy,
    and (``not_requester``) is not who asked for the run.
    """

    scope: str
    roles: Sequence[str]
    not_requester: bool


class Approval(ApprovalItem, frozen=True):
    """An approval: what will happen in ``words`` of code, made of what the verbs declare, then the
    exact ``calls``.

    ``detail`` is what else the yes is bound to. ``links`` are the addresses in all of that, with
    whom they ask, absent where there are none; nothing of them is fetched here. ``origin_traced``
    is false: where the arguments come from is not traced. ``changed``: it may not be done any more,
    so that nobody can say yes to it, and ``changed_why`` says why. ``decided_why`` is what was said
    with the decision, as soon as the run has it on record; "" where nobody said why. Words and
    calls are empty once the run's content is gone. ``ticket`` is that of a review (subject
    ``review``): ticket_id, task_id, status, summary, assigned_to, sources, escalation_payload,
    notes.
    """

    words: str
    calls: Sequence[ExactCall]
    detail: dict[str, Any]
    origin_traced: bool
    who_may: WhoMay
    changed: bool
    changed_why: str
    decided_why: str
    ticket: dict[str, Any] | None
    links: Sequence[TextLink] | UnsetType = UNSET


class ApprovalPage(View, frozen=True):
    """Approvals, the latest first; ``next`` is what ``before`` asks the next page with, null where
    there is none.
    """

    approvals: Sequence[ApprovalItem]
    next: int | None


DigestText = Annotated[
    str,
    Field(min_length=1, max_length=128, description="What was looked at: the approval's `digest`."),
]
WhyText = Annotated[
    str,
    Field(
        max_length=WHY_CHARS, description="Why; it is told to the run, and kept with its content."
    ),
]


class GrantWith(Camel):
    """A grant to be given with a yes, for more calls of the same verbs by the same principal, to
    and about the same; never of what is destructive.
    """

    ttl_seconds: int = Field(ge=TTL_S_MIN, le=TTL_S_MAX, description="How long it stands.")
    uses: int | None = Field(
        default=None, ge=1, le=USES_MAX, description="For so many calls; null: until it expires."
    )
    any_target: bool = Field(
        default=False,
        description=(
            "To and about any other as well; without it those that the approved calls name."
        ),
    )
    reason: str = Field(default="", max_length=WHY_CHARS)


class Assent(Strict):
    """A yes to exactly what has this digest."""

    digest: DigestText
    why: WhyText = ""
    grant: GrantWith | None = None


class Denial(Strict):
    """A no to what has this digest."""

    digest: DigestText
    why: WhyText = ""


class OtherArguments(Strict):
    """What is proposed instead: all arguments of the one call."""

    args: dict[str, JsonValue] = Field(max_length=200)


class ClaimGiven(Strict):
    """That one looks at it."""

    take_over: bool = Field(
        default=False, description="Also where somebody else does: in their place."
    )


class ClaimReleased(Strict):
    """That one looks at it no longer."""


SHAPES = (
    ApprovalItem,
    Approval,
    ApprovalPage,
    Assent,
    Denial,
    OtherArguments,
    ClaimGiven,
    ClaimReleased,
)
_AT, _DIGEST = "2026-01-05T08:00:00.000000+00:00", "5f" * 32
ITEM_EXAMPLE: dict[str, Any] = {
    "approval_id": "7c" * 16,
    "state": "open",
    "subject": "call",
    "tier": "write",
    "what": "mail.send",
    "digest": _DIGEST,
    "requester": "token:web",
    "run_id": RUN,
    "root": RUN,
    "session_id": "web:ada",
    "thread_id": "1",
    "workflow_id": None,
    "asked_at": _AT,
    "expires_at": "2026-01-06T08:00:00.000000+00:00",
    "decided_at": None,
    "decided_by": None,
    "grant_id": None,
    "claimed_by": None,
    "claimed_at": None,
}
_WORDS = (
    "mail.send sends something to others, or changes something elsewhere.\n"
    '  to (recipient): "ada@example.org"'
)
APPROVAL_EXAMPLE: dict[str, Any] = {
    **ITEM_EXAMPLE,
    "words": _WORDS,
    "calls": [
        {
            "verb": "mail.send",
            "args": {"to": ["ada@example.org"]},
            "shown": '{"to":["ada@example.org"]}',
        }
    ],
    "detail": {},
    "origin_traced": False,
    "who_may": {"scope": "approvals", "roles": [], "not_requester": False},
    "changed": False,
    "changed_why": "",
    "decided_why": "",
    "ticket": None,
}
_DECIDED = {**APPROVAL_EXAMPLE, "decided_at": _AT, "decided_by": "token:ops"}
_YES = {"digest": _DIGEST, "why": "the invoice is right", "grant": {"ttlSeconds": 3600, "uses": 5}}
PAGE = shown(ApprovalPage, example={"approvals": [ITEM_EXAMPLE], "next": None})
YES = documented(
    Assent,
    Approval,
    example=_YES,
    answer={**_DECIDED, "state": "approved", "decided_why": _YES["why"]},
)
NO = documented(
    Denial,
    Approval,
    example={"digest": _DIGEST, "why": "wrong address"},
    answer={**_DECIDED, "state": "denied", "decided_why": "wrong address"},
)
INSTEAD = documented(
    OtherArguments,
    Approval,
    example={"args": {"subject": "Tea at four", "to": ["ben@example.org"]}},
    answer={**_DECIDED, "state": "superseded"},
)
CLAIM = documented(
    ClaimGiven,
    Approval,
    example={"take_over": False},
    answer={**APPROVAL_EXAMPLE, "claimed_by": "token:ops", "claimed_at": _AT},
)
RELEASE = documented(ClaimReleased, Approval, example={}, answer=APPROVAL_EXAMPLE)
DECIDING = (
    "approval_not_found",
    "already_decided",
    "approval_expired",
    "not_an_approver",
    "own_request",
    "approver_unknown",
)
RELEASING = DECIDING[:4]


def item_of(view: ApprovalView) -> dict[str, Any]:
    """The fields of an approval in a list."""
    row = view.row
    return {
        "approval_id": row.id,
        "state": row.state,
        "subject": row.subject,
        "tier": row.tier,
        "what": "" if view.asked is None else titled(view.asked, view.before),
        "digest": row.digest,
        "requester": name_text(view.requester) if view.requester else "",
        "run_id": row.run,
        "root": row.root,
        "session_id": row.session or None,
        "thread_id": str(row.thread) if row.thread else None,
        "workflow_id": row.workflow or None,
        "asked_at": moment(row.asked_at),
        "expires_at": moment(row.expires_at),
        "decided_at": moment(row.decided_at) if row.decided_at else None,
        "decided_by": name_text(row.decided_by) if row.decided_by else None,
        "grant_id": row.grant or None,
        "claimed_by": name_text(row.in_review_by) if row.in_review_by else None,
        "claimed_at": moment(row.claimed_at) if row.in_review_by else None,
    }


async def approval_of(view: ApprovalView) -> Approval:
    """An approval as its approver sees it; arguments are exact, as JSON has them, and beside that
    as they are to be looked at.

    To spell out all that a record can hold takes so long that it is done beside the loop, which
    others wait for.
    """
    ticket = ticket_of(view)
    detail = {} if view.asked is None else _plain(view.asked.detail)
    filed = None if ticket is None else _plain(structs.asdict(ticket))
    calls, links = await asyncio.to_thread(_exact, view, [detail, filed])
    return Approval(
        **item_of(view),
        words=view.words,
        calls=calls,
        detail=as_recorded(detail),
        links=links or UNSET,
        origin_traced=False,
        who_may=WhoMay(scope="approvals", roles=view.roles, not_requester=view.not_requester),
        changed=bool(view.void),
        changed_why=view.void,
        decided_why=view.why,
        ticket=filed,
    )


def _exact(view: ApprovalView, beside: list[Any]) -> tuple[list[ExactCall], list[TextLink]]:
    """The calls, and the links of their arguments and of what stands beside them."""
    calls = [
        ExactCall(verb=call.verb, args=as_recorded(call.args), shown=exact(call))
        for call in view.calls
    ]
    return calls, links_of(texts_of([*(call.args for call in view.calls), *beside]))


def _plain(detail: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(detail)
    return found
