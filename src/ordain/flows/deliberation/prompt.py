"""The prompts of chair and auditor, put on record and made from it again. What seats and verdicts
said stands there by reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.council import (
    AUDITOR,
    CHAIR,
    NOTE_CHARS,
    POINTS,
    AuditAction,
    AuditVerdict,
    BlinkJudgement,
    ChairDecision,
    DeliberationRequest,
    Scores,
    read_proposal,
)
from ordain.contracts.planner import CONTENT_MAX
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.question import (
    CouncilQuestion,
    question_of,
    shown_constraints,
    shown_history,
)
from ordain.flows.deliberation.seat_run import SeatOutput
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.transcript import resolve
from ordain.flows.values import PromptInputs, Values
from ordain.rules.council import COUNCIL
from ordain.rules.proposals import Parsed, Unparsed, parse_whole

CHAIR_TOKENS = 2000
AUDITOR_TOKENS = 2000
CHAIR_TEMPLATE, AUDITOR_TEMPLATE = "council_chair", "council_auditor"
_SCORE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
_NOTE: dict[str, Any] = {"type": "string", "maxLength": NOTE_CHARS}
_POINTS: dict[str, Any] = {
    "type": "array",
    "maxItems": POINTS,
    "items": {"type": "string", "minLength": 1, "maxLength": 500},
}
_ANSWER: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": CONTENT_MAX}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


JUDGEMENT_SCHEMA = _object(
    {
        "proposed_answer": _ANSWER,
        "decision": {"enum": [*map(str, ChairDecision), None]},
        "scores": _object(dict.fromkeys(Scores.__struct_fields__, _SCORE)),
        "disagreement": _object({"level": _SCORE, "notes": _NOTE}),
        "notes": _NOTE,
    },
    "proposed_answer",
)
"""The contract of the chair's answer."""
VERDICT_SCHEMA = _object(
    {
        "action": {"enum": [*map(str, AuditAction)]},
        "reason": _NOTE,
        "constraints": _object({"emphasize": _POINTS, "avoid": _POINTS, "notes": _NOTE}),
        "override_answer": {"anyOf": [_ANSWER, {"type": "null"}]},
    },
    "action",
)
"""The contract of the auditor's answer (B-07)."""

JUDGEMENT_WORDS = ("proposed_answer", "disagreement.notes", "notes")
VERDICT_WORDS = ("override_answer", "reason", "constraints.notes")


class Unaccepted(Struct, frozen=True, kw_only=True):
    """A verdict that did not accept an answer: the auditor's own answer, and the code of the rule's
    reason.

    ``own``: where it brings an answer in the place of the chair's, that stands from then on.
    Councils whose seats spoke in runs before version 3 lost it.
    """

    answer: ModelAnswer
    why: str
    own: bool = False

    @property
    def shown(self) -> dict[str, Any]:
        """As prompts show it."""
        return objection_shown(self.answer, self.why, own=self.own)

    @property
    def recorded(self) -> list[Any]:
        """As a question's literals name it."""
        return [self.answer.seq, self.why, *([self.own] if self.own else [])]


class RoundSoFar(Struct, frozen=True, kw_only=True):
    """What chair and auditor are asked about: the question, which seats said what on which records,
    why earlier answers were not accepted, and the chair's last answer.

    ``recorded``: the question is the run's own input, and needs to stand nowhere else.
    """

    question: CouncilQuestion
    recorded: bool
    opinions: tuple[tuple[int, SeatOutput], ...]
    objections: tuple[Unaccepted, ...] = ()
    chair: ModelAnswer | None = None


class JudgePrompt(Struct, frozen=True, kw_only=True):
    """The input of both templates. ``before`` is the answer that is revised, ``judgement`` what a
    verdict is asked on.
    """

    role: str
    description: str
    question: str
    history: tuple[dict[str, str], ...]
    state: str
    opinions: tuple[dict[str, Any], ...]
    constraints: tuple[dict[str, Any], ...]
    before: str | None = None
    judgement: dict[str, Any] | None = None


def proposal_of(answer: ModelAnswer) -> Parsed | Unparsed:
    """What chair or auditor says, which is all of the answer: they decide, and nothing of that is
    taken out of prose.
    """
    return parse_whole(answer.content or "")


def judgement_in(answer: ModelAnswer) -> dict[str, Any]:
    """The chair's answer as an object; {} of one that is none."""
    proposal = proposal_of(answer)
    return proposal.value if isinstance(proposal, Parsed) else {}


def answer_in(answer: ModelAnswer) -> str | None:
    """What the chair's answer proposes."""
    found = read_proposal(judgement_in(answer), BlinkJudgement)
    return None if found is None else found.proposed_answer


def verdict_in(answer: ModelAnswer) -> AuditVerdict | None:
    """The auditor's answer as a verdict; None where it is none."""
    proposal = proposal_of(answer)
    return read_proposal(proposal.value, AuditVerdict) if isinstance(proposal, Parsed) else None


def objection_shown(answer: ModelAnswer, why: str, *, own: bool = False) -> dict[str, Any]:
    """What a verdict holds the next answer to, with what code says to it; ``own``: with the
    auditor's own answer.
    """
    return shown_constraints(
        verdict_in(answer) or AuditVerdict(action=AuditAction.REVISE),
        COUNCIL.reason(why).meaning,
        own=own,
    )


