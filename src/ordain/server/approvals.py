"""``/approvals``: what waits for somebody's yes, what exactly that is, and giving it (WFL-01,
B-27).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs
from pydantic import Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.approvals import WHY_CHARS, Subject, Tier
from ordain.contracts.conversation import SESSION_ID, Camel
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.legible_text import name_text
from ordain.contracts.moments import moment
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.planner import Strict
from ordain.errors import InvalidRequest
from ordain.runtime.approval_words import exact, titled
from ordain.runtime.approvals import (
    PAGE_MAX,
    ApprovalState,
    ApprovalView,
    ApproverWord,
    GrantWanted,
)
from ordain.runtime.grants import TTL_S_MAX, TTL_S_MIN
from ordain.runtime.tickets import ticket_of
from ordain.server.bodies import read
from ordain.server.documents import documented, shown
from ordain.server.examples import RUN
from ordain.server.face import Face, Json
from ordain.server.parameters import MadeParameter, from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import SEQ_MAX, IdPart
from ordain.server.sent_json import as_recorded
from ordain.server.shapes import Hex, Moment, View
from ordain.server.workspaces import Workspace

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

    ``detail`` is what else the yes is bound to. ``origin_traced`` is false: where the arguments
    come from is not traced. ``changed``: it may not be done any more, so that nobody can say yes to
    it, and ``changed_why`` says why. ``decided_why`` is what was said with the decision, as soon as
    the run has it on record; "" where nobody said why. Words and calls are empty once the run's
    content is gone. ``ticket`` is that of a review (subject ``review``): ticket_id, task_id,
    status, summary, assigned_to, sources, escalation_payload, notes.
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
_ITEM: dict[str, Any] = {
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
    **_ITEM,
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
    calls, ticket = await asyncio.to_thread(_exact, view), ticket_of(view)
    return Approval(
        **item_of(view),
        words=view.words,
        calls=calls,
        detail={} if view.asked is None else as_recorded(_plain(view.asked.detail)),
        origin_traced=False,
        who_may=WhoMay(scope="approvals", roles=view.roles, not_requester=view.not_requester),
        changed=bool(view.void),
        changed_why=view.void,
        decided_why=view.why,
        ticket=None if ticket is None else _plain(structs.asdict(ticket)),
    )


def _exact(view: ApprovalView) -> list[ExactCall]:
    return [
        ExactCall(verb=call.verb, args=as_recorded(call.args), shown=exact(call))
        for call in view.calls
    ]


def _plain(detail: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(detail)
    return found


def _states(
    state: Annotated[
        list[str] | None,
        from_query(description="Only these; several, or separated by commas. Absent: `open`."),
    ] = None,
    every: Annotated[bool, from_query(alias="all", description="In whatever state.")] = False,
) -> tuple[ApprovalState, ...]:
    """The states that are asked for; none of them: any."""
    asked = [one for part in state or () for one in part.split(",") if one]
    known = {str(one) for one in ApprovalState}
    if any(one not in known for one in asked):
        meant = next((did_you_mean(one, known) for one in asked if one not in known), "")
        raise InvalidRequest(
            f"state is one of {', '.join(sorted(known))}{meant}", code="unknown_state"
        )
    return () if every else tuple(map(ApprovalState, asked)) or (ApprovalState.OPEN,)


def approvals_router(face: Face) -> Resource:
    """The approvers' routes."""
    router = resource("approvals", prefix="/approvals")
    runtime = face.runtime

    @router.get(
        "",
        **refusing(
            shown(ApprovalPage, example={"approvals": [_ITEM], "next": None}), "unknown_state"
        ),
    )
    async def list_approvals(
        states: Annotated[tuple[ApprovalState, ...], MadeParameter(_states)],
        session: Annotated[
            str | None,
            from_query(pattern=SESSION_ID, description="Only what runs of this session ask for."),
        ] = None,
        limit: Annotated[int, from_query(ge=1, le=PAGE_MAX)] = 50,
        before: Annotated[
            int | None,
            from_query(
                ge=0, le=SEQ_MAX, description="The page after this one: `next` of the page before."
            ),
        ] = None,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """What waits for somebody's yes, the latest first; or what was decided."""
        found = await runtime.approvals.listed(
            workspace, states=states, session=session or "", limit=limit, before=before, named=named
        )
        items = [ApprovalItem(**item_of(view)) for view in found]
        return Json(
            ApprovalPage(approvals=items, next=found[-1].row.place if len(found) == limit else None)
        )

    @router.get(
        "/{approval}", **refusing(shown(Approval, example=APPROVAL_EXAMPLE), "approval_not_found")
    )
    async def show_approval(approval: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """One approval: what will happen, the exact arguments, who may say yes and until when."""
        return Json(await approval_of(await runtime.approvals.one(workspace, approval)))

    @router.post(
        "/{approval}/approve",
        **refusing(
            YES, *DECIDING, "approval_stale", "not_grantable", "invalid_grant", "unknown_verb"
        ),
    )
    async def approve(
        approval: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Say yes, once, to exactly what has the digest; durable when this answers, and the run
        goes on. With ``grant``, to more such calls.
        """
        given = await read(request, Assent, face.body)
        grant = None
        if given.grant is not None:
            wanted = given.grant
            grant = GrantWanted(
                ttl_s=wanted.ttl_seconds,
                uses=wanted.uses,
                any_target=wanted.any_target,
                reason=wanted.reason,
            )
        word = ApproverWord(approve=True, digest=given.digest, why=given.why, grant=grant)
        return Json(
            await approval_of(
                await runtime.approvals.decide(workspace, approval, word, face.decides(request))
            )
        )

    @router.post("/{approval}/deny", **refusing(NO, *DECIDING, "approval_stale"))
    async def deny(
        approval: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Say no: what waits ends without doing it."""
        given = await read(request, Denial, face.body)
        word = ApproverWord(approve=False, digest=given.digest, why=given.why)
        return Json(
            await approval_of(
                await runtime.approvals.decide(workspace, approval, word, face.decides(request))
            )
        )

    @router.post(
        "/{approval}/resubmit",
        **refusing(
            INSTEAD,
            *DECIDING,
            "approval_stale",
            "not_resubmittable",
            "same_args",
            "invalid_args",
            "args_too_large",
        ),
    )
    async def resubmit(
        approval: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Propose other arguments for the one call: the run asks anew for exactly these, and this
        approval is superseded.
        """
        given = await read(request, OtherArguments, face.body)
        return Json(
            await approval_of(
                await runtime.approvals.resubmit(
                    workspace, approval, given.args, face.decides(request)
                )
            )
        )

    _add_claims(router, face)
    return router


def _add_claims(router: Resource, face: Face) -> None:
    runtime = face.runtime

    @router.post(
        "/{approval}/claim", **refusing(CLAIM, *DECIDING, "approval_stale", "already_claimed")
    )
    async def claim(
        approval: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Say that you look at it: a sign to other approvers, which grants nothing and keeps nobody
        from deciding. It ends with the approval.
        """
        given = await read(request, ClaimGiven, face.body)
        return Json(
            await approval_of(
                await runtime.approvals.claim(
                    workspace, approval, face.decides(request), take_over=given.take_over
                )
            )
        )

    @router.post("/{approval}/release", **refusing(RELEASE, *RELEASING, "not_claimed"))
    async def release(
        approval: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Say that you look at it no longer."""
        await read(request, ClaimReleased, face.body)
        return Json(
            await approval_of(
                await runtime.approvals.release(workspace, approval, face.decides(request))
            )
        )
