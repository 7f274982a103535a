"""Policy diff: what would other policy have decided over the same journal?

Two passes. *Exact*: every decision is made anew and the new one is handed to the flow, until the
flow performs an effect that differs from the record: that address is the frontier, for past it
nobody knows what the world would have answered. *Bounded*: from the frontier on, recorded decisions
are forced and each rule is asked on the recorded facts.

A child's journal is exact up to its own frontier where its parent started it before the parent's
frontier, else bounded throughout. Budgets are not simulated again: a call that costs what was
recorded is weighed as recorded.

What an approver said is no effect of the run's and still the policy's to take: the first answer
that would not count is a frontier too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import Effect, VerbCall
from ordain.errors import JournalCorrupt, JournalDiverged
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.flows.values import Values
from ordain.journal.codec import decode
from ordain.journal.folds import ending
from ordain.journal.open_joins import joins
from ordain.journal.records import DecisionBody, Record, RecordKind
from ordain.ports.store import StoredRun
from ordain.rules.approve import APPROVE
from ordain.rules.decision import Decision, Rule
from ordain.rules.recover import RECOVER, Recovering, found_out_of
from ordain.runtime.beyond import Rereading
from ordain.runtime.execution import Execution
from ordain.runtime.flips import Flip, about_call, as_recorded, note
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.flow_outcome import FlowRaised, NothingBeyond, OutOfJournal, flow_outcome
from ordain.runtime.policy_changes import COMPARED, PolicyChange
from ordain.runtime.policy_consents import untaken_answers
from ordain.runtime.replay import opened, replay
from ordain.runtime.run_state import RunState
from ordain.runtime.setup import RunSetup


@dataclass(slots=True, kw_only=True)
class PolicyDiff:
    """What another policy changes in one run. ``frontier`` is the first effect that would differ,
    None where none does.

    ``asked`` are the decisions that the exact pass made anew. ``ended`` is the settlement (status,
    reason) that the flow comes to where there is no frontier, ``settled`` the one on record, None
    of a run that has not settled.
    """

    run: str
    flow: str
    verdict: str = COMPARED
    frontier: int | None = None
    ended: tuple[str, str] | None = None
    settled: tuple[str, str] | None = None
    flips: list[Flip] = field(default_factory=list[Flip])
    children: list[PolicyDiff] = field(default_factory=list["PolicyDiff"])
    asked: set[str] = field(default_factory=set[str], repr=False)


class _Forced:
    """Implements ``Judge`` for the bounded pass: the flow gets what was recorded, the other policy
    is only asked.
    """

    def __init__(self, policy: Policy, flips: list[Flip], asked: Set[str]) -> None:
        self._policy = policy
        self._flips = flips
        self._asked = asked

    def judge(
        self, decision: Decision[Any], rule: Rule[Any, Any, Any], facts: Struct, inputs: object
    ) -> Decision[Any]:
        if decision.address not in self._asked:
            note(
                self._flips,
                decision,
                rule.apply(facts, inputs, self._policy),
                about_call(rule, facts),
                exact=False,
            )
        return decision

    def rendered(self, addr: int, effect: Effect[Any], result: Any, values: Values) -> None:
        return None


class _Exact(Execution):
    """An execution whose decisions may differ in number and facts: records are found by address,
    only effects must agree.
    """

    def __init__(
        self, setup: RunSetup, records: Sequence[Record], beyond: NothingBeyond, state: RunState
    ) -> None:
        decisions: dict[str, DecisionBody] = {}
        for record in records:
            body = decode(record) if record.kind is RecordKind.DECISION else None
            if isinstance(body, DecisionBody):
                decisions[body.addr] = body
        undecided = [record for record in records if record.kind is not RecordKind.DECISION]
        super().__init__(setup.run, undecided, beyond, setup.catalog, state)
        self._recorded = decisions
        self._applied = setup.catalog.policy
        self.flips: list[Flip] = []
        self.asked: set[str] = set()

    @property
    def as_recorded(self) -> bool:
        """Whether every decision on record was made again, and none came out otherwise."""
        return not self.flips and not self._recorded

    def _recovered(self, call: VerbCall) -> Recovering:
        decide = super()._recovered(call)
        while (
            body := self._recorded.get(
                f"{self.effect}/{RECOVER.name}#{self._counts.get(RECOVER.name, 0)}"
            )
        ) is not None:
            decide(found_out_of(body.facts))
        return decide

    def _decide(
        self, rule: Rule[Any, Any, Any], facts: Struct, inputs: Any, refs: tuple[int, ...] = ()
    ) -> Decision[Any]:
        """Decide anew; where the journal has a decision of this rule at this address, compare."""
        address = self.address(rule.name)
        body = self._recorded.pop(address, None)
        anew = rule.apply(facts, inputs, self._applied)
        self.asked.add(address)
        if body is not None and not as_recorded(body, anew):
            outcome = rule.read_outcome(body.outcome)
            recorded: Decision[Any] = Decision(
                outcome=outcome, reason=rule.reason(body.reason), address=address
            )
            note(self.flips, recorded, anew, about_call(rule, facts, body), exact=True)
        return Decision(outcome=anew.outcome, reason=anew.reason, address=address)


class TriedPolicy:
    """A policy that many runs are compared with; the catalogs that they pinned are compiled with it
    once.
    """

    def __init__(self, policy: Policy) -> None:
        """One that names no model profiles keeps those of each run's own."""
        self._policy = policy
        self._compiled: dict[str, Catalog] = {}

    def under(self, pinned: Catalog) -> Catalog:
        """The pinned catalog with this policy instead of its own."""
        known = self._compiled.get(pinned.digest)
        if known is None:
            filled = (
                self._policy
                if self._policy.lanes.profiles
                else with_lanes(self._policy, pinned.policy)
            )
            profiles = {**_unknown_profiles(filled, pinned), **pinned.data.profiles}
            known = self._compiled[pinned.digest] = pinned.tried(policy=filled, profiles=profiles)
        return known


