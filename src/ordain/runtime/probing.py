"""Routing probes: what a policy makes of the messages that it carries as examples, by the rules themselves and without any model.

Each probe's message is taken into an empty session by rule ``attach``, then judged by ``entry``, ``outcome`` and ``route`` in the order
of flow ``turn``; what the probe says a router model suggests is parsed and judged like a model's answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import RoutingHints, WorkflowHint
from ordain.contracts.policy import Policy, Probe
from ordain.errors import ConfigurationError
from ordain.flows.turn import VERB_OF
from ordain.ports.store import SessionState
from ordain.rules.attach import ATTACH, Attached
from ordain.rules.cues import cues
from ordain.rules.entry import ENTRY, EntryFacts, EntryInputs, EntryRefused
from ordain.rules.outcome import OUTCOME, OutcomeFacts, TurnOutcome
from ordain.rules.proposals import Parsed, Unparsed, parse_object
from ordain.rules.route import ROUTE, Path, RouteFacts, RouteInputs
from ordain.runtime.attaching import attach_facts
from ordain.runtime.received import Received

NOTHING = "nothing"
UNAVAILABLE = "path_unavailable"
CLOSED: Mapping[str, type[StrEnum]] = {"attached": Attached, "outcome": TurnOutcome, "path": Path}
"""What a probe may expect under these names; a typing error would otherwise be a probe that never holds."""


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
        what = "; ".join(f"{one.name} should be {one.expected} and is {one.found}" for one in self.missed)
        return f"probes[{self.number}] {json.dumps(self.text[:80], ensure_ascii=False)}: {what or 'holds'}"


def run_probes(catalog: Catalog, place: str = "policy") -> Sequence[Probed]:
    """Every probe of the catalog's policy, in order; ``place`` is what an error calls the policy.

    Raises:
        ConfigurationError: a probe expects something that cannot come out of any policy.
    """
    _check(catalog.policy, place)
    return [_probed(number, probe, catalog) for number, probe in enumerate(catalog.policy.probes)]


def _check(policy: Policy, place: str) -> None:
    for number, probe in enumerate(policy.probes):
        expected = probe.expect.model_dump(mode="json", exclude_none=True)
        where = f"{place}: probes.{number}.expect"
        if not expected:
            raise ConfigurationError(f"{where}: names nothing, so that the probe would always hold")
        for name, known in CLOSED.items():
            if name in expected and expected[name] not in set(known):
                raise ConfigurationError(f"{where}.{name}: {expected[name]!r} is none of {', '.join(known)}")


def _probed(number: int, probe: Probe, catalog: Catalog) -> Probed:
    found = outcome_of(probe, catalog)
    expected: dict[str, str] = probe.expect.model_dump(mode="json", exclude_none=True)
    missed = tuple(
        Missed(name=name, expected=value, found=found.get(name, NOTHING)) for name, value in expected.items() if found.get(name) != value
    )
    return Probed(number=number, text=probe.message.text, missed=missed)


def outcome_of(probe: Probe, catalog: Catalog) -> Mapping[str, str]:
    """What policy makes of a probe's message: attached, verb, outcome, path, budget_class, refused; what does not arise is not there."""
    asked, policy = probe.message, catalog.policy
    attached = ATTACH.apply(attach_facts(_empty_session(), _message(probe), policy), None, policy).outcome
    found = {"attached": _name_of(attached)}
    if found["attached"] != Attached.NEW_REQUEST:
        return found
    facts = EntryFacts(mode=asked.mode, verb=asked.verb or "")
    entry: Any = ENTRY.apply(facts, EntryInputs(tools=(), catalog=catalog), policy).outcome
    if isinstance(entry, EntryRefused):
        return {**found, "refused": entry.code}
    outcome_facts = OutcomeFacts(mode=asked.mode, workflow=asked.workflow or "", delegates=len(asked.delegates))
    outcome: TurnOutcome = OUTCOME.apply(outcome_facts, None, policy).outcome.outcome
    found |= {"verb": entry.verb, "outcome": str(outcome)}
    if outcome is not TurnOutcome.DIRECT:
        return {**found, "refused": UNAVAILABLE}
    proposal = _suggestion(probe)
    route_facts = RouteFacts(mode=asked.mode, supervised=asked.supervised, asked="" if proposal is None else "answered")
    routed = ROUTE.apply(route_facts, RouteInputs(proposal=proposal), policy).outcome
    found |= {"path": str(routed.path), "budget_class": str(routed.budget_class)}
    return found if VERB_OF[routed.path] is not None else {**found, "refused": UNAVAILABLE}


def _name_of(outcome: Any) -> str:
    return str(outcome.__struct_config__.tag)


def _suggestion(probe: Probe) -> Parsed | Unparsed | None:
    if probe.suggests is None:
        return None
    return parse_object(probe.suggests if isinstance(probe.suggests, str) else json.dumps(probe.suggests, default=str))


def _message(probe: Probe) -> Received:
    asked = probe.message
    hints = RoutingHints(
        mode=asked.mode,
        verb=asked.verb,
        supervised=asked.supervised,
        workflow=None if asked.workflow is None else WorkflowHint(template=asked.workflow),
        delegates=asked.delegates,
    )
    return Received(
        text=asked.text, user="probe", channel="other", message_id="probe", hints=hints, principal="probe", found=cues(asked.text)
    )


def _empty_session() -> SessionState:
    return SessionState(workspace="", session="", subject="", key=b"", seq=1, next_thread=1, active=0, threads=(), at_work=(), open=0)
