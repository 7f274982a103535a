"""``deliberate``: a council's rounds, for whoever needs its word (C4, CNC-02, B-08).

Per round the seats speak side by side as child runs, then chair and auditor are asked by the run
itself; all of it within the round's time. Rule ``council`` says what a verdict leads to, and
nothing else does: a text alone is no result (EXE-08). A kind whose flow calls this brings
``COUNCIL_PROMPTS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from ordain.contracts.council import (
    AUDITOR,
    CHAIR,
    AuditVerdict,
    BlinkJudgement,
    CouncilDirective,
    CouncilMeta,
    CouncilResult,
    DeliberationRequest,
    Seat,
    SeatOpinion,
    missing_names,
    read_proposal,
    seats_of,
)
from ordain.effects.children import AnyEnded, Cancelled, Completed, Failed, Join, Spawn, TimedOut
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.prompt import (
    AUDITOR_PROMPT,
    CHAIR_PROMPT,
    RoundSoFar,
    Unaccepted,
    judgement_in,
    proposal_of,
    verdict_in,
)
from ordain.flows.deliberation.question import PROMPT_CHARS, CouncilQuestion, question_of
from ordain.flows.deliberation.seat_run import INVALID, SEAT_KIND, SeatInput, SeatOutput
from ordain.flows.kind import PromptKind
from ordain.flows.transcript import HistoryRef
from ordain.journal.records import raw
from ordain.rules.council import (
    COUNCIL,
    AskAuditor,
    CouncilFacts,
    CouncilFailed,
    CouncilGoesOn,
    CouncilInputs,
    CouncilOutcome,
    CouncilStage,
)
from ordain.rules.decision import Decision
from ordain.rules.quorum import ABSENT_TOLD, QUORUM, QuorumFacts, QuorumMet, RoundRefused

NO_QUORUM = "council_no_quorum"
NO_SEAT = "no_seat"
"""Why chair or auditor gave no answer that the catalog has no seat of."""
FIRST_SEAT = f"{SEAT_KIND}@1"
LOSING_SEATS = ("", FIRST_SEAT, f"{SEAT_KIND}@2")
"""In whose councils an auditor's own answer was lost where its verdict had the chair's revised, or
a new round held.
"""
_OUTPUT = msgspec.json.Decoder(SeatOutput)


class Deliberated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a council came to: ``next`` is ``accept_text`` or ``delegate_chain`` where it came to
    that (``ok``), else ``error`` and ``message`` say why it did not.

    ``result`` tells how far it got, either way.
    """

    ok: bool
    error: str = ""
    message: str = ""
    next: CouncilDirective | None = None
    result: CouncilResult | None = None


async def deliberate(
    context: FlowContext,
    request: DeliberationRequest,
    spoken: HistoryRef | None = None,
    *,
    recorded: bool = False,
) -> Deliberated:
    """Hold a council on the request, within the rounds that it grants and policy permits.

    ``spoken`` is the history of the conversation that it is asked in. ``recorded``: the request is
    the run's own input. Interrupts are the caller's.
    """
    council = _Council(context, request, question_of(request, spoken), recorded=recorded)
    while council.round < council.rounds and council.ended is None:
        council.round += 1
        council.ended = await council.one_round()
    assert council.ended is not None  # the last round of all leads to no other
    return council.ended


class _Judged(Struct):
    """What chair and auditor said of one answer; an ``AskFailed`` where one said nothing, None of
    an auditor that was not asked.
    """

    chair: ModelAnswer | AskFailed
    auditor: ModelAnswer | AskFailed | None = None

    @property
    def refs(self) -> tuple[int, ...]:
        """The records that hold it."""
        return tuple(one.seq for one in (self.chair, self.auditor) if isinstance(one, ModelAnswer))


