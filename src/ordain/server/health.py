"""``/health``: the process answers. ``/ready``: it can take work and keep it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from ordain import __version__
from ordain.server.face import Face, Json
from ordain.server.problems import problem


def health_router(face: Face) -> APIRouter:
    """Both probes."""
    router = APIRouter(tags=["health"])

    @router.get("/health", response_class=Json, response_model=None)
    async def health() -> Response:
        """The process answers; nothing is asked of the storage."""
        return Json({"status": "ok", "version": __version__, "instance": face.instance})

    @router.get("/ready", response_class=Json, response_model=None)
    async def ready() -> Response:
        """200 where the lease is held, the storage takes writes and the engine accepts runs; 503 otherwise, saying which does not hold."""
        checks = await face.runtime.checks()
        if all(checks.values()):
            return Json({"status": "ready", "checks": checks})
        return problem(503, "not_ready", "runs are not accepted now", more={"checks": checks}, headers={"Retry-After": "2"})

    return router
