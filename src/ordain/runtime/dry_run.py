"""Running a flow without spending: it decides by its own rules, up to the first thing that would go
live; nothing is kept or sent.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import Spawn
from ordain.effects.effect import Claim
from ordain.errors import FlowFault
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.rules.budget import CARVE
from ordain.rules.decision import Decision
from ordain.rules.shared import SHARED
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.flow_outcome import FlowRaised, NothingBeyond, flow_outcome
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.run_state import RunState
from ordain.runtime.setup import RunSetup


class NothingSpent(NothingBeyond):
    """Implements ``Beyond``: shared accounts are found untouched, and stay so; every effect ends
    it.
    """

    def __init__(self, policy: Policy) -> None:
        """Under this policy."""
        self._policy = policy

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """Decided as if nobody had spent anything."""
        if claim.name != CARVE.name:
            raise FlowFault(
                f"claim {claim.name} is decided by what others have done, and here nobody has"
            )
        shared = SHARED[claim.name]
        accounts = [{**account, "tokens": 0, "usd_micros": 0} for account in claim.args["accounts"]]
        return shared.rule.apply(
            msgspec.convert({**claim.args, "accounts": accounts}, shared.facts), None, self._policy
        )


def dry_opening(given: Raw, who: str, lasts_us: int) -> Opening:
    """The opening of a root run that is not kept; ``who`` is its id and its principal."""
    return Opening(
        run=who,
        input=given,
        workspace=DEFAULT_WORKSPACE,
        principal=who,
        subject="",
        key=b"",
        at=0,
        deadline=lasts_us,
    )


def dry_run(
    kind: Kind[Any, Any],
    opening: Opening,
    catalog: Catalog,
    beyond: NothingSpent,
    kinds: Kinds,
    spawn: Spawn[Any] | None = None,
) -> tuple[Any, RunState]:
    """The flow's output, None where it came to something that would go live; and what it had until
    then.

    ``spawn``: it is a child, and this is what its parent would let it have.

    Raises:
        FlowFault: the flow did what none may. Whatever else it raises.
    """
    opened = root_run(kind, opening, catalog)
    started = opened.started
    if spawn is not None:
        scope = CapabilityScope(allowed=spawn.scope)
        started = msgspec.structs.replace(
            started, allowance=spawn.allowance, depth=1, parent=opening.run, grant=scope
        )
    setup = RunSetup.of(opening.run, kind, started, catalog, kinds)
    state = setup.state(opening.at)
    execution = setup.execution((opened.record,), beyond, state)
    came = flow_outcome(setup, execution, beyond)
    if isinstance(came, FlowRaised):
        raise (
            came.error
            if isinstance(came.error, Exception)
            else FlowFault(f"the flow raised {type(came.error).__name__}")
        ) from came.error
    return came.returned if isinstance(came, FlowEnd) else None, state
