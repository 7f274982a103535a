"""Flow ``roster``: a plan of specialists, carried out in waves of handoffs (B-39, PLAN-12..PLAN-18,
C6).

The plan is a proposal; rules say what of it is followed, by whom, what runs next, and what is done
about a step that failed. Each step is a call of a card's verb like any other: one door, one
approval, one journal. What an agent says is no act: whether the plan was done its acts say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from msgspec.structs import replace

from ordain.contracts.agent_verbs import WhyHanded
from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.roster import (
    EVENTS_TOLD,
    GENERAL_AGENT,
    HandoffStrategy,
    StepEvent,
    StepEventName,
    StepGate,
    StepStatus,
)
from ordain.contracts.verbs import Trust
from ordain.effects.calls import Call
from ordain.effects.effect import ANOTHER_STEP_TRY, Wait, WaitFor
from ordain.effects.results import VerbReturned
from ordain.flows.act import Cleared, carry_out_all, clear
from ordain.flows.acted import Acted
from ordain.flows.carried import (
    InConversation,
    StepResult,
    VerbPlanInput,
    VerbPlanOutput,
    turn_kind,
)
from ordain.flows.context import FlowContext
from ordain.flows.findings import StepFinding, listed, set_apart
from ordain.flows.roster.gates import gates_passed, never_scheduled, whole_record
from ordain.flows.roster.planning import Planned, planned
from ordain.flows.roster.request import RosterArgs, arguments_of
from ordain.flows.roster.steps import (
    agreed,
    call_of,
    came_to,
    did_something,
    fallback_of,
    finding_of,
    handed_on,
    in_vain,
    never_done,
    result_of,
    told,
    tools_of,
    why_nothing,
)
from ordain.ports.effects import Interrupted
from ordain.rules.header import plain
from ordain.rules.negotiate import Agreed
from ordain.rules.plan import PlanRefused
from ordain.rules.plan_wave import (
    PLAN_WAVE,
    PlanOver,
    PlanStatus,
    PlanWaveFacts,
    PlanWaveInputs,
    Wave,
)
from ordain.rules.recourse import RECOURSE, HandToFallback, RecourseFacts, StepFails, TryStepAgain
from ordain.rules.step_event import STEP_EVENT, StepEventFacts

WHOLE, BOUND, GOOD, SEEN, APART = 2, 3, 4, 5, 6
"""From which version on a step's record is whole, time, records and events are held to what was
done, a step that somebody did makes good that others did not, and dropped ones are told apart, what
agents had come to when the plan was stopped counts, and the words of each stand behind a mark.
"""
LEFT = (StepStatus.QUEUED, StepStatus.PLANNED, StepStatus.SCHEDULED, StepStatus.IN_PROGRESS)
"""Where a step is that a plan leaves undone."""
CODE_CHARS = 64
DETAIL_CHARS = 200
REFUSED = {
    "unknown_agent": "there is no agent {}",
    "no_general_agent": "there is no general_agent to take what no plan may be followed for: {}",
}


async def run_roster(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Plan, hand on each step, and give back what was found, what the gates said of each step and
    what became of it.
    """
    return await run_version(context, call, version=6)


async def run_version(context: FlowContext, call: VerbPlanInput, *, version: int) -> VerbPlanOutput:
    """A plan as ``version`` of this verb, from 2 on, has it; its answer says what failed."""
    args = arguments_of(call)
    context = context.told(turn_kind(call))
    try:
        plan = await planned(context, call, args, doubts=version >= BOUND, apart=version >= GOOD)
    except Interrupted:
        return VerbPlanOutput(ok=False, error="cancelled", message="interrupted")
    if isinstance(plan, PlanRefused):
        return VerbPlanOutput(
            ok=False,
            error=plan.code,
            message=REFUSED.get(plan.code, "{}").format(plain(plan.detail, DETAIL_CHARS)),
        )
    return await _Plan(context, args, plan, version).run()


