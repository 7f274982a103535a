"""The app: every resource's routes, the guard in front and the problems behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ordain.server.arrival import HeadAsGet, InTime
from ordain.server.face import Face
from ordain.server.guard import Guard
from ordain.server.loopback import HostGuard
from ordain.server.openai import OpenAIErrors
from ordain.server.problems import BugsAnswered, install
from ordain.server.resource import Resource, ResourceRoute
from ordain.server.segments import SegmentsAsSent
from ordain.server.sent_json import as_recorded, spelled

RESOURCES: Mapping[str, Sequence[str]] = {
    "messages:messages_router": ("messages",),
    "openai.routes:openai_router": ("v1",),
    "gateway:gateway_router": ("api", "v1"),
    "sessions:sessions_router": ("sessions",),
    "transcripts:transcripts_router": ("sessions",),
    "socket:socket_router": ("ws",),
    "plan:plan_router": ("plan",),
    "verbs:verbs_router": ("verbs",),
    "workflows:workflows_router": ("workflows",),
    "cards:cards_router": ("cards",),
    "library:library_router": ("memory", "docs"),
    "runs:runs_router": ("runs",),
    "operators:operators_router": ("runs",),
    "approvals:approvals_router": ("approvals",),
    "grants:grants_router": ("grants",),
    "models:models_router": ("models",),
    "health:health_router": ("health", "ready"),
    "metrics:metrics_router": ("metrics",),
    "tokens:tokens_router": ("tokens",),
    "documents:schemas_router": ("schemas",),
}
"""Where each resource's routes are declared, and the first segments of their addresses; in the
order in which they are asked and published.
"""


class Application(Starlette):
    """The resources' routes, and the document that is made of what they declare."""

    @cached_property
    def resources(self) -> Sequence[Resource]:
        """What every module declares, in their order."""
        return [route.resource for route in self.routes if isinstance(route, ResourceRoute)]

    @cached_property
    def _document(self) -> dict[str, Any]:
        from ordain.server.openapi import (
            published,
        )  # lazy: FastAPI, which makes the document, and every shape that it names

        return published(self.resources)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        return self._document

    @cached_property
    def published(self) -> bytes:
        """The same as it is sent. It takes seconds to make, so a server makes it in a thread."""
        return spelled(as_recorded(self._document))


def build_app(face: Face) -> Application:
    """The HTTP face over a runtime that somebody else starts and stops."""

    async def document(_: Request) -> Response:
        return Response(
            await asyncio.to_thread(lambda: app.published), media_type="application/json"
        )

    made = [
        ResourceRoute(face, firsts, f"ordain.server.{maker}") for maker, firsts in RESOURCES.items()
    ]
    app = Application(routes=[Route("/openapi.json", document), *made])
    app.router.redirect_slashes = False
    install(app)
    app.add_middleware(Guard, face)
    app.add_middleware(SegmentsAsSent)
    app.add_middleware(HeadAsGet)
    app.add_middleware(InTime, face=face)
    app.add_middleware(BugsAnswered)
    app.add_middleware(HostGuard, face.exposure)
    if face.exposure.origins:
        from starlette.middleware.cors import (
            CORSMiddleware,
        )  # lazy: few let pages of other origins ask

        app.add_middleware(
            CORSMiddleware,
            allow_origins=face.exposure.origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Ordain-Run", "Ordain-Header", "Retry-After"],
        )
    # added last, so it stands in front: whoever refuses, its clients understand it
    app.add_middleware(OpenAIErrors)
    return app
