"""What a council's own run returns, and how callers from outside reach it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.council import CouncilDirective, CouncilResult, DeliberationRequest
from ordain.effects.children import NULL
from ordain.flows.kind import Ending, Taken, Wire
from ordain.journal.digests import content_digest


class CouncilOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the council came to, as ``Deliberated`` has it; ``chain`` is what the agent chain gave
    that it called for.
    """

    ok: bool
    error: str = ""
    message: str = ""
    next: CouncilDirective | None = None
    result: CouncilResult | None = None
    chain: dict[str, Any] | None = None


def take_council(request: DeliberationRequest, _: Catalog, run: str) -> Taken:
    """The request as its run gets it; a request without ``trace_id`` has its run's id for one."""
    body = request.model_dump(mode="json", exclude_unset=True)
    named = {**body, "trace_id": request.trace_id or run}
    return Taken(
        input=Raw(msgspec.json.encode(named, order="sorted")),
        request_id=None,
        digest=content_digest(msgspec.json.encode(body, order="sorted")),
    )


def council_response(ending: Ending) -> dict[str, Any]:
    """Status, directive and result with ``run_id``, ``header`` and the header's ``verdict``; a
    stopped run answers with a typed error.
    """
    if ending.output != NULL:
        output: dict[str, Any] = msgspec.json.decode(ending.output)
    else:
        message = "the run's content was erased" if ending.erased else f"the run is {ending.status}"
        output = {"ok": False, "error": ending.why, "message": message}
    failed: dict[str, Any] | None = (
        {"code": output["error"], "message": output.get("message", "")}
        if output.get("error")
        else None
    )
    if failed is not None and (remedy := ending.remedies.get(failed["code"])) is not None:
        failed["remedy"] = remedy
    return {
        "status": "ok" if output["ok"] else "error",
        "error": failed,
        "next": output.get("next"),
        "result": output.get("result"),
        "chain": output.get("chain"),
        "run_id": ending.run,
        "header": ending.header,
        "verdict": ending.verdict or None,
    }


COUNCIL_WIRE: Wire[DeliberationRequest] = Wire(
    contract=DeliberationRequest,
    take=take_council,
    response=council_response,
    other="not_a_council",
    said=("result", "chain"),
)
