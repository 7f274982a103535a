"""``/sessions``: looking at conversations and their threads, and erasing them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.planner import Strict
from ordain.server.bodies import read
from ordain.server.documents import documented, shown
from ordain.server.examples import ERASE, SESSION_ITEM, SESSION_VIEW
from ordain.server.face import Face, Json
from ordain.server.operators import Why
from ordain.server.parameters import from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import IdPart, decoded
from ordain.server.shapes import Session, SessionPage
from ordain.server.views import session_item, session_view
from ordain.server.workspaces import Workspace

LIST_MAX = 500
PLACE = r"^[0-9]{1,18}-[0-9]{1,18}$"


class SessionErased(Strict):
    """What came of erasing a session."""

    session_id: str
    outcome: str = Field(description="erased, or already_erased.")
    records: int = Field(
        default=0, description="How many records and transcript entries were emptied."
    )


def sessions_router(face: Face) -> Resource:
    """Lists, one session, erasing. Ids stand percent-encoded in paths: a slash in an id is
    ``%2F``.
    """
    router = resource("conversation", prefix="/sessions")
    conversation = face.runtime.conversation

    @router.get("", **shown(SessionPage, example={"sessions": [SESSION_ITEM], "next": None}))
    async def list_sessions(
        limit: Annotated[int, from_query(ge=1, le=LIST_MAX)] = 50,
        before: Annotated[
            str | None,
            from_query(
                pattern=PLACE,
                description="Only sessions used before this one: `next` of the page before.",
            ),
        ] = None,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Sessions, the most recently used first."""
        rows = await conversation.sessions(workspace, limit=limit, before=before, named=named)
        return Json(
            SessionPage(
                sessions=[session_item(row) for row in rows],
                next=rows[-1].place if len(rows) == limit else None,
            )
        )

    @router.get("/{session}", **refusing(shown(Session, example=SESSION_VIEW), "session_not_found"))
    async def show_session(session: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """One session and its threads, those at work first."""
        row = await conversation.session(workspace, decoded(session))
        return Json(session_view(row, await conversation.threads(workspace, row.id)))

    @router.post(
        "/{session}/erase",
        **refusing(
            documented(Why, SessionErased, example=ERASE), "session_not_found", "not_at_rest"
        ),
    )
    async def erase_session(
        session: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Destroy the content of a session: its transcript, and everything its turns recorded.
        Headers and shapes stay, as may copies in unused parts of pages: `ordain store compact`.
        """
        given = await read(request, Why, face.body)
        row = await conversation.session(workspace, decoded(session))
        emptied = await face.runtime.operators.erase_session(
            row.id, by=face.by(request), why=given.why, workspace=workspace
        )
        outcome = "already_erased" if row.key is None else "erased"
        return Json(SessionErased(session_id=row.id, outcome=outcome, records=emptied).model_dump())

    return router
