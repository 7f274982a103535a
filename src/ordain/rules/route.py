"""Rule ``route``: the path of a direct turn and its caps (EXE-09, EXE-10, B-10).

A router model may suggest ``{path, confidence, budget_class}``. It counts if it is exactly of that
shape, confident enough and among the paths that the mode allows; otherwise the mode's own path
holds and the reason says why: ``router_rejected:<why>``. A suggestion may lower what the turn may
use, never raise it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import BudgetClass, ExecMode
from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.reasons import Reason


class RouteReason(Reason):
    """Why a turn takes its path (EXE-10, B-10)."""

    OF_MODE = "route.of_mode", "The mode's own path; no router model is asked."
    SUGGESTED = (
        "route.suggested",
        "The router model's path, allowed for the mode and confident enough.",
    )
    UNAVAILABLE = (
        "router_rejected:unavailable",
        "The router model gave no answer; the mode's own path holds.",
    )
    MALFORMED = (
        "router_rejected:malformed",
        "The router model's answer is not of its contract's shape; the mode's own path holds.",
    )
    CONFIDENCE = (
        "router_rejected:confidence",
        "The router model's confidence is no number from 0 to 1; the mode's own path holds.",
    )
    BUDGET_CLASS = (
        "router_rejected:budget_class",
        "The router model's budget class is none; the mode's own path holds.",
    )
    UNKNOWN_PATH = (
        "router_rejected:unknown_path",
        "The router model's path is none; the mode's own path holds.",
    )
    OUTSIDE_MODE = (
        "router_rejected:outside_mode",
        "The router model's path is not allowed for the mode; the mode's own path holds.",
    )
    LOW_CONFIDENCE = (
        "router_rejected:low_confidence",
        "The router model is not confident enough; the mode's own path holds.",
    )


LEFT_OPEN = frozenset({RouteReason.LOW_CONFIDENCE, RouteReason.OUTSIDE_MODE})
"""A router model was asked and its answer did not settle the path: the turn is ambiguous
(LLM-03).
"""


class Path(StrEnum):
    """The four paths (EXE-10)."""

    DIRECT = "direct"
    REACT_LITE = "react_lite"
    AGENT_CHAIN = "agent_chain"
    COUNCIL = "council"


ALLOWED: Mapping[ExecMode, tuple[Path, ...]] = {
    ExecMode.BRAIN: (Path.DIRECT,),
    ExecMode.AGENT: (Path.REACT_LITE, Path.AGENT_CHAIN),
    ExecMode.COUNCIL: (Path.COUNCIL,),
}
"""The paths of each mode, its default first; brain adds react_lite where the turn is supervised
(B-10).
"""
CLASSES = (BudgetClass.SMALL, BudgetClass.STANDARD, BudgetClass.LARGE)
KEYS = frozenset({"path", "confidence", "budget_class"})


class Routed(Struct, frozen=True, kw_only=True, tag="routed"):
    """The path, and what the turn may use on it."""

    path: Path
    budget_class: BudgetClass
    max_steps: int
    max_tokens_reason: int
    max_tokens_answer: int
    timeout_ms: int


class RouteFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The mode, whether the turn is supervised, the caps asked for, and what became of asking a
    model ("": none was asked).

    ``chains``: this turn can carry out an agent chain, so that such a path has a chain's steps and
    time, and not a supervised loop's.
    """

    mode: ExecMode
    supervised: bool = False
    budget_class: str = ""
    max_steps: int = 0
    asked: str = ""
    chains: bool = False


class RouteInputs(Struct, frozen=True, kw_only=True):
    """The router model's answer, parsed; None where no model was asked or none answered."""

    proposal: Parsed | Unparsed | None


def allowed_paths(mode: ExecMode, *, supervised: bool) -> tuple[Path, ...]:
    """The paths of a mode; the first is its own (EXE-02: a supervised brain turn takes the
    supervisor's).
    """
    return (
        (Path.REACT_LITE, Path.DIRECT) if supervised and mode is ExecMode.BRAIN else ALLOWED[mode]
    )