def _unknown_profiles(policy: Policy, pinned: Catalog) -> dict[str, ModelProfile]:
    """Models that the policy names and the run's configuration did not have: what one of them would
    have said nobody knows, and that it is asked is found.
    """
    names = {
        name for lane in policy.lanes.profiles.values() for name in lane
    } - pinned.data.profiles.keys()
    return {name: ModelProfile(provider="openai", model=name) for name in sorted(names)}


class _World(Struct, frozen=True, kw_only=True):
    """What a comparison needs beside run and catalogs: the kinds, the children's journals, the
    sessions' transcripts.
    """

    kinds: Kinds
    load: Callable[[str], StoredRun | None]
    transcript: TranscriptReader | None


def diff(
    stored: StoredRun,
    catalog: Catalog,
    policy: Policy | TriedPolicy,
    kinds: Kinds,
    load: Callable[[str], StoredRun | None],
    transcript: TranscriptReader | None = None,
) -> PolicyDiff:
    """Compare one run, its children included; ``load`` finds a child. What cannot be replayed is in
    the verdict.
    """
    tried = policy if isinstance(policy, TriedPolicy) else TriedPolicy(policy)
    return _diff(
        stored,
        catalog,
        tried.under(catalog),
        _World(kinds=kinds, load=load, transcript=transcript),
        exact=True,
    )


def _diff(
    stored: StoredRun, catalog: Catalog, other: Catalog, world: _World, *, exact: bool
) -> PolicyDiff:
    """Where all comes out as recorded under the other policy, that is shown; only what does not is
    held to its own policy, too, before it is told.
    """
    report = PolicyDiff(run=stored.id, flow=f"{stored.flow}@{stored.flow_version}")
    same = exact and _exact(stored, (catalog, other), world, report)
    if not same or any(True for _ in untaken_answers(stored, catalog, other.policy)):
        replayed = replay(stored, catalog, world.kinds, world.transcript)
        if not replayed.equal:
            return PolicyDiff(run=report.run, flow=report.flow, verdict=replayed.verdict)
        if not exact:
            report.settled, report.frontier = _settled(stored), -1
        _untaken(stored, catalog, other.policy, report)
        if report.frontier is not None:
            _bounded(opened(stored, catalog, world.kinds), stored, other.policy, report)
    for addr, child in children_of(stored):
        try:
            loaded = world.load(child)
        except JournalCorrupt as damaged:  # it is named, and the others are compared
            report.children.append(PolicyDiff(run=child, flow="", verdict=damaged.code))
            continue
        if loaded is not None:
            before = report.frontier is None or addr < report.frontier
            report.children.append(_diff(loaded, catalog, other, world, exact=before))
    return report


