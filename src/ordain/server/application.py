"""The app: every router, the guard in front and the problems behind."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from ordain import __version__
from ordain.server import operators
from ordain.server.approvals import SHAPES as APPROVALS
from ordain.server.approvals import approvals_router
from ordain.server.arrival import HeadAsGet, InTime
from ordain.server.cards import CardList, CardView, cards_router
from ordain.server.documents import component_schemas, schemas_router
from ordain.server.face import Face
from ordain.server.gateway import gateway_router
from ordain.server.grants import SHAPES as GRANTS
from ordain.server.grants import grants_router
from ordain.server.guard import Guard
from ordain.server.health import health_router
from ordain.server.library import SHAPES, library_router
from ordain.server.loopback import HostGuard
from ordain.server.messages import messages_router
from ordain.server.metrics import metrics_router
from ordain.server.models import models_router
from ordain.server.openai import OpenAIErrors, openai_router
from ordain.server.openai.routes import SHAPES as OPENAI
from ordain.server.openapi import completed
from ordain.server.operators import operators_router
from ordain.server.plan import plan_router
from ordain.server.problems import install
from ordain.server.resource import operation_id, take_routes
from ordain.server.runs import runs_router
from ordain.server.segments import SegmentsAsSent
from ordain.server.sessions import SessionErased, sessions_router
from ordain.server.socket import socket_router
from ordain.server.tokens import AuditPage, TokenList, tokens_router
from ordain.server.transcripts import transcripts_router
from ordain.server.verbs import VerbChoice, VerbList, VerbsReloaded, VerbView, verbs_router
from ordain.server.workflows import WorkflowList, WorkflowView, workflows_router

ABOUT = """Models propose, code ordains.

Refusals are RFC 9457 problem+json with a stable `code`; an accepted request's outcome is 200 with the source's own body.

**Access.** On loopback no token is asked for, unless the settings say so; beyond it every request but `GET /health` needs
`Authorization: Bearer ordain_…` (401 `unauthenticated`), with the scope that the operation names and in a workspace of the token's (403
`forbidden`), as often as its rate permits (429 `rate_limited`). A WebSocket may bring the token as subprotocol `ordain.bearer.TOKEN` beside
`ordain`. A token in an address is refused: 400 `token_in_query`.

**Conversation.** `POST /messages` takes the canonical message; `POST /api/chat` and `POST /v1/cortex/chat` take the sources' shapes. All end in
the same intake: a message is acknowledged once it is durable, and it has exactly one consequence. `GET /sessions/{session}/events` streams what
follows from it.

**WebSocket.** `GET /ws?session=&after=&workspace=` speaks with one session: `session`, else the one that the first frame names, else a new one.
Each text frame to the server is the payload of `POST /api/chat` (`HubChat`). It is answered with `SocketAccepted` once it is durable, or with
`SocketRefused`, after which the socket stays open (too many malformed frames in a row close it: 1008). Between these come the session's events
(`SessionEvent`) after entry `after`, as on `/sessions/{session}/events`: those with a `seq` are durable, and a client that reconnects with `after=` the last one it saw misses nothing. A server that stops closes with 1012.

**Workspaces.** The header `Ordain-Workspace` (default `default`) says which workspace a request is in. What belongs to another one is 404; one that the
token does not belong to is 403. Without the header a token of one workspace is in that one."""


class Application(FastAPI):
    """FastAPI whose published schema includes the bodies that the routes read by themselves."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            own = (
                operators.Why,
                operators.Resolution,
                operators.Answer,
                operators.Done,
                SessionErased,
                VerbView,
                VerbChoice,
                VerbList,
                VerbsReloaded,
                WorkflowList,
                WorkflowView,
                CardList,
                CardView,
                TokenList,
                AuditPage,
                *APPROVALS,
                *GRANTS,
                *SHAPES,
                *OPENAI,
            )
            completed(super().openapi(), component_schemas(own), self.routes)
        return super().openapi()


def build_app(face: Face) -> FastAPI:
    """The HTTP face over a runtime that somebody else starts and stops."""
    app = Application(
        title="Ordain",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    install(app)
    app.add_middleware(Guard, face)
    app.add_middleware(SegmentsAsSent)
    app.add_middleware(HeadAsGet)
    app.add_middleware(InTime, face=face)
    app.add_middleware(HostGuard, face.exposure)
    if face.exposure.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=face.exposure.origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Ordain-Run", "Ordain-Header", "Retry-After"],
        )
    app.add_middleware(OpenAIErrors)  # added last, so it stands in front: whoever refuses, its clients understand it
    routers = (
        messages_router(face),
        openai_router(face),
        gateway_router(face),
        sessions_router(face),
        transcripts_router(face),
        socket_router(face),
        plan_router(face),
        verbs_router(face),
        workflows_router(face),
        cards_router(face),
        library_router(face),
        runs_router(face),
        operators_router(face),
        approvals_router(face),
        grants_router(face),
        models_router(face),
        health_router(face),
        metrics_router(face),
        tokens_router(face),
        schemas_router(),
    )
    take_routes(app, routers)
    return app
