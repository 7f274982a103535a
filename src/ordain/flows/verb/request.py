"""A verb request as its run has it, and what the run returns."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.flows.carried import StepResult


class VerbRunInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verb request as accepted."""

    verb_id: str
    payload: dict[str, Any]
    caller: str
    request_id: str | None = None


class VerbRunOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The source's reply ``{ok, output, error}``, and for a prompt plan what each of its steps did
    (VRB-08).
    """

    ok: bool
    output: dict[str, Any] | None
    error: dict[str, Any] | None
    step_results: tuple[StepResult, ...] = ()