def _settled(stored: StoredRun) -> tuple[str, str] | None:
    end = ending(stored.records)
    return None if end is None else (end.status, end.reason)


def with_lanes(policy: Policy, pinned: Policy) -> Policy:
    """A policy that names no model profiles keeps those of the pinned one."""
    return policy.model_copy(
        update={"lanes": policy.lanes.model_copy(update={"profiles": pinned.lanes.profiles})}
    )


def _exact(
    stored: StoredRun, catalogs: tuple[Catalog, Catalog], world: _World, report: PolicyDiff
) -> bool:
    """The exact pass; whether everything came out as recorded, to the end: no decision is another
    one or missing, and so is no effect.
    """
    pinned, other = catalogs
    try:
        setup = structs.replace(opened(stored, pinned, world.kinds), catalog=other)
        execution = _Exact(
            setup, stored.records, beyond := NothingBeyond(), setup.state(stored.records[0].at)
        )
    except Exception:
        # as in a replay, which is to say what is wrong with the record: nothing was compared
        return False
    report.settled = _settled(stored)
    match flow_outcome(setup, execution, beyond):
        case FlowEnd(settlement=settlement):
            report.ended = (settlement.status, settlement.reason)
            if not execution.exhausted:
                report.frontier = execution.effect
        case OutOfJournal() | FlowRaised(error=JournalDiverged()):
            report.frontier = execution.effect - 1
        case FlowRaised(error=error):
            report.verdict, report.frontier = f"flow_fault:{type(error).__name__}", execution.effect
    report.flips += execution.flips
    report.asked |= execution.asked
    if report.settled is None and report.ended is None and execution.exhausted:
        report.frontier = None
    return (
        report.frontier is None
        and report.ended is not None
        and report.ended == report.settled
        and execution.as_recorded
    )


def _untaken(stored: StoredRun, catalog: Catalog, other: Policy, report: PolicyDiff) -> None:
    """Note each answer of an approver that would not count; how it goes on after the first nobody
    knows.
    """
    for answer in untaken_answers(stored, catalog, other):
        before = report.frontier is None or answer.effect < report.frontier
        change = PolicyChange.NEW_DENY if answer.yes else PolicyChange.OTHER
        flips = (
            Flip(
                address=answer.address,
                rule=APPROVE.name,
                recorded=answer.recorded,
                now=answer.now,
                exact=before,
                verb=verb,
                change=change,
            )
            for verb in answer.verbs
        )
        report.flips += flips
        if before:
            report.flips[:] = [
                flip if _effect(flip) <= answer.effect else replace(flip, exact=False)
                for flip in report.flips
            ]
            report.frontier, report.ended = answer.effect + 1, None


def _effect(flip: Flip) -> int:
    return int(flip.address.partition("/")[0])


def _bounded(setup: RunSetup, stored: StoredRun, policy: Policy, report: PolicyDiff) -> None:
    reading = Rereading(judge=_Forced(policy, report.flips, report.asked))
    execution = setup.execution(
        stored.records, beyond := NothingBeyond(), setup.state(stored.records[0].at), reading
    )
    # whatever it comes to is what is recorded: it replayed equal
    flow_outcome(setup, execution, beyond)


def children_of(stored: StoredRun) -> list[tuple[int, str]]:
    """(effect number, run id) of every child: those that have ended, as they did, and behind them
    those whose end the run has not seen, because it waits for them or came to its own before.
    """
    found: list[tuple[int, str]] = []
    for record in stored.records:
        if record.kind is RecordKind.CHILD_ENDED:
            body: Any = decode(record)
            found.append((body.addr, body.child))
    ended = {child for _, child in found}
    found += (
        (join.addr, child)
        for join in joins(stored.records, stored.id)
        for child in join.children
        if child not in ended
    )
    return found