def decide_route(facts: RouteFacts, inputs: RouteInputs, policy: Policy) -> Decision[Routed]:
    """The suggested path where it is valid, else the mode's own; caps by class, lowered by what the
    request asks.
    """
    paths = allowed_paths(facts.mode, supervised=facts.supervised)
    asked = BudgetClass(facts.budget_class) if facts.budget_class else policy.router.default_class
    if not facts.asked:
        return Decision(outcome=_routed(paths[0], asked, facts, policy), reason=RouteReason.OF_MODE)
    rejected = _rejected(inputs.proposal, paths, policy)
    if rejected is not None or not isinstance(inputs.proposal, Parsed):
        return Decision(
            outcome=_routed(paths[0], asked, facts, policy),
            reason=rejected or RouteReason.UNAVAILABLE,
        )
    value = inputs.proposal.value
    lower = min(asked, BudgetClass(value["budget_class"]), key=CLASSES.index)
    return Decision(
        outcome=_routed(Path(value["path"]), lower, facts, policy), reason=RouteReason.SUGGESTED
    )


def _rejected(
    proposal: Parsed | Unparsed | None, paths: tuple[Path, ...], policy: Policy
) -> Reason | None:
    if proposal is None:
        return RouteReason.UNAVAILABLE
    if isinstance(proposal, Unparsed) or proposal.value.keys() != KEYS:
        return RouteReason.MALFORMED
    value = proposal.value
    confidence = value["confidence"]
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
    ):
        return RouteReason.CONFIDENCE
    if not isinstance(value["budget_class"], str) or value["budget_class"] not in set(BudgetClass):
        return RouteReason.BUDGET_CLASS
    if not isinstance(value["path"], str) or value["path"] not in set(Path):
        return RouteReason.UNKNOWN_PATH
    if value["path"] not in paths:
        return RouteReason.OUTSIDE_MODE
    return RouteReason.LOW_CONFIDENCE if confidence < policy.router.threshold else None


def _routed(path: Path, budget_class: BudgetClass, facts: RouteFacts, policy: Policy) -> Routed:
    caps = policy.router.classes[budget_class]
    chain = policy.agent_chain if facts.chains and path is Path.AGENT_CHAIN else None
    steps = (
        min(facts.max_steps or chain.max_steps, chain.max_steps)
        if chain
        else facts.max_steps or policy.supervisor.max_steps
    )
    seconds = min(
        caps.timeout_seconds,
        policy.limits.timeout_seconds,
        chain.timeout_seconds if chain else caps.timeout_seconds,
    )
    return Routed(
        path=path,
        budget_class=budget_class,
        max_steps=min(steps, caps.max_steps, policy.limits.max_steps),
        max_tokens_reason=min(caps.max_tokens_reason, policy.limits.max_tokens_reason),
        max_tokens_answer=min(caps.max_tokens_answer, policy.limits.max_tokens_answer),
        timeout_ms=round(seconds * 1000),
    )


_OF_MODE = str(RouteReason.OF_MODE)
_ROUTED = msgspec.json.Decoder(Routed)


def _tells(recorded: Recorded) -> HeaderShare:
    """The path, where it is not what one expects."""
    routed = _ROUTED.decode(recorded.outcome)
    if routed.path is Path.DIRECT and recorded.reason == _OF_MODE:
        return SILENT
    return HeaderShare(
        lines=(
            HeaderLine(
                mark="info",
                what=f"path {routed.path}, {routed.budget_class}",
                reason=recorded.reason,
            ),
        )
    )


ROUTE: Rule[RouteFacts, RouteInputs, Any] = Rule(
    name="route", outcome=Routed, apply=decide_route, reasons=(RouteReason,), tells=_tells
)
