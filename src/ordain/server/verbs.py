"""``/verbs``: what can be called, and calling one of them (VRB-02, VRB-03)."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request, Response

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.contracts.planner import Strict
from ordain.contracts.verbs import VerbReply, VerbRequest, VerbSpec
from ordain.errors import NotFound
from ordain.server.bodies import read
from ordain.server.documents import VERB_ANSWER, VERB_REQUEST, documented, shown
from ordain.server.face import Face, Json, outcome
from ordain.server.refusals import refusing
from ordain.server.workspaces import Workspace


class VerbView(VerbSpec):
    """A verb as people and planners see it; ``inactive`` says why it may not run here now."""

    verb_id: str
    kind: Literal["leaf", "prompt plan", "flow"]
    active: bool
    inactive: str | None


class VerbList(Strict):
    """Verbs, by id."""

    verbs: list[VerbView]


EXECUTE = documented(VerbRequest, VerbReply, example=VERB_REQUEST, answer=VERB_ANSWER, accepts=True)


def verb_view(catalog: Catalog, verb_id: str) -> dict[str, Any]:
    """A verb as people and planners see it; ``inactive`` says why it may not run here now.

    Raises:
        NotFound: no verb has this id.
    """
    verb = catalog.verbs.get(verb_id)
    if verb is None:
        raise NotFound(f"there is no verb {verb_id[:128]}", code="unknown_verb")
    inactive = catalog.inactive_reason(verb_id, catalog.policy.verbs)
    kind = "flow" if verb.spec.flow is not None else "prompt plan" if verb.spec.composite else "leaf"
    return {"verb_id": verb_id, "kind": kind, "active": inactive is None, "inactive": inactive, **verb.spec.model_dump(mode="json")}


def verb_views(catalog: Catalog) -> dict[str, Any]:
    """Every verb, by id."""
    return {"verbs": [verb_view(catalog, verb_id) for verb_id in sorted(catalog.verbs)]}


def verbs_router(face: Face) -> APIRouter:
    """The verbs' routes."""
    router = APIRouter(tags=["verbs"])

    @router.get("/verbs", **shown(VerbList))
    async def list_verbs() -> Response:
        """Every registered verb: what it needs, gives and does, and whether it is active here."""
        return Json(verb_views(face.runtime.catalog))

    @router.post("/verbs/execute", **refusing(EXECUTE, "request_id_reused", "busy"))
    async def execute_verb(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Run one verb as a run of its own: authorised, journalled and replayable like every other."""
        given = await read(request, VerbRequest, face.body_bytes)
        accepted = await face.runtime.accept_verb(given, face.by(request), WorkspaceId(workspace))
        return await outcome(face, request, accepted, face.runtime.verb_reply)

    @router.get("/verbs/{verb_id}", **refusing(shown(VerbView), "unknown_verb"))
    async def show_verb(verb_id: str) -> Response:
        """One verb."""
        return Json(verb_view(face.runtime.catalog, verb_id))

    return router
