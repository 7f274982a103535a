"""``/workflows``: the templates that a message may name, and what they lack here (WFL-03)."""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue
from starlette.responses import Response

from ordain.contracts.catalog import Catalog
from ordain.contracts.nearest import no_such
from ordain.contracts.planner import Strict
from ordain.errors import NotFound
from ordain.server.documents import shown
from ordain.server.face import Face, Json
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource


class WorkflowView(Strict):
    """A template: what it does, the arguments that it takes, the steps that code owns, and what of
    them is not here.
    """

    id: str
    version: int
    description: str
    arguments: dict[str, JsonValue] = Field(description="The closed JSON Schema of its arguments.")
    steps: list[dict[str, JsonValue]]
    unavailable: list[str] = Field(
        description=(
            "Verbs of its steps that are not configured, not registered or switched off here: "
            "while there is one, it is refused (`tool_unavailable`)."
        )
    )


class WorkflowList(Strict):
    """Every template, by id."""

    workflows: list[WorkflowView]


def workflow_view(catalog: Catalog, template_id: str) -> dict[str, Any]:
    """A template as people see it.

    Raises:
        NotFound: there is none of this id.
    """
    found = catalog.workflows.get(template_id)
    if found is None:
        raise NotFound(no_such("workflow", template_id, catalog.workflows), code="unknown_template")
    template = found.template
    told = template.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "id": template.id,
        "version": template.version,
        "description": template.description,
        "arguments": told["schema"],
        "steps": told["steps"],
        "unavailable": list(catalog.missing_of(template_id)),
    }


def workflow_views(catalog: Catalog) -> dict[str, Any]:
    """Every template, by id."""
    return {"workflows": [workflow_view(catalog, name) for name in sorted(catalog.workflows)]}


def workflows_router(face: Face) -> Resource:
    """The templates' routes."""
    router = resource("workflows")

    @router.get("/workflows", **shown(WorkflowList))
    async def list_workflows() -> Response:
        """Every workflow template that a message may name in `routingHints.workflow`. Files that
        are not in use are told by `GET /verbs`.
        """
        return Json(workflow_views(face.runtime.catalog))

    @router.get("/workflows/{template_id}", **refusing(shown(WorkflowView), "unknown_template"))
    async def show_workflow(template_id: str) -> Response:
        """One template."""
        return Json(workflow_view(face.runtime.catalog, template_id))

    return router
