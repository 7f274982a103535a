"""VerbPort: one attempt at one authorised leaf verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Struct

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.verbs import Trust, VerbSpec

Withdrawing = Callable[[], Awaitable[str | None]]
"""Says why something may not go on any more, None where it may."""
WITHDRAWN = "withdrawn"
"""The code of a failure for what ``LeafCall.last_look`` said: nothing has gone out."""


async def nothing_withdrawn() -> str | None:
    """Of what rests on nothing else."""
    return None


class LeafCall(Struct, frozen=True, kw_only=True):
    """What one attempt needs. ``key`` is the idempotency key; ``timeout_s`` what is left of
    deadline and verb timeout.

    ``at_us`` is when the attempt is made, in microseconds since 1970 UTC (0: nobody said).
    ``last_look`` says why the call may not go out any more: for whoever has waited since, for a
    connection, and is about to let the first of it go.
    ``workspace``, ``session`` ("": none), ``run`` and ``principal``, who asked for it, say on whose
    behalf; they come from the runtime, never from a model.
    """

    spec: VerbSpec
    args: dict[str, Any]
    key: str
    attempt: int
    timeout_s: float
    at_us: int = 0
    last_look: Withdrawing = nothing_withdrawn
    workspace: str = DEFAULT_WORKSPACE
    session: str = ""
    run: str = ""
    principal: str = ""


class LeafReturned(Struct, frozen=True, kw_only=True):
    """The verb returned this object; not yet checked against its output schema.

    ``trust`` lowers what the verb declares of a top-level field, for values that were stored with
    less; it never raises it.
    """

    output: dict[str, Any]
    trust: dict[str, Trust] = {}


class LeafFailed(Struct, frozen=True, kw_only=True):
    """The verb failed. ``happened``: False = certainly no effect, None = nobody knows. ``message``
    holds no secret.

    ``retry_after_ms``: the delay that it, or whom it asked, named for another try; 0: none.
    """

    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int = 0
    happened: bool | None = False


class LeafTimedOut(Struct, frozen=True, kw_only=True):
    """The time was up; the code may still be running."""


AnyLeafResult = LeafReturned | LeafFailed | LeafTimedOut


class VerbPort(Protocol):
    """The executor of leaf verbs.

    One call makes one attempt. Errors are values. A plain function runs in a bounded pool and keeps
    its slot until it has really ended, even after its time-out. ``implements`` says whether there
    is code behind a spec.
    """

    async def run(self, call: LeafCall) -> AnyLeafResult:
        """Attempt once."""
        ...

    def implements(self, verb_id: str) -> bool:
        """Whether this executor has code for the verb."""
        ...

    async def close(self) -> None:
        """Stop taking calls and let running ones end within their time-outs; idempotent."""
        ...