class _Plan:
    """A plan on its way: what became of each step so far is always in ``records``."""

    def __init__(self, context: FlowContext, args: RosterArgs, plan: Planned, version: int) -> None:
        self._context, self._args, self._plan = context, args, plan
        self._whole, self._bound, self._good, self._sees, apart = (
            version >= since for since in (WHOLE, BOUND, GOOD, SEEN, APART)
        )
        self._in_words = set_apart if apart else listed
        planned, begins = (
            StepStatus.PLANNED,
            StepStatus.QUEUED if self._bound else StepStatus.PLANNED,
        )
        self._records = [
            replace(one, status=begins) if one.status is planned else one for one in plan.records
        ]
        self._findings: dict[int, StepFinding] = {}
        self._events: list[StepEvent] = []
        self._tried: dict[int, list[str]] = {record.index: [] for record in plan.records}
        self._results: list[StepResult] = []
        self._first_given: dict[int, tuple[Cleared, int]] = {}
        self._worked: dict[int, str] = {}
        self._width, self._wave = 1, 0
        self._why = "cancelled"
        self._over = PlanOver(status=PlanStatus.FAILED)
        self._first = ""

    async def run(self) -> VerbPlanOutput:
        """All of it decided at once, then wave by wave, until nothing is left that could run."""
        try:
            await self._cleared()
            self._move(StepEventName.ACCEPTED, self._at(StepStatus.QUEUED))
            most = (
                self._context.now() + self._context.catalog.policy.roster.plan_seconds * 1_000_000
            )
            self._context = self._context.until(min(self._context.deadline, most))
            while isinstance(wave := self._next(), Wave):
                self._wave += 1
                await self._carry_out(wave.steps)
            self._over = wave
        except Interrupted as interrupted:
            return self._ended("cancelled", f"{interrupted.what} by {interrupted.by}")
        return self._ended(*self._failure())

    async def _cleared(self) -> None:
        """Every handoff of the plan is decided before any of them runs: one refused refuses all,
        and one yes is to exactly these.

        Agents whom somebody named are a fan-out, of which no more are handed work than policy lets
        at once.
        """
        given = [
            record.index
            for record in self._records
            if record.status in (StepStatus.QUEUED, StepStatus.PLANNED)
        ]
        calls = [self._call(index, self._reason(index)) for index in given]
        if calls:
            fan_out, at_once = self._plan.reason is WhyHanded.REQUESTED, self._at_once(len(calls))
            cleared = await clear(
                self._context, calls, (0,), width=0 if fan_out else at_once, plan=not fan_out
            )
            self._first_given = {index: (cleared, number) for number, index in enumerate(given)}
            self._width = min(cleared.width, at_once)

    def _at_once(self, steps: int) -> int:
        """How many of the plan's steps are at work at once at the most."""
        in_order = self._plan.strategy is HandoffStrategy.SEQUENTIAL and not self._plan.needs
        return 1 if in_order else min(steps, self._context.catalog.policy.roster.max_concurrency)

    def _reason(self, index: int) -> WhyHanded:
        return WhyHanded.FALLBACK if self._records[index].fallback_applied else self._plan.reason

    def _next(self) -> Wave | PlanOver:
        facts = PlanWaveFacts(
            steps=len(self._records),
            left_ms=max(0, self._context.left_ms()),
            width=self._width,
            done=self._at(StepStatus.COMPLETED),
            failed=self._at(StepStatus.FAILED),
            verbs=tuple(
                f"{AGENT_VERB}{one.executed_agent or one.planned_agent}" for one in self._records
            )
            if self._bound
            else (),
        ).fitting()
        inputs = PlanWaveInputs(strategy=self._plan.strategy, needs=self._plan.needs)
        decision = self._context.fx.decide(PLAN_WAVE, facts, inputs, ())
        self._why = "cancelled" if isinstance(decision.outcome, Wave) else str(decision.reason)
        return decision.outcome

    def _at(self, status: StepStatus) -> tuple[int, ...]:
        return tuple(record.index for record in self._records if record.status is status)

    async def _carry_out(self, steps: Sequence[int]) -> None:
        """One wave to its end. Whatever of it is tried again or taken by another is another
        handoff, decided anew.
        """
        self._move(StepEventName.SCHEDULED, steps)
        again, wait_ms = await self._hand_on(steps)
        while again:
            self._move(StepEventName.SCHEDULED, again)
            if wait_ms:
                await self._context.fx.perform(
                    Wait(
                        what=WaitFor.TIMER,
                        about=ANOTHER_STEP_TRY,
                        deadline=self._context.now() + wait_ms * 1000,
                    )
                )
            again, wait_ms = await self._hand_on(again)

    async def _hand_on(self, steps: Sequence[int]) -> tuple[list[int], int]:
        """These steps beside each other; gives those that go on after that, and after how long."""
        cleared, numbers = await self._permitted(steps)
        for index, number in zip(steps, numbers, strict=True):
            self._gated(
                index,
                gates_passed(
                    self._records[index].executed_agent, cleared.looked[number], self._wave
                ),
            )
            if cleared.goes(number) or not self._bound:
                self._begin(index)
        later = sum(record.status is StepStatus.PLANNED for record in self._records)
        try:
            ended = await carry_out_all(
                self._context, cleared, numbers, later=later, talk=self._talk(steps)
            )
        except Interrupted as interrupted:
            if self._sees:
                for number, acted in came_to(cleared, numbers, interrupted.ended):
                    self._came(steps[number], acted)
            raise
        again, wait_ms = list[int](), 0
        for index, acted in zip(steps, ended, strict=True):
            follows = self._took(index, acted)
            match follows:
                case None | StepFails():
                    continue
                case TryStepAgain():
                    wait_ms = max(wait_ms, follows.wait_ms)
                case HandToFallback():
                    self._hand_to(index, follows.agent)
                case _:
                    assert_never(follows)
            again.append(index)
        return again, wait_ms

    async def _permitted(self, steps: Sequence[int]) -> tuple[Cleared, list[int]]:
        """The handoffs as they were decided with the plan; those of steps that were handed on
        before are decided now.
        """
        known = [self._first_given.pop(index) for index in steps if index in self._first_given]
        if len(known) == len(steps):
            return known[0][0], [number for _, number in known]
        calls = [self._call(index, self._reason(index)) for index in steps]
        return await clear(self._context, calls, (0,), width=len(calls), plan=True), list(
            range(len(calls))
        )

    def _call(self, index: int, reason: WhyHanded) -> Call:
        record = self._records[index]
        return call_of(self._args, record, record.executed_agent, reason)

    def _talk(self, steps: Sequence[int]) -> InConversation:
        """What these steps may build on: what they need, else what the steps before them found."""
        needs = self._plan.needs
        wanted = {before for index in steps for before in (needs[index] if needs else range(index))}
        found = tuple(
            handed_on(self._findings[index]) for index in sorted(wanted) if self._done(index)
        )
        return InConversation(
            recalled=found, within_ms=max(1, self._context.left_ms()) if self._bound else 0
        )

    def _done(self, index: int) -> bool:
        return self._records[index].status is StepStatus.COMPLETED and not self._findings[
            index
        ].structured.get("passed")

    def _gated(self, index: int, gates: Iterable[StepGate]) -> None:
        """What the gates said of a step stands in its record."""
        if self._whole:
            self._put(index, gates=(*self._records[index].gates, *gates))

    def _begin(self, index: int) -> None:
        record = self._records[index]
        self._put(index, attempts=record.attempts + 1)
        if self._bound:  # whatever comes of it, somebody has it by now
            self._worked[index] = record.executed_agent
        self._happens(StepEventName.STARTED, index)

    def _took(self, index: int, acted: Acted) -> TryStepAgain | HandToFallback | StepFails | None:
        """What an attempt came to; None where the step is done."""
        finding = self._came(index, acted)
        if isinstance(acted.result, VerbReturned):
            return None
        follows = self._recourse(index, acted, finding)
        self._first = self._first or (finding.error if isinstance(follows, StepFails) else "")
        return follows

    def _came(self, index: int, acted: Acted) -> StepFinding:
        """What an attempt came to stands in the step's record, and what was found."""
        record, finding = self._records[index], finding_of(self._records[index], acted)
        self._findings[index] = finding
        if not acted.denied:
            self._worked[index] = record.executed_agent
        self._results.append(result_of(index, acted, finding))
        tools = tuple(
            dict.fromkeys((*record.executed_tools, *tools_of(self._context.catalog, acted)))
        )
        if isinstance(acted.result, VerbReturned):
            self._put(
                index,
                executed_tools=tools,
                executed_reason=record.planned_reason,
                error="" if self._bound else record.error,
            )
            self._happens(StepEventName.COMPLETED, index, acted)
            return finding
        self._put(
            index, executed_tools=tools, error=finding.error, executed_reason=record.planned_reason
        )
        self._happens(StepEventName.FAILED, index, acted)
        return finding

    def _recourse(
        self, index: int, acted: Acted, finding: StepFinding
    ) -> TryStepAgain | HandToFallback | StepFails:
        record, tried, catalog = self._records[index], self._tried[index], self._context.catalog
        first = tried[0] if tried else record.executed_agent
        facts = RecourseFacts(
            step=index,
            agent=record.executed_agent,
            code=finding.error.rpartition(".")[2][:CODE_CHARS],
            attempt=sum(
                event.step == index and event.event is StepEventName.STARTED
                for event in self._events_of(record.executed_agent)
            ),
            left_ms=max(0, self._context.left_ms()),
            tried=tuple(tried),
            fallback=fallback_of(catalog, first),
            general=GENERAL_AGENT in catalog.data.cards,
            acted=did_something(acted),
            denied=bool(acted.denied),
        )
        refs = (acted.seq,) if acted.seq >= 0 else ()
        return self._context.fx.decide(RECOURSE, facts, None, refs).outcome

    def _events_of(self, agent: str) -> Sequence[StepEvent]:
        return [event for event in self._events if event.agent == agent]

    def _hand_to(self, index: int, agent: str) -> None:
        """Somebody else takes the step; both stand in its record (B-16)."""
        record = self._records[index]
        self._tried[index].append(record.executed_agent)
        self._put(
            index,
            executed_agent=agent,
            fallback_applied=True,
            fallback_agent=agent,
            fallback_reason=record.error,
        )

    def _put(self, index: int, **more: Any) -> None:
        self._records[index] = replace(self._records[index], **more)

    def _happens(self, event: StepEventName, index: int, acted: Acted | None = None) -> None:
        """Something happened to a step: where it is by now a rule says, on record, so that whoever
        follows the run sees it then.
        """
        record, done = self._records[index], event is StepEventName.COMPLETED
        facts = StepEventFacts(
            step=index,
            event=event,
            before=record.status,
            agent=record.executed_agent,
            attempt=record.attempts,
            failed=in_vain(self._results, index) if self._good and done else (),
        )
        refs = (acted.seq,) if acted is not None and acted.seq >= 0 else ()
        self._put(
            index, status=self._context.fx.decide(STEP_EVENT, facts, None, refs).outcome.status
        )
        if event in EVENTS_TOLD:
            self._events.append(
                StepEvent(
                    event=event, step=index, agent=record.executed_agent, attempt=record.attempts
                )
            )

    def _move(self, event: StepEventName, steps: Sequence[int]) -> None:
        """Steps come to where nobody has them yet, or not any more; plans of before knew no such
        places.
        """
        for index in steps if self._bound else ():
            self._happens(event, index)

    def _failure(self) -> tuple[str, str]:
        """The code of a plan of which nothing was done, and its words; "" of every other: what was
        not done stands in the acts.
        """
        if self._over.status is not PlanStatus.FAILED:
            return "", ""
        findings = [found for _, found in sorted(self._findings.items())]
        return why_nothing(findings, self._first.rpartition(".")[2])

    def _ended(self, error: str, message: str) -> VerbPlanOutput:
        """What was found, and the record of each step; one that never ran is cancelled."""
        for index in (at for status in LEFT for at in self._at(status)):
            self._move(StepEventName.CANCELLED, (index,))
            self._put(index, status=StepStatus.CANCELLED)
            self._gated(index, self._never(index))
        findings = tuple(found for _, found in sorted(self._findings.items()))
        structured: dict[str, Any] = {
            "status": str(self._status()),
            "plan": told(self._plan.plan),
            "steps": [whole_record(one, self._worked.get(one.index, "")) for one in self._records]
            if self._whole
            else told(self._records),
            "results": told(findings),
            "events": told(self._events),
        }
        if (negotiated := self._negotiated()) is not None:
            structured["negotiation"] = told(negotiated)
        skipped = [
            never_done(record)
            for record in self._records
            if not record.attempts and record.index not in self._findings
        ]
        return VerbPlanOutput(
            ok=not error,
            output={"content": self._in_words(findings) or message, "structured": structured},
            trust={"content": Trust.FOREIGN, "structured": Trust.FOREIGN},
            error=error,
            message=message,
            step_results=(*self._results, *skipped),
        )

    def _status(self) -> PlanStatus:
        """What the plan came to; one that was stopped was done in part, where any of it was."""
        stopped = (
            self._bound
            and self._over.status is PlanStatus.FAILED
            and self._at(StepStatus.COMPLETED)
        )
        return PlanStatus.PARTIAL if stopped else self._over.status

    def _never(self, index: int) -> Iterable[StepGate]:
        """The gates of a step that never had its turn."""
        if self._records[index].attempts:
            return ()
        cleared, number = self._first_given.get(index, (None, 0))
        return never_scheduled(
            self._records[index].executed_agent,
            None if cleared is None else cleared.looked[number],
            self._why,
        )

    def _negotiated(self) -> Agreed | None:
        if len(self._records) < 2 or self._over.status is PlanStatus.FAILED:
            return None
        done = [at for at in self._at(StepStatus.COMPLETED) if self._done(at)]
        return agreed(self._context, [(self._records[at], self._findings[at]) for at in done])
