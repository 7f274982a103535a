"""``POST /plan/react``: one goal, worked on by one ReAct loop (PLN-06)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.contracts.planner import PlannerRequest, PlannerResponse
from ordain.runtime.run_view import RunView
from ordain.server.bodies import read
from ordain.server.documents import PLAN_ANSWER, PLAN_REQUEST, documented
from ordain.server.face import Face, outcome, prefers_async
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.views import sent
from ordain.server.workspaces import Workspace

PLAN = documented(
    PlannerRequest, PlannerResponse, example=PLAN_REQUEST, answer=PLAN_ANSWER, accepts=True
)


def plan_router(face: Face) -> Resource:
    """The planner's route."""
    router = resource("plan")

    def answered(view: RunView) -> Mapping[str, Any]:
        return sent(face.runtime, view, face.runtime.response(view, PlannerRequest))

    @router.post(
        "/plan/react",
        **refusing(
            PLAN,
            "request_id_reused",
            "run_unreadable",
            "busy",
            "invalid_schema",
            "schema_too_large",
            "toolset_too_large",
        ),
    )
    async def plan_react(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Work on one goal until there is an answer, or say exactly why there is none.

        The same ``request_id`` with the same body names the same run. ``Prefer: respond-async``
        answers 202 with the run's address; such a run may wait for an approval, any other is
        refused what needs one (`approval_not_available`).
        """
        given = await read(request, PlannerRequest, face.body)
        accepted = await face.runtime.accept(
            given, face.asks(request), WorkspaceId(workspace), waits=prefers_async(request)
        )
        return await outcome(face, request, accepted, answered)

    return router
