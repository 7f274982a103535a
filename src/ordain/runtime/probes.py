"""Routing probes: what a policy makes of the messages that it carries as examples, without any
model.

Each probe's message is taken into an empty session by rule ``attach``; what is a request is then
driven through the flow that answers requests itself, as far as the first thing it would do on the
path chosen. A router model that policy has asked answers what the probe says it suggests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ENTRY_OF, Context, RoutingHints, WorkflowHint
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Policy
from ordain.contracts.probes import Probe
from ordain.effects.effect import AnyEffect, ModelCall
from ordain.effects.results import ModelAnswer, ModelFailed
from ordain.errors import ConfigurationError
from ordain.flows.commission import Commission, MessageIds
from ordain.flows.kind import Routing, Serves, commissioned
from ordain.flows.kinds import Kinds
from ordain.journal.records import DecisionBody, Status
from ordain.ports.shared import SessionState
from ordain.rules.attach import ATTACH, Attached
from ordain.rules.decision import Rule
from ordain.rules.entry import entry_verb
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.attach_facts import attach_facts
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.message_entry import Received, message_facts
from ordain.wording.wording import wording_of

NOTHING = "nothing"
PROBE = "probe"
"""The session, message, user and principal of every probe."""
ATTACHED: Mapping[str, type[StrEnum]] = {"attached": Attached}
NO_ROUTING = Routing(until="", found=lambda _: {}, closed={})
"""Of a kind that says nothing of it a probe can only expect that it refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """One expectation that did not come true."""

    name: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What became of one probe; ``number`` counts from 0, as the file's keys do."""

    number: int
    text: str
    missed: tuple[Missed, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything that the probe names came out."""
        return not self.missed

    def line(self) -> str:
        """For people."""
        what = "; ".join(
            f"{one.name} should be {one.expected} and is {one.found}" for one in self.missed
        )
        return (
            f"probes[{self.number}] {json.dumps(self.text[:80], ensure_ascii=False)}: "
            f"{what or 'holds'}"
        )


def run_probes(kinds: Kinds, catalog: Catalog, place: str = "policy") -> Sequence[Probed]:
    """Every probe of the catalog's policy, in order; ``place`` is what an error calls the policy.

    Raises:
        ConfigurationError: a probe expects something that cannot come out of any policy.
    """
    _check(catalog.policy, kinds.serving(Serves.REQUEST).routing or NO_ROUTING, place)
    return [
        _probed(kinds, number, probe, catalog) for number, probe in enumerate(catalog.policy.probes)
    ]


def _check(policy: Policy, routing: Routing, place: str) -> None:
    """A typing error would otherwise be a probe that never holds."""
    closed = {**ATTACHED, **routing.closed}
    for number, probe in enumerate(policy.probes):
        expected = probe.expect.model_dump(mode="json", exclude_none=True)
        where = f"{place}: probes.{number}.expect"
        if not expected:
            raise ConfigurationError(f"{where}: names nothing, so that the probe would always hold")
        for name, known in closed.items():
            if name in expected and expected[name] not in set(known):
                raise ConfigurationError(
                    f"{where}.{name}: {expected[name]!r} is none of {', '.join(known)}"
                )


def _probed(kinds: Kinds, number: int, probe: Probe, catalog: Catalog) -> Probed:
    found = outcome_of(kinds, probe, catalog)
    expect = probe.expect
    if (
        expect.verb == ENTRY_OF[probe.message.mode] and not probe.message.verb
    ):  # what answers by itself here: settings may have named another
        expect = expect.model_copy(
            update=type(expect)(verb=entry_verb(probe.message.mode, catalog)).model_dump(
                exclude_none=True
            )
        )
    expected: dict[str, str] = expect.model_dump(mode="json", exclude_none=True)
    missed = tuple(
        Missed(name=name, expected=value, found=found.get(name, NOTHING))
        for name, value in expected.items()
        if found.get(name) != value
    )
    return Probed(number=number, text=probe.message.text, missed=missed)


def outcome_of(kinds: Kinds, probe: Probe, catalog: Catalog) -> Mapping[str, str]:
    """What policy makes of a probe's message: attached, verb, outcome, path, budget_class, refused;
    what does not arise is not there.
    """
    catalog = _asking(catalog) if probe.asked else catalog
    message = _message(probe, catalog)
    session = _empty_session()
    facts = attach_facts(
        session, message, AnswerReading(session, message, lambda _: catalog), catalog.policy
    )
    attached = ATTACH.apply(facts, None, catalog.policy).outcome
    name = str(attached.__struct_config__.tag)
    return {
        "attached": name,
        **(_rehearsed(kinds, message, probe, catalog) if name == Attached.NEW_REQUEST else {}),
    }


def _asking(catalog: Catalog) -> Catalog:
    """The catalog under a policy that has a router model asked: it answers what the probe says,
    whatever is configured.
    """
    policy = catalog.policy
    if policy.router.ask is not None:
        return catalog
    return catalog.changed(
        policy=policy.model_copy(
            update={"router": policy.router.model_copy(update={"ask": policy.lanes.planner})}
        )
    )


class _Probing(NothingSpent):
    """What a turn meets up to its path: a router model suggests what it is supposed to, or
    fails.
    """

    def __init__(self, policy: Policy, suggests: dict[str, Any] | str | None, until: str) -> None:
        super().__init__(policy)
        self._until = until
        self._suggests = (
            suggests
            if suggests is None or isinstance(suggests, str)
            else json.dumps(suggests, default=str)
        )
        self.decided_by: dict[str, Any] = {}

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        self.decided_by[rule.name] = rule.read_outcome(body.outcome)

    async def begin(self, addr: int, effect: AnyEffect, encoded: Raw) -> Any:
        if self._until in self.decided_by or not isinstance(effect, ModelCall):
            return await super().begin(addr, effect, encoded)
        if self._suggests is None:
            return ModelFailed(
                code=ModelErrorCode.REJECTED,
                message="a probe asks no model",
                provider=PROBE,
                model=PROBE,
                live=False,
            )
        return ModelAnswer(
            content=self._suggests,
            provider=PROBE,
            model=PROBE,
            input_tokens=0,
            output_tokens=0,
            prompt_digest="",
        )


def _rehearsed(
    kinds: Kinds, message: Received, probe: Probe, catalog: Catalog
) -> Mapping[str, str]:
    """What the kind that answers requests decides, and the code with which it ends where it ends
    before its path.
    """
    kind = kinds.serving(Serves.REQUEST)
    given = asked_of(
        kind,
        "commissioned",
        commissioned,
        kind,
        Commission(session=PROBE, seq=1, message=message.facts, ids=message.ids),
    )
    routing = kind.routing or NO_ROUTING
    beyond = _Probing(catalog.policy, probe.suggests, routing.until)
    opening = dry_opening(given, PROBE, catalog.policy.session.hold_seconds * 1_000_000)
    ended, _ = dry_run(
        kind, msgspec.structs.replace(opening, session=PROBE, thread=1), catalog, beyond, kinds
    )
    settled = None if ended is None else kind.settle(ended)
    refused = (
        {} if settled is None or settled.status is Status.COMPLETED else {"refused": settled.reason}
    )
    return {**refused, **routing.found(beyond.decided_by)}


def _message(probe: Probe, catalog: Catalog) -> Received:
    asked = probe.message
    hints = RoutingHints(
        mode=asked.mode,
        verb=asked.verb,
        supervised=asked.supervised,
        workflow=WorkflowHint(template=asked.workflow)
        if isinstance(asked.workflow, str)
        else asked.workflow,
        delegates=asked.delegates,
    )
    found = wording_of(catalog).cues(asked.text)
    return Received(
        facts=message_facts(asked.text, PROBE, "other", Context(routing_hints=hints)),
        ids=MessageIds(message_id=PROBE),
        principal=PROBE,
        found=found,
        catalog=catalog,
    )


def _empty_session() -> SessionState:
    return SessionState(
        workspace="",
        session="",
        subject="",
        key=b"",
        seq=1,
        next_thread=1,
        active=0,
        threads=(),
        at_work=(),
        open=0,
    )
