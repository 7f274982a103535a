"""``/approvals``: what waits for somebody's yes, what exactly that is, and giving it (WFL-01,
B-27).
"""

from __future__ import annotations

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.conversation import SESSION_ID
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.nearest import did_you_mean
from ordain.errors import InvalidRequest
from ordain.runtime.approvals import PAGE_MAX, ApprovalState, ApproverWord, GrantWanted
from ordain.server.approval_shapes import (
    APPROVAL_EXAMPLE,
    CLAIM,
    DECIDING,
    INSTEAD,
    NO,
    PAGE,
    RELEASE,
    RELEASING,
    YES,
    Approval,
    ApprovalItem,
    ApprovalPage,
    Assent,
    ClaimGiven,
    ClaimReleased,
    Denial,
    OtherArguments,
    approval_of,
    item_of,
)
from ordain.server.bodies import read
from ordain.server.documents import shown
from ordain.server.face import Face, Json
from ordain.server.parameters import MadeParameter, from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import SEQ_MAX, IdPart
from ordain.server.workspaces import Workspace


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

    @router.get("", **refusing(PAGE, "unknown_state"))
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
