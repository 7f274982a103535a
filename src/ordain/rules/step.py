"""Rule ``step``: is a planner directive executable (PLN-26, PLN-30, PLN-31, EXE-13, EXE-14, B-25)?

Checked in a fixed order, and the first violation is the reason: syntax, size, shape, consistency of
finish and action, tool id, tool input. The outcome says which tool; the directive itself stays in
the answer it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.planner import CONTENT_MAX, THOUGHT_MAX, TOOL_ID_MAX
from ordain.contracts.policy import Policy
from ordain.contracts.schema import Schema
from ordain.rules.acts import Act, ActEnd
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule, tells_of
from ordain.rules.header import HeaderLine
from ordain.rules.meant import called_verb, means_call
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed
from ordain.rules.reasons import Reason


class StepReason(Reason):
    """Why a directive is what it is: precedence shape, consistency, tool id, tool input (PLN-30,
    PLN-31).
    """

    CALL = "step.call", "The directive calls a tool of the toolset with valid input."
    FINISH = "step.finish", "The directive finishes with an answer."
    TEXT_TOO_LONG = "step.size.text", "A text field is longer than its contract allows."
    MISSING_KEY = "step.shape.missing_key", "A required key is absent."
    UNKNOWN_KEY = "step.shape.unknown_key", "There is a key that the contract does not know."
    WRONG_TYPE = "step.shape.wrong_type", "A value has the wrong type."
    EMPTY_TEXT = "step.shape.empty_text", "A text that must say something is empty."
    FINISH_WITH_ACTION = (
        "step.consistency.finish_with_action",
        "finish is true and there is an action.",
    )
    FINISH_WITHOUT_ANSWER = (
        "step.consistency.finish_without_answer",
        "finish is true and there is no final answer.",
    )
    ACT_WITH_ANSWER = (
        "step.consistency.act_with_answer",
        "finish is false and there is a final answer.",
    )
    ACT_WITHOUT_ACTION = (
        "step.consistency.act_without_action",
        "finish is false and there is no action.",
    )
    UNKNOWN_TOOL = "step.tool.unknown", "No verb has this id; ids are exact."
    TOOL_OUTSIDE = "step.tool.outside_toolset", "The verb exists but is not in this run's toolset."
    INPUT_INVALID = "step.input.invalid", "The tool's input does not fit its schema."
    ANSWER_INVALID = (
        "step.answer.invalid",
        "The answer's structured part does not fit the schema that was asked for.",
    )


class ReaskReason(Reason):
    """Whether an invalid directive is asked for once more (B-25)."""

    ALLOWED = "reask.allowed", "Policy grants one more try after an invalid directive."
    SPENT = "reask.spent", "No further try is left; the run fails with the first reason."


DETAIL_MAX = 200


class CallTool(Struct, frozen=True, tag="call_tool"):
    """Execute the proposed call."""

    tool_id: str


class Finish(Struct, frozen=True, tag="finish"):
    """Accept the proposed final answer."""


class Invalid(Struct, frozen=True, tag="invalid"):
    """Not executable; ``detail`` names the place, never the value. ``calls``: it means the call of
    a tool all the same, and ``refused`` is the verb that it calls.

    No name that there is not: what no verb is called was never in reach.
    """

    detail: str = ""
    calls: bool | UnsetType = UNSET
    refused: str | UnsetType = UNSET


StepOutcome = CallTool | Finish | Invalid


class StepFacts(Struct, frozen=True, gc=False, kw_only=True):
    """Features of one directive: which step, how large, how many tools are on offer; and whether a
    refused one that means a call counts as one.

    ``weighs``: the verb that a refused one calls is told, and weighs in the verdict; ``meant``:
    also where it was refused for its shape.
    """

    step_index: int
    size_bytes: int
    tools: int
    toolset: str | UnsetType = UNSET
    counts: bool | UnsetType = UNSET
    weighs: bool | UnsetType = UNSET
    meant: bool | UnsetType = UNSET


class StepInputs(Struct, frozen=True, kw_only=True):
    """The parsed proposal, the schemas of the tools on offer, the ids of all registered verbs, and
    what an answer has to fit (None: nothing).

    ``text`` are the model's words, which a proposal that was not parsed is looked for in.
    """

    proposal: Parsed | Unparsed
    tools: Mapping[str, tuple[Schema, ...]]
    registered: Set[str]
    answer: Schema | None = None
    text: str = ""


Objection = tuple[Reason, str] | None


def decide_step(facts: StepFacts, inputs: StepInputs, policy: Policy) -> Decision[StepOutcome]:
    """The first violation, or what the directive asks for."""
    found = _objection(inputs, policy)
    if found is not None:
        reason, detail = found
        said = inputs.proposal.value if isinstance(inputs.proposal, Parsed) else None
        calls = facts.counts is True and means_call(said, inputs.text, inputs.tools.keys())
        return Decision(
            outcome=Invalid(
                detail[:DETAIL_MAX], calls or UNSET, _refused(facts, inputs, said, reason)
            ),
            reason=reason,
        )
    value = cast("Parsed", inputs.proposal).value
    if value["finish"]:
        return Decision(outcome=Finish(), reason=StepReason.FINISH)
    return Decision(outcome=CallTool(value["action"]["tool_id"]), reason=StepReason.CALL)


def _refused(
    facts: StepFacts, inputs: StepInputs, said: dict[str, Any] | None, reason: Reason
) -> str | UnsetType:
    """The verb that a refused directive calls, where that weighs."""
    if facts.weighs is True and reason in OF_A_VERB:
        return cast("dict[str, Any]", said)["action"]["tool_id"]
    return (
        (called_verb(said, inputs.text, inputs.registered) or UNSET)
        if facts.meant is True
        else UNSET
    )


def _objection(inputs: StepInputs, policy: Policy) -> Objection:
    proposal = inputs.proposal
    if isinstance(proposal, Unparsed):
        return proposal.reason, ""
    found = _form(proposal, policy) or _consistency(proposal.value)
    if found is not None:
        return found
    value = proposal.value
    return (
        _answer(value["final_answer"], inputs.answer)
        if value["finish"]
        else _tool(value["action"], inputs)
    )


def directive_fault(proposal: Parsed, policy: Policy) -> Reason | None:
    """What is wrong with the directive's size or shape, if anything; the part of the rule that
    needs no toolset.
    """
    found = _form(proposal, policy)
    return None if found is None else found[0]


def finishing_fault(proposal: Parsed, policy: Policy) -> Reason | None:
    """What keeps a directive from being a valid final answer, if anything; a call of a tool is
    none.
    """
    found = _form(proposal, policy) or _consistency(proposal.value)
    if found is not None:
        return found[0]
    return None if proposal.value["finish"] else StepReason.FINISH_WITHOUT_ANSWER


def _form(proposal: Parsed, policy: Policy) -> Objection:
    return _size(proposal, policy) or _shape(proposal.value)


def _size(proposal: Parsed, policy: Policy) -> Objection:
    if proposal.size_bytes > policy.step.max_bytes:
        return ProposalReason.TOO_LARGE, ""
    if proposal.depth > policy.step.max_depth:
        return ProposalReason.TOO_DEEP, ""
    for outer, inner, bound in TEXT_BOUNDS:
        if len(_text_at(proposal.value, outer, inner)) > bound:
            return StepReason.TEXT_TOO_LONG, f"{outer}.{inner}" if inner else outer
    return None


def _text_at(value: dict[str, Any], outer: str, inner: str) -> str:
    """The text at ``outer`` or ``outer.inner``, or "" where there is none."""
    part: Any = value.get(outer)
    if inner:
        part = cast("dict[str, Any]", part).get(inner) if isinstance(part, dict) else None
    return part if isinstance(part, str) else ""


Keys = Mapping[str, tuple[bool, tuple[type, ...]]]
_NULL = type(None)
DIRECTIVE: Keys = {
    "thought": (True, (str, _NULL)),
    "finish": (True, (bool,)),
    "action": (False, (dict, _NULL)),
    "final_answer": (False, (dict, _NULL)),
}
ACTION: Keys = {"tool_id": (True, (str,)), "input": (True, (dict,))}
ANSWER: Keys = {"content": (True, (str,)), "structured": (False, (dict,))}
"""Key -> (required, types). An absent ``action`` or ``final_answer`` means null; a null ``thought``
is a withheld one (B-37).
"""

TEXT_BOUNDS = (
    ("thought", "", THOUGHT_MAX),
    ("action", "tool_id", TOOL_ID_MAX),
    ("final_answer", "content", CONTENT_MAX),
)
NOT_EMPTY = (("action", "tool_id"), ("final_answer", "content"))


def _shape(value: dict[str, Any]) -> Objection:
    found = _keys(value, DIRECTIVE, "")
    if found is None and value.get("action") is not None:
        found = _keys(value["action"], ACTION, "action.")
    if found is None and value.get("final_answer") is not None:
        found = _keys(value["final_answer"], ANSWER, "final_answer.")
    if found is None:
        for outer, inner in NOT_EMPTY:
            part = value.get(outer)
            if part is not None and not part[inner].strip():
                return StepReason.EMPTY_TEXT, f"{outer}.{inner}"
    return found


def _keys(value: dict[str, Any], keys: Keys, prefix: str) -> Objection:
    """What is missing, else that there is more, else what is of another type, in the table's
    order.
    """
    known, wrong = 0, ""
    for key, (required, types) in keys.items():
        if key not in value:
            if required:
                return StepReason.MISSING_KEY, prefix + key
            continue
        known += 1
        # exactly one of them is what it is most often, and that is seen far sooner
        if type(value[key]) not in types and not isinstance(value[key], types):
            wrong = wrong or key
    if known < len(value):
        return StepReason.UNKNOWN_KEY, prefix.rstrip(".")
    return (StepReason.WRONG_TYPE, prefix + wrong) if wrong else None


def _consistency(value: dict[str, Any]) -> Objection:
    action, answer = value.get("action"), value.get("final_answer")
    if value["finish"]:
        if action is not None:
            return StepReason.FINISH_WITH_ACTION, "action"
        return (StepReason.FINISH_WITHOUT_ANSWER, "final_answer") if answer is None else None
    if answer is not None:
        return StepReason.ACT_WITH_ANSWER, "final_answer"
    return (StepReason.ACT_WITHOUT_ACTION, "action") if action is None else None


def _tool(action: dict[str, Any], inputs: StepInputs) -> Objection:
    tool_id: str = action["tool_id"]
    schemas = inputs.tools.get(tool_id)
    if schemas is None:
        outside = tool_id in inputs.registered
        return (StepReason.TOOL_OUTSIDE if outside else StepReason.UNKNOWN_TOOL), "action.tool_id"
    for schema in schemas:
        if not schema.accepts(action["input"]):
            return StepReason.INPUT_INVALID, "action.input " + "; ".join(
                schema.errors(action["input"])
            )
    return None


def _answer(answer: dict[str, Any], schema: Schema | None) -> Objection:
    structured: dict[str, Any] = answer.get("structured", {})
    if schema is None or schema.accepts(structured):
        return None
    return StepReason.ANSWER_INVALID, "final_answer.structured " + "; ".join(
        schema.errors(structured)
    )


_STEP = msgspec.json.Decoder(CallTool | Finish | Invalid)
OF_A_CALL = frozenset(
    str(reason)
    for reason in (
        StepReason.UNKNOWN_TOOL,
        StepReason.TOOL_OUTSIDE,
        StepReason.INPUT_INVALID,
        StepReason.FINISH_WITH_ACTION,
    )
)
"""Refused with these, a directive proposed a call all the same."""
OF_A_VERB = frozenset({StepReason.TOOL_OUTSIDE, StepReason.INPUT_INVALID})
"""And with these, a call of a verb that there is: what came of it weighs in the verdict
(RTE-12).
"""


def proposes_call(outcome: StepOutcome, reason: str) -> bool:
    """Whether what was judged so counts as a proposed call."""
    return (
        isinstance(outcome, CallTool)
        or reason in OF_A_CALL
        or (isinstance(outcome, Invalid) and outcome.calls is True)
    )


def _tells(recorded: Recorded) -> HeaderShare:
    number, outcome = recorded.steps + 1, _STEP.decode(recorded.outcome)
    reason = str(recorded.reason)  # of a run that goes on a member, which no line holds as it is
    mark, act = "proposal" if recorded.judged else "ok", None
    if isinstance(outcome, CallTool):
        proposed, called = outcome.tool_id, True
    elif isinstance(outcome, Finish):
        proposed, called = "finish", proposes_call(outcome, reason)
    else:
        proposed, called = "no executable directive", proposes_call(outcome, reason)
        mark = "proposal" if recorded.judged else "fail"
        if outcome.refused is not UNSET:
            proposed = outcome.refused
            act = Act(verb=proposed, call=f"step {number}: {proposed}", end=ActEnd.REFUSED)
    line = HeaderLine(mark=mark, what=f"step {number}: {proposed}", reason=reason)
    return HeaderShare(steps=1, proposed=int(called), lines=(line,), act=act)


STEP: Rule[StepFacts, StepInputs, Any] = Rule(
    name="step",
    outcome=StepOutcome,
    apply=decide_step,
    reasons=(StepReason, ProposalReason),
    tells=_tells,
)


# --- one more try (B-25) --------------------------------------------------------------------------


class Reask(Struct, frozen=True, tag="reask"):
    """Ask once more, with the reason in the prompt; counted as a step."""


class Fail(Struct, frozen=True, tag="fail"):
    """The run fails with the first reason."""


class ReaskFacts(Struct, frozen=True, kw_only=True):
    """How many re-asks this run has used and why this one would be."""

    used: int
    reason: str


def decide_reask(facts: ReaskFacts, inputs: None, policy: Policy) -> Decision[Reask | Fail]:
    """Policy grants ``step.reask`` tries in a run."""
    if facts.used < policy.step.reask:
        return Decision(outcome=Reask(), reason=ReaskReason.ALLOWED)
    return Decision(outcome=Fail(), reason=ReaskReason.SPENT)


REASK: Rule[ReaskFacts, None, Any] = Rule(
    name="reask",
    outcome=Reask | Fail,
    apply=decide_reask,
    reasons=(ReaskReason,),
    tells=tells_of("reask", ReaskReason),
)