def answer_revised(chair: ModelAnswer, objections: Sequence[Unaccepted]) -> str | None:
    """The text that a revision starts from: what the last verdict put in the place of the chair's
    answer, else that.
    """
    own = next((one.shown.get("answer") for one in objections[-1:]), None)
    return own or answer_in(chair)


def _shown_opinion(catalog: Catalog, said: SeatOutput) -> dict[str, Any]:
    seat = catalog.data.seats.get(said.name)
    return {
        "agent_name": said.name,
        "weight": 1.0 if seat is None else seat.weight,
        "text": said.text,
    }


def _question(
    context: FlowContext, given: RoundSoFar, role: str, template: str, max_tokens: int
) -> ModelQuestion:
    data, policy = context.catalog.data, context.catalog.policy.council
    seat, source = data.seats[role], data.prompts[template]
    chair = None if given.chair is None else given.chair.seq
    shown = (
        [_shown_opinion(context.catalog, said) for _, said in given.opinions],
        [one.shown for one in given.objections],
        {} if given.chair is None else judgement_in(given.chair),
        # shown once more, as what is revised
        *(one.shown["answer"] for one in given.objections[-1:] if "answer" in one.shown),
        seat.role_description,
    )
    args: dict[str, Any] = {
        "opinions": [seq for seq, _ in given.opinions],
        "objections": [one.recorded for one in given.objections],
        "chair": chair,
        **({} if given.recorded else {"asked": msgspec.to_builtins(given.question)}),
    }
    repeats = 1 + given.question.repeats + len(given.opinions) + len(given.objections)
    return ModelQuestion(
        refs=(
            0,
            *args["opinions"],
            *(one.answer.seq for one in given.objections),
            *(() if chair is None else (chair,)),
        ),
        args=args,
        prompt_tokens=len(source.encode()) * repeats
        + given.question.size_bytes
        + 2 * len(msgspec.json.encode(shown)),
        max_tokens=max_tokens,
        role=seat.name,
        temperature=seat.temperature,
        timeout_ms=policy.llm_timeout_ms,
        attempts=policy.attempts,
    )


_OUTPUT = msgspec.json.Decoder(SeatOutput)


def _prompt(catalog: Catalog, call: ModelCall, values: Values) -> JudgePrompt:
    args, seat = call.args, catalog.data.seats[call.role]
    if "asked" in args:
        question = msgspec.convert(args["asked"], CouncilQuestion)
    else:
        request: DeliberationRequest = values[0]
        question = question_of(request)
    return JudgePrompt(
        role=seat.name,
        description=seat.role_description,
        question=question.prompt,
        history=shown_history(question, resolve(values.transcript, question.spoken)),
        state=question.state,
        opinions=tuple(
            _shown_opinion(catalog, _OUTPUT.decode(values[seq].value)) for seq in args["opinions"]
        ),
        constraints=tuple(one.shown for one in _objections(call, values)),
    )


def _objections(call: ModelCall, values: Values) -> tuple[Unaccepted, ...]:
    return tuple(
        Unaccepted(answer=values[seq], why=why, own=bool(own))
        for seq, why, *own in call.args["objections"]
    )


def _ask_chair(context: FlowContext, given: RoundSoFar) -> ModelQuestion:
    return _question(context, given, CHAIR, CHAIR_TEMPLATE, CHAIR_TOKENS)


def _build_chair(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    before = (
        None
        if call.args["chair"] is None
        else answer_revised(values[call.args["chair"]], _objections(call, values))
    )
    prompt = msgspec.structs.replace(_prompt(catalog, call, values), before=before)
    return PromptInputs(
        inputs=msgspec.structs.asdict(prompt), schema=JUDGEMENT_SCHEMA, words_at=JUDGEMENT_WORDS
    )


def _ask_auditor(context: FlowContext, given: RoundSoFar) -> ModelQuestion:
    return _question(context, given, AUDITOR, AUDITOR_TEMPLATE, AUDITOR_TOKENS)


def _build_auditor(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    prompt = msgspec.structs.replace(
        _prompt(catalog, call, values), judgement=judgement_in(values[call.args["chair"]])
    )
    return PromptInputs(
        inputs=msgspec.structs.asdict(prompt), schema=VERDICT_SCHEMA, words_at=VERDICT_WORDS
    )


def _lane(policy: Policy) -> Lane:
    return policy.lanes.planner


_PACKAGE = "ordain.flows.deliberation"
CHAIR_PROMPT: PromptKind[RoundSoFar] = PromptKind(
    purpose="chair",
    template=CHAIR_TEMPLATE,
    package=_PACKAGE,
    contract="council_judgement",
    lane=_lane,
    ask=_ask_chair,
    build=_build_chair,
)
AUDITOR_PROMPT: PromptKind[RoundSoFar] = PromptKind(
    purpose="auditor",
    template=AUDITOR_TEMPLATE,
    package=_PACKAGE,
    contract="council_verdict",
    lane=_lane,
    ask=_ask_auditor,
    build=_build_auditor,
)
COUNCIL_PROMPTS = (CHAIR_PROMPT, AUDITOR_PROMPT)
"""What a kind asks for that deliberates."""
