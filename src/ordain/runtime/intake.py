"""Intake: a request becomes one run in one transaction, or the run that the same request already became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import msgspec
from msgspec import Raw

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import VerbRequest
from ordain.errors import ConfigurationError, Conflict, InvalidRequest, Refused
from ordain.flows.planner import PLANNER_FLOW
from ordain.flows.verb_plan import VERB_FLOW, VerbRunInput
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER, raw
from ordain.ports.store import Open
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.services import Services

SCHEMA_BYTES = 16_384
TOOLSET_BYTES = 131_072
REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def _refuse_references(tool_id: str, schema: object) -> None:
    """A caller's schema refers to nothing: a few references that double at each level would hold a validator for hours."""
    if isinstance(schema, dict):
        members = cast("dict[str, object]", schema)
        if REFERENCES & members.keys():
            raise InvalidRequest(f"tool {tool_id}: a schema in a request may not use references", code="invalid_schema")
        for value in members.values():
            _refuse_references(tool_id, value)
    elif isinstance(schema, list):
        for value in cast("list[object]", schema):
            _refuse_references(tool_id, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The run a request became; ``new`` is false where the same request came before."""

    run: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What intake needs of any request: flow and input, who asks, and the identity of the request."""

    flow: str
    flow_version: int
    input: Raw
    principal: str
    request_id: str | None
    digest: str
    run: str
    workspace: str = DEFAULT_WORKSPACE
    keep_thoughts: bool = True


class Intake:
    """Accepts requests and opens their root runs; a message's are opened by what follows from it (``Following``)."""

    def __init__(self, services: Services) -> None:
        """Writes through the store's port."""
        self._services = services
        self._stored_catalog = ""

    def of_plan(self, request: PlannerRequest, principal: str, workspace: str = DEFAULT_WORKSPACE) -> Request:
        """Check what only the catalog and compilers can check, and name the run.

        Raises:
            InvalidRequest: a tool's schema is none, or too large.
        """
        catalog = self._services.catalogs.current
        total = 0
        for tool in request.toolset:
            known = catalog.verbs.get(tool.tool_id)
            for schema in (tool.input_schema, tool.output_schema):
                if schema and (known is None or schema not in (known.spec.input_schema, known.spec.output_schema)):
                    _refuse_references(tool.tool_id, schema)
                    size = len(msgspec.json.encode(schema))
                    total += size
                    if total > TOOLSET_BYTES:
                        raise InvalidRequest(f"the toolset's schemas exceed {TOOLSET_BYTES} bytes", code="toolset_too_large")
                    if size > SCHEMA_BYTES:
                        raise InvalidRequest(f"tool {tool.tool_id}: a schema exceeds {SCHEMA_BYTES} bytes", code="schema_too_large")
                    try:
                        catalog.schema(schema)
                    except ConfigurationError as error:
                        raise InvalidRequest(f"tool {tool.tool_id}: {error.message}", code="invalid_schema") from error
        run = self._services.clock.new_run_id()
        body = request.model_dump(mode="json", exclude_unset=True)
        digest = content_digest(msgspec.json.encode(body, order="sorted"))
        named = {**body, "request_id": request.request_id or run}
        return Request(
            flow=PLANNER_FLOW.name,
            flow_version=PLANNER_FLOW.version,
            input=Raw(msgspec.json.encode(named, order="sorted")),
            principal=principal,
            request_id=request.request_id,
            digest=digest,
            run=run,
            workspace=workspace,
            keep_thoughts=request.preferences.allow_internal_thought_logging,
        )

    def of_verb(self, request: VerbRequest, principal: str, workspace: str = DEFAULT_WORKSPACE) -> Request:
        """Name the run of one verb call; the verb itself is judged inside the run."""
        body = request.model_dump(mode="json")
        given = VerbRunInput(verb_id=request.verb_id, payload=body["payload"], caller=request.caller, request_id=request.request_id)
        return Request(
            flow=VERB_FLOW.name,
            flow_version=VERB_FLOW.version,
            input=raw(given),
            principal=principal,
            request_id=request.request_id,
            digest=content_digest(ENCODER.encode(given)),
            run=self._services.clock.new_run_id(),
            workspace=workspace,
        )

    async def accept(self, request: Request) -> Accepted:
        """Open the run, or find it.

        Raises:
            Conflict: the request id names a run with another body (``request_id_reused``).
            Refused: as many runs as policy permits are already accepted (429).
            StorageUnavailable: nothing can be written.
        """
        services = self._services
        catalog, now = services.catalogs.current, services.clock.now()
        policy = catalog.policy
        new = root_run(
            Opening(
                run=request.run,
                flow=request.flow,
                flow_version=request.flow_version,
                input=request.input,
                workspace=request.workspace,
                principal=request.principal,
                subject=request.run,
                key=services.clock.new_key(),
                at=now,
                deadline=now + round(policy.limits.timeout_seconds * 1e6),
                keep_thoughts=request.keep_thoughts,
            ),
            catalog,
        )
        outcome = await services.store.submit(
            Open(
                run=new,
                request_id=None if request.request_id is None else f"{request.flow}:{request.request_id}",
                request_digest=request.digest,
                catalogs=catalog.stored if self._stored_catalog != catalog.digest else (),
                max_accepted=policy.engine.max_accepted,
            )
        )
        match outcome.refused:
            case "request_id_reused":
                raise Conflict(f"request id {request.request_id} came before with another body", code="request_id_reused")
            case "busy":
                raise Refused("too many runs are accepted already", code="busy", status=429, retry_after_s=policy.engine.retry_after_s)
            case refused:
                if not refused:
                    self._stored_catalog = catalog.digest
                return Accepted(run=outcome.run, new=not refused)
