"""The app: every router, the guard in front and the problems behind."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from ordain import __version__
from ordain.server import operators
from ordain.server.documents import component_schemas, schemas_router
from ordain.server.face import Face
from ordain.server.health import health_router
from ordain.server.loopback import LoopbackOnly
from ordain.server.metrics import metrics_router
from ordain.server.operators import operators_router
from ordain.server.plan import plan_router
from ordain.server.problems import install
from ordain.server.runs import runs_router
from ordain.server.verbs import verbs_router

ABOUT = """Models propose, code ordains.

Refusals are RFC 9457 problem+json with a stable `code`; an accepted request's outcome is 200 with the source's own body. This server
answers loopback only."""


class Application(FastAPI):
    """FastAPI whose published schema includes the bodies that the routes read by themselves."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            document = super().openapi()
            components = document.setdefault("components", {}).setdefault("schemas", {})
            components.update(component_schemas((operators.Why, operators.Resolution, operators.Answer, operators.Done)))
        return super().openapi()


def build_app(face: Face) -> FastAPI:
    """The HTTP face over a runtime that somebody else starts and stops."""
    app = Application(title="Ordain", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False)
    install(app)
    app.add_middleware(LoopbackOnly)
    for router in (
        plan_router(face),
        verbs_router(face),
        runs_router(face),
        operators_router(face),
        health_router(face),
        metrics_router(face),
        schemas_router(),
    ):
        app.include_router(router)
    return app
