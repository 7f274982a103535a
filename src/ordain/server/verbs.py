"""``/verbs``: what can be called, and calling one of them (VRB-02, VRB-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.catalog import Catalog
from ordain.contracts.floor import why_raised
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.contracts.nearest import no_such
from ordain.contracts.planner import Strict
from ordain.contracts.risk import Risk, risk_of
from ordain.contracts.verbs import VerbReply, VerbRequest, VerbSpec
from ordain.errors import NotFound, Transient
from ordain.runtime.door import Runtime, RunView
from ordain.runtime.reloader import CatalogProblem
from ordain.server.bodies import read
from ordain.server.documents import VERB_ANSWER, VERB_REQUEST, documented, shown
from ordain.server.face import Face, Json, outcome, prefers_async
from ordain.server.parameters import from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.views import sent
from ordain.server.workspaces import Workspace


class VerbView(VerbSpec):
    """A verb as people and planners see it; ``inactive`` says why it may not run here now.

    ``confirmed``: it is shipped, an embedder's, or an operator has confirmed its declaration as it
    is. ``effect_raised`` says why its effect is not the one that it declares ("": it is).
    """

    verb_id: str
    kind: Literal["leaf", "http", "prompt plan", "flow"]
    active: bool
    inactive: str | None
    risk: Risk
    confirmed: bool
    effect_raised: str


class VerbProblem(Strict):
    """Something in the verbs folder that is not in use, or (``warning``) not as it is written: why,
    and where it stands ("", 0: nowhere in particular).
    """

    code: str
    message: str
    file: str
    line: int
    warning: bool = False


class PackView(Strict):
    """What a pack of policy holds here, and what it names that is not there."""

    verbs: list[str]
    missing: list[str]


class VerbList(Strict):
    """Verbs, by id; what is written but not in use; and the packs under which a message may ask for
    some of them.
    """

    verbs: list[VerbView]
    problems: list[VerbProblem]
    packs: dict[str, PackView] = {}


class VerbChoice(Strict):
    """The verbs that a person may pick, by id, and the packs under which a message may ask for some
    of them.
    """

    verbs: list[VerbView]
    packs: dict[str, PackView]


class VerbsReloaded(Strict):
    """Whether what is written is in use now, whether the catalog is another one, its digest, and
    what cannot be used.
    """

    ok: bool
    changed: bool
    catalog: str
    problems: list[VerbProblem]


EXECUTE = documented(VerbRequest, VerbReply, example=VERB_REQUEST, answer=VERB_ANSWER, accepts=True)


def verb_view(catalog: Catalog, verb_id: str) -> dict[str, Any]:
    """A verb as people and planners see it; ``inactive`` says why it may not run here now.

    Raises:
        NotFound: no verb has this id.
    """
    verb = catalog.verbs.get(verb_id)
    if verb is None:
        raise NotFound(no_such("verb", verb_id, catalog.verbs), code="unknown_verb")
    inactive = catalog.inactive_reason(verb_id, catalog.policy.verbs)
    kind = (
        "flow"
        if verb.spec.flow is not None
        else "prompt plan"
        if verb.spec.composite
        else "http"
        if verb.spec.http
        else "leaf"
    )
    seen = {
        "verb_id": verb_id,
        "kind": kind,
        "active": inactive is None,
        "inactive": inactive,
        "risk": risk_of(verb.spec).model_dump(mode="json"),
        "confirmed": verb_id not in catalog.unconfirmed,
        "effect_raised": why_raised(verb.spec),
    }
    return {**seen, **verb.spec.model_dump(mode="json")}


def verb_views(
    catalog: Catalog, problems: Sequence[CatalogProblem] = (), pack: str | None = None
) -> dict[str, Any]:
    """Every verb, or those of one pack, by id; what is written but not in use; and what policy's
    packs hold, with what of it is not there.

    Raises:
        NotFound: policy has no such pack.
    """
    packs = catalog.policy.supervisor.packs
    if pack is not None and pack not in packs:
        raise NotFound(no_such("pack", pack, packs), code="unknown_pack")
    views = [verb_view(catalog, verb_id) for verb_id in sorted(catalog.verbs)]
    held = {
        name: {
            "verbs": _named(patterns, catalog),
            "missing": [verb for verb in patterns if not _named([verb], catalog)],
        }
        for name, patterns in sorted(packs.items())
    }
    shown_here = [view for view in views if pack is None or view["verb_id"] in held[pack]["verbs"]]
    return {"verbs": shown_here, "problems": [_bare(one) for one in problems], "packs": held}


def _named(patterns: Sequence[str], catalog: Catalog) -> list[str]:
    return [
        verb_id
        for verb_id in sorted(catalog.verbs)
        if any(fnmatchcase(verb_id, pattern) for pattern in patterns)
    ]


def _bare(problem: CatalogProblem) -> dict[str, Any]:
    """Without the folder: who may list verbs need not know where they lie."""
    folder, _, file = problem.file.rpartition("/")
    message = problem.message.replace(f"{folder}/", "") if folder else problem.message
    return {**msgspec.to_builtins(problem), "file": file, "message": message}


def problems_of(runtime: Runtime) -> Sequence[CatalogProblem]:
    """What an operator wrote and that is not in use."""
    return () if runtime.reloader is None else runtime.reloader.problems


def _replied(face: Face, view: RunView) -> Mapping[str, Any]:
    return sent(face.runtime, view, face.runtime.response(view, VerbRequest))


def verbs_router(face: Face) -> Resource:
    """The verbs' routes."""
    router = resource("verbs")

    @router.get("/verbs", **refusing(shown(VerbList), "unknown_pack"))
    async def list_verbs(
        pack: Annotated[
            str | None, from_query(description="Only the verbs of this pack.", max_length=64)
        ] = None,
    ) -> Response:
        """Every registered verb: what it needs, gives and does, and whether it is active here; the
        packs; `problems` are files not in use, or not as written.
        """
        return Json(verb_views(face.runtime.catalog, problems_of(face.runtime), pack))

    @router.post("/verbs/reload", **refusing(shown(VerbsReloaded), "no_engine"))
    async def reload_verbs() -> Response:
        """Take up what stands in the verbs folder now. What is wrong is in `problems`, and then the
        verbs of before stay.
        """
        reloader = face.runtime.reloader
        if reloader is None:
            raise Transient("nothing is reloaded here", code="no_engine")
        return Json(await reloader.reload())

    @router.post(
        "/verbs/execute", **refusing(EXECUTE, "request_id_reused", "run_unreadable", "busy")
    )
    async def execute_verb(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Run one verb as a run of its own: authorised, journalled and replayable like every other.

        With ``Prefer: respond-async`` it may wait for an approval; without, a call that needs one
        is refused (`approval_not_available`).
        """
        given = await read(request, VerbRequest, face.body)
        accepted = await face.runtime.accept(
            given, face.asks(request), WorkspaceId(workspace), waits=prefers_async(request)
        )
        return await outcome(face, request, accepted, partial(_replied, face))

    @router.get("/verbs/{verb_id}", **refusing(shown(VerbView), "unknown_verb"))
    async def show_verb(verb_id: str) -> Response:
        """One verb."""
        return Json(verb_view(face.runtime.catalog, verb_id))

    return router
