"""Flow ``verb``: one verb for a caller (VRB-02, VRB-03)."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import Acted, StepResult, act
from ordain.flows.context import FlowContext
from ordain.flows.observations import error_of
from ordain.ports.effects import Interrupted


class VerbRunInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verb request as accepted."""

    verb_id: str
    payload: dict[str, Any]
    caller: str
    request_id: str | None = None


class VerbRunOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The source's reply ``{ok, output, error}``, and for a prompt plan what each of its steps did (VRB-08)."""

    ok: bool
    output: dict[str, Any] | None
    error: dict[str, Any] | None
    step_results: tuple[StepResult, ...] = ()


async def run_verb(context: FlowContext, request: VerbRunInput) -> VerbRunOutput:
    """Carry out one verb call through the same door as every other."""
    try:
        if (short := await open_account(context, request.caller)) is not None:
            message = f"account {short.account} does not cover the run"
            return VerbRunOutput(ok=False, output=None, error={"code": "budget_exceeded", "message": message})
        acted: Acted = await act(context, Call(verb=request.verb_id, args=request.payload), (0,))
    except Interrupted:
        return VerbRunOutput(ok=False, output=None, error={"code": "cancelled", "message": "the run was cancelled"})
    if isinstance(acted.result, VerbReturned):
        return VerbRunOutput(ok=True, output=acted.result.output, error=None, step_results=acted.steps)
    return VerbRunOutput(ok=False, output=None, error=error_of(acted), step_results=acted.steps)