class _Council:
    """One council: its rounds so far."""

    def __init__(
        self,
        context: FlowContext,
        request: DeliberationRequest,
        question: CouncilQuestion,
        *,
        recorded: bool,
    ) -> None:
        """Nothing was asked yet."""
        self.context, self.request, self.question, self.recorded = (
            context,
            request,
            question,
            recorded,
        )
        self.policy = context.catalog.policy.council
        self.seats = seats_of(context.catalog.data.seats, request.universe)
        self.rounds = min(request.max_rounds or self.policy.max_rounds, self.policy.max_rounds)
        self.round = 0
        self.ended: Deliberated | None = None
        self.opinions: tuple[tuple[int, SeatOutput], ...] = ()
        self.objections: list[Unaccepted] = []
        self.own = False
        self.blink: BlinkJudgement | None = None
        self.verdict: AuditVerdict | None = None

    async def one_round(self) -> Deliberated | None:
        """All seats, then chair and auditor, and both once more where the answer is to be revised;
        None: another round.
        """
        if (refused := self._refused()) is not None:
            return refused
        self.blink = self.verdict = None  # what the round before proposed is not this one's
        began, round_us = self.context.now(), round(self.policy.round_timeout_seconds * 1_000_000)
        within = self.context.until(min(self.context.deadline, began + round_us))
        until = min(within.deadline, began + round_us * self.policy.seats_percent // 100)
        ends = await self._hear(within, until)
        absent = _absent(self.seats, ends, over=self.context.now() >= until)
        facts = QuorumFacts(
            round=self.round, seats=len(self.seats), spoken=len(self.opinions), absent=absent
        )
        quorum = within.fx.decide(QUORUM, facts, None, tuple(seq for seq, _ in self.opinions))
        if not isinstance(quorum.outcome, QuorumMet):
            return self._failed(
                NO_QUORUM, f"{quorum.reason.meaning} {_why_silent(self.seats, ends)}".strip()
            )
        stage, before = CouncilStage.FIRST, None
        while True:
            judged, decision = await self._judged(within, stage, before)
            outcome = decision.outcome
            if not isinstance(outcome, CouncilGoesOn):
                return self._failed(
                    outcome.code if isinstance(outcome, CouncilFailed) else "",
                    _why_failed(judged, decision),
                )
            if outcome.directive in (CouncilDirective.ACCEPT_TEXT, CouncilDirective.DELEGATE_CHAIN):
                return self._came_to(outcome, decision.reason.meaning)
            if isinstance(judged.auditor, ModelAnswer):
                own = (
                    self.own
                    and self.verdict is not None
                    and self.verdict.override_answer is not None
                )
                self.objections.append(
                    Unaccepted(answer=judged.auditor, why=decision.reason, own=own)
                )
            if outcome.directive is CouncilDirective.NEW_ROUND:
                return None
            stage, before = (
                CouncilStage.REVISED,
                judged.chair if isinstance(judged.chair, ModelAnswer) else None,
            )

    def _refused(self) -> Deliberated | None:
        """A round that does not fit into the runs that may still be opened does not begin: what the
        rounds before came to is all there is.
        """
        room = self.context.account.runs_left
        if len(self.seats) <= room:
            return None
        facts = QuorumFacts(round=self.round, seats=len(self.seats), spoken=0, room=room)
        decision = self.context.fx.decide(QUORUM, facts, None)
        assert isinstance(decision.outcome, RoundRefused)  # the rule compares the same two numbers
        self.round -= 1
        return self._failed(decision.outcome.code, decision.reason.meaning)

    async def _hear(self, within: FlowContext, until: int) -> Sequence[AnyEnded]:
        """Every seat at once, whatever their number; one that is late by then is absent."""
        if not self.seats:
            return ()
        constraints = tuple(one.shown for one in self.objections)
        share = within.share(len(self.seats))
        spawns = [
            Spawn[Any](
                flow=SEAT_KIND,
                input=raw(
                    SeatInput(seat=seat.name, question=self.question, constraints=constraints)
                ),
                deadline=until,
                allowance=share,
                keep_thoughts=within.keep_thoughts,
            )
            for seat in self.seats
        ]
        ends = await within.fx.children(spawns, Join(deadline=until))
        self.own = any(
            end.header is not None and end.header.flow not in LOSING_SEATS for end in ends
        )
        self.opinions = tuple(
            (end.seq, _OUTPUT.decode(end.value)) for end in ends if isinstance(end, Completed)
        )
        return ends

    async def _judged(
        self, within: FlowContext, stage: CouncilStage, before: ModelAnswer | None
    ) -> tuple[_Judged, Decision[CouncilOutcome]]:
        """What chair and auditor say, and what follows; the auditor is asked where there is
        something to give a verdict on.
        """
        so_far = RoundSoFar(
            question=self.question,
            recorded=self.recorded,
            opinions=self.opinions,
            objections=tuple(self.objections),
            chair=before,
        )
        self.blink = self.verdict = None
        judged = _Judged(chair=await self._said(within, CHAIR, CHAIR_PROMPT, so_far))
        decision = self._decide(within, stage, judged)
        if not isinstance(decision.outcome, AskAuditor) or not isinstance(
            judged.chair, ModelAnswer
        ):
            return judged, decision
        self.blink = read_proposal(judgement_in(judged.chair), BlinkJudgement)
        so_far = RoundSoFar(
            question=self.question,
            recorded=self.recorded,
            opinions=self.opinions,
            objections=so_far.objections,
            chair=judged.chair,
        )
        judged.auditor = await self._said(within, AUDITOR, AUDITOR_PROMPT, so_far)
        self.verdict = (
            verdict_in(judged.auditor) if isinstance(judged.auditor, ModelAnswer) else None
        )
        return judged, self._decide(within, stage, judged)

    async def _said(
        self, within: FlowContext, name: str, prompt: PromptKind[RoundSoFar], given: RoundSoFar
    ) -> ModelAnswer | AskFailed:
        if name not in within.catalog.data.seats:
            return AskFailed(code=NO_SEAT, message=f"the catalog has no seat {name}")
        return await ask(within, prompt, given)

    def _decide(
        self, within: FlowContext, stage: CouncilStage, judged: _Judged
    ) -> Decision[CouncilOutcome]:
        facts = CouncilFacts(
            round=self.round,
            rounds=self.rounds,
            stage=stage,
            chair=_code(judged.chair),
            auditor=UNSET if judged.auditor is None else _code(judged.auditor),
        )
        inputs = CouncilInputs(chair=_proposal(judged.chair), auditor=_proposal(judged.auditor))
        return within.fx.decide(COUNCIL, facts, inputs, judged.refs)

    @property
    def _text(self) -> str:
        """What is proposed now: the auditor's own answer where there is one, else the chair's."""
        override = None if self.verdict is None else self.verdict.override_answer
        return override or ("" if self.blink is None else self.blink.proposed_answer)

    def _came_to(self, outcome: CouncilGoesOn, note: str) -> Deliberated:
        accepted = outcome.directive is CouncilDirective.ACCEPT_TEXT
        note = (
            f"{note} Not scored, so by default: {', '.join(outcome.absent)}."
            if outcome.absent
            else note
        )
        return Deliberated(
            ok=True,
            next=outcome.directive,
            result=self._result(str(outcome.directive), note, accepted=accepted),
        )

    def _failed(self, code: str, message: str) -> Deliberated:
        return Deliberated(
            ok=False,
            error=code,
            message=message,
            result=self._result(code, message, accepted=False),
        )

    def _result(self, decision: str, note: str, *, accepted: bool) -> CouncilResult:
        opinions = tuple(
            SeatOpinion(agent_name=said.name, text=said.text) for _, said in self.opinions
        )
        cut = (
            f" The question was cut to {PROMPT_CHARS} characters."
            if len(self.request.prompt) > PROMPT_CHARS
            else ""
        )
        return CouncilResult(
            trace_id=self.request.trace_id,
            prompt=self.question.prompt,
            final_text=self._text if accepted else "",
            tentative_text="" if accepted else self._text,
            opinions=opinions,
            blink=self.blink,
            verdict=self.verdict,
            meta=CouncilMeta(
                decision=decision,
                history_used=self.question.history_used,
                rounds_used=self.round,
                absent=missing_names(self.seats, opinions),
                note=f"{note}{cut}",
            ),
        )


def _code(said: ModelAnswer | AskFailed) -> str:
    return said.code if isinstance(said, AskFailed) else ""


def _proposal(said: ModelAnswer | AskFailed | None) -> Any:
    return proposal_of(said) if isinstance(said, ModelAnswer) else None


def _why_failed(judged: _Judged, decision: Decision[CouncilOutcome]) -> str:
    """The rule's words, and what a model's failure was."""
    failures = [
        said.message or said.code
        for said in (judged.chair, judged.auditor)
        if isinstance(said, AskFailed)
    ]
    return " ".join((decision.reason.meaning, *failures))


def _absent(seats: Sequence[Seat], ends: Sequence[AnyEnded], *, over: bool) -> tuple[str, ...]:
    """The first seats that said nothing, and why; nobody where seats spoke in runs of version 1,
    whose councils told of none. ``over``: so is their time.
    """
    if not any(end.header is not None and end.header.flow not in ("", FIRST_SEAT) for end in ends):
        return ()
    silent = [
        f"{seat.name} ({_kind_of_silence(end, over=over)})"
        for seat, end in zip(seats, ends, strict=False)
        if not isinstance(end, Completed)
    ]
    return tuple(silent[:ABSENT_TOLD])


def _why_silent(seats: Sequence[Seat], ends: Sequence[AnyEnded]) -> str:
    """Which seats said nothing, and why."""
    return ", ".join(
        f"{seat.name}: {_silence(end)}"
        for seat, end in zip(seats, ends, strict=False)
        if not isinstance(end, Completed)
    )


def _kind_of_silence(end: AnyEnded, *, over: bool) -> str:
    match end:
        case Failed(reason=reason):
            return "malformed" if reason == INVALID else f"failed: {reason}"
        case Cancelled():
            return "late" if over else "stopped"
        case _:
            return _silence(end)


def _silence(end: AnyEnded) -> str:
    match end:
        case Failed(reason=reason):
            return reason
        case TimedOut():
            return "late"
        case Cancelled():
            return "late or stopped"
        case _:
            return "unknown"
