"""Running a flow without spending: it decides by its own rules, up to the first thing that would go live; nothing is kept or sent."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.policy import Policy
from ordain.effects.effect import Claim
from ordain.flows.context import Flow, flow_context
from ordain.journal.records import Started, raw
from ordain.rules.decision import Decision
from ordain.rules.shared import SHARED
from ordain.rules.spend import Spend
from ordain.runtime.execution import Execution
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.replay import EndOfJournal, NothingBeyond, drive_to_end

Given = TypeVar("Given")
Came = TypeVar("Came")


class Unspending(NothingBeyond):
    """Implements ``Beyond``: shared accounts are found untouched, and stay so; every effect ends it."""

    def __init__(self, policy: Policy) -> None:
        """Under this policy."""
        self._policy = policy

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """Decided as if nobody had spent anything."""
        shared = SHARED[claim.name]
        accounts = [{**account, "tokens": 0, "usd_micros": 0} for account in claim.args["accounts"]]
        return shared.rule.apply(msgspec.convert({**claim.args, "accounts": accounts}, shared.facts), None, self._policy)


def unspent_opening(flow: Flow[Given, Any], given: Given, who: str, lasts_us: int) -> Opening:
    """The opening of a root run that is not kept; ``who`` is its id and its principal."""
    return Opening(
        run=who,
        flow=flow.name,
        flow_version=flow.version,
        input=raw(given),
        workspace=DEFAULT_WORKSPACE,
        principal=who,
        subject="",
        key=b"",
        at=0,
        deadline=lasts_us,
    )


def run_unspent(
    flow: Flow[Given, Came], given: Given, catalog: Catalog, beyond: Unspending, opening: Opening, carved: Spend | None = None
) -> tuple[Came | None, Execution]:
    """The flow's output, None where it came to something that would go live; and what it had until then.

    ``carved``: it is a child, and this is what its parent let it have.
    """
    record = root_run(opening, catalog).started
    started = msgspec.json.decode(record.body or b"", type=Started)
    if carved is not None:
        started = msgspec.structs.replace(started, allowance=carved, depth=1)
    execution = Execution(opening.run, (record,), beyond, catalog.policy)
    execution.values[0] = given
    try:
        return drive_to_end(flow.run(flow_context(execution, catalog, started), given)), execution
    except EndOfJournal:
        return None, execution
