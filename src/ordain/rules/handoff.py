"""Rule ``handoff``: may this work be handed on, to whom, with which verbs, and in what envelope
(HND-01..HND-08, RTE-10, B-29, B-30, C5, C6)?

It looks at all targets of a request at once, before anything runs: one that is refused refuses the
whole request. ``rules.skills`` says what each may use. The specialist's own run asks the rule once
more, of the envelope that it was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import MayAsk
from ordain.contracts.cards import AGENT_VERB, PRIMARY
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import (
    DELEGATE,
    FANOUT,
    Envelope,
    HandedPayload,
    HandoffBudget,
    HandoffTrace,
    ModelSnapshot,
    RejectedSkill,
    missing_parts,
)
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.profile import HeldProfile
from ordain.rules.reasons import Reason
from ordain.rules.skills import Clamped, Lending, clamped, temporary_card

NO_BUDGET = HandoffBudget()
DETAIL_CHARS = 200
TOLD_MAX = 20


class HandingReason(Reason):
    """Why work is handed on, or is not (HND-01..HND-08)."""

    HANDED = "handoff.handed", "Every target is allowed, and code has made the envelopes."
    BEGUN = "handoff.begun", "The envelope is whole, and is this run's."
    UNKNOWN_AGENT = "handoff.unknown_agent", "There is no such card."
    SELF = "handoff.handoff_self", "Nobody hands work to itself."
    CYCLE = "handoff.handoff_cycle", "The work went through that card before."
    TARGET = (
        "handoff.handoff_target_not_allowed",
        "The profile that holds does not name a target; nothing of the request runs.",
    )
    DEPTH = "handoff.handoff_depth", "Handoffs are nested as deep as they may be."
    MODE = (
        "handoff.handoff_mode_not_allowed",
        "No way to hand on that the profile allows fits so many targets.",
    )
    BLOCKED = (
        "handoff.delegation_blocked",
        "Nothing of what a specialist would work with may be passed on to it.",
    )
    INVALID = (
        "handoff.envelope_invalid",
        "The request or the envelope lacks a part, or is not what its run was opened for.",
    )
    LIMITED = (
        "handoff.fanout_limited",
        "No more targets are handed work at once; this one is left out.",
    )


class HandoffStage(StrEnum):
    """Who asks: the run that hands work on, or the one that was opened for it."""

    REQUEST = "request"
    RUN = "run"


class Diagnostic(StrEnum):
    """What is done otherwise than wanted (C5)."""

    MODE_ADJUSTED = "mode_adjusted"
    FANOUT_LIMITED = "fanout_limited"
    TARGET_ADJUSTED = "delegate_target_adjusted"


class HandoffAllowed(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="handed"):
    """The envelopes, in the order of the calls; what is beyond them is left out. At most ``width``
    of them are at work at once.
    """

    mode: str
    envelopes: tuple[Envelope, ...] = ()
    width: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


class HandoffRefused(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="refused"):
    """Nothing of the request runs. ``target`` is the card that it fails at, ``detail`` names the
    place, ``rejected`` what would not be passed on.
    """

    code: str
    target: str = ""
    detail: str = ""
    rejected: tuple[RejectedSkill, ...] = ()


HandoffOutcome = HandoffAllowed | HandoffRefused


class HandoffAsk(Struct, frozen=True, kw_only=True):
    """A call of a card's verb, with its digest and its size in bytes."""

    verb: str
    args: dict[str, Any]
    digest: str
    size_bytes: int

    @property
    def target(self) -> str:
        """The card's name, if there is one."""
        return self.verb.removeprefix(AGENT_VERB)


class HandoffFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who asks; how many targets there are, how many are to be at work at once; the digest of the
    calls; the mode that is wanted ("": none is named).

    ``chain`` are the cards that the work went through so far, the last one hands on; ``may_ask`` is
    whom the run may ask for a yes. ``plan``: they are steps of a plan, which is worked through
    whole, however many are at work at once.
    """

    stage: HandoffStage
    targets: int
    asked: str
    width: int = 1
    mode: str = ""
    chain: tuple[str, ...] = ()
    may_ask: MayAsk | None = None
    plan: bool = False


class HandoffInputs(Struct, frozen=True, kw_only=True):
    """The calls; the catalog, the profile that holds and what the run may do; what it has left, and
    where it belongs. ``given`` is the envelope that a run began with.
    """

    calls: tuple[HandoffAsk, ...]
    catalog: Catalog
    held: HeldProfile | None
    scope: CapabilityScope
    left: HandoffBudget = NO_BUDGET
    run: str = ""
    root: str = ""
    given: Envelope | None = None


def decide_handoff(
    facts: HandoffFacts, inputs: HandoffInputs, policy: Policy
) -> Decision[HandoffOutcome]:
    """Of a request the targets, the mode and the scopes; of a run its envelope."""
    if facts.stage is HandoffStage.RUN:
        return _begun(facts, inputs, policy)
    if not inputs.calls:
        return _refused(HandingReason.INVALID, detail="no target")
    for ask in inputs.calls:
        if (refused := _refusal(facts, ask, inputs, policy)) is not None:
            return refused
    route = _route(facts, inputs.held, policy)
    return (
        _refused(HandingReason.MODE, detail=facts.mode)
        if route is None
        else _handed(facts, inputs, policy, route)
    )


# --- the targets and the way ----------------------------------------------------------------------


def handoff_targets(held: HeldProfile | None, policy: Policy) -> frozenset[str]:
    """Who may be handed work: whom policy's own section names, and of these whom the profile that
    holds does (PRF-02h). Nobody where neither says (B-30).
    """
    named = frozenset(policy.profile.allowed_handoff_targets)
    return named if held is None else named.intersection(held.handoff_targets)


def handoff_modes(held: HeldProfile | None, policy: Policy) -> tuple[str, ...]:
    """How work may be handed on: as policy's own section says, and of that as the profile that
    holds does.
    """
    return tuple(
        mode
        for mode in policy.profile.allowed_handoff_modes
        if held is None or mode in held.handoff_modes
    )


def fanout_most(held: HeldProfile | None, policy: Policy) -> int:
    """At most how many are at work at once."""
    most = policy.profile.max_fanout_agents
    return most if held is None else min(most, held.fanout_agents or most)


def taken_away(
    target: str, mode: str, width: int, held: HeldProfile | None, policy: Policy
) -> str | None:
    """Why what was to be handed to a card, in this way ("": in any) and beside so many, may not be
    by what holds now; None where it may.
    """
    by = "policy" if held is None else f"profile {held.name}"
    if target not in handoff_targets(held, policy):
        return f"{AGENT_VERB}{target} is no target any more, by {by}"
    if not ({mode} if mode else {DELEGATE, FANOUT}).intersection(handoff_modes(held, policy)):
        return f"work is not handed to {AGENT_VERB}{target} in this way any more, by {by}"
    if mode == FANOUT and width > fanout_most(held, policy):
        return f"so many agents are not at work at once any more, by {by}"
    return None


def _refusal(
    facts: HandoffFacts, ask: HandoffAsk, inputs: HandoffInputs, policy: Policy
) -> Decision[HandoffOutcome] | None:
    """Why work is not handed to this one; None where it may be."""
    verb = inputs.catalog.verbs.get(ask.verb)
    if verb is None or inputs.catalog.card_of(ask.verb) is None:
        return _refused(HandingReason.UNKNOWN_AGENT, ask.target)
    if not verb.input.accepts(ask.args):
        return _refused(HandingReason.INVALID, ask.target, "; ".join(verb.input.errors(ask.args)))
    if ask.target in facts.chain:
        return _refused(
            HandingReason.SELF if ask.target == facts.chain[-1] else HandingReason.CYCLE, ask.target
        )
    if ask.target not in handoff_targets(inputs.held, policy):
        return _refused(HandingReason.TARGET, ask.target)
    return (
        _refused(HandingReason.DEPTH, ask.target)
        if len(facts.chain) >= policy.handoff.max_depth
        else None
    )


class _Route(Struct, frozen=True, kw_only=True):
    """How it is handed on: to how many of the targets, how many of them at once."""

    mode: str
    targets: int
    width: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


def _route(facts: HandoffFacts, held: HeldProfile | None, policy: Policy) -> _Route | None:
    """As wanted, else by default, else as fits; None where the profile does not allow that. A
    fan-out needs two targets at once, a delegation has one at a time (C5).

    All targets at once are a fan-out, which is cut to what is allowed, and that is told; a plan,
    and fewer at once, are worked through whole. Where a delegation is the default though a fan-out
    is allowed, nobody is left out: each has its turn.
    """
    own, at_once = policy.profile, max(1, min(facts.width, facts.targets))
    allowed = handoff_modes(held, policy)
    if facts.mode and facts.mode not in allowed:
        return None
    fitting = [
        mode for mode in ((FANOUT, DELEGATE) if at_once > 1 else (DELEGATE,)) if mode in allowed
    ]
    if not fitting:
        return None
    by_default = own.default_handoff_mode if held is None else held.handoff_default
    mode = next((one for one in (facts.mode, by_default) if one in fitting), fitting[0])
    adjusted = (
        (Diagnostic.MODE_ADJUSTED,)
        if mode != (facts.mode or (FANOUT if at_once > 1 else DELEGATE))
        else ()
    )
    whole = at_once == facts.targets and not facts.plan
    if mode == DELEGATE:
        cut = whole and facts.targets > 1 and (facts.mode == DELEGATE or FANOUT not in allowed)
        return _Route(
            mode=mode,
            targets=1 if cut else facts.targets,
            diagnostics=(*adjusted, *((Diagnostic.TARGET_ADJUSTED,) if cut else ())),
        )
    width = min(at_once, fanout_most(held, policy))
    limited = (Diagnostic.FANOUT_LIMITED,) if whole and width < at_once else ()
    return _Route(
        mode=mode,
        targets=width if whole else facts.targets,
        width=width,
        diagnostics=(*adjusted, *limited),
    )


# --- the envelopes --------------------------------------------------------------------------------


def _handed(
    facts: HandoffFacts, inputs: HandoffInputs, policy: Policy, route: _Route
) -> Decision[HandoffOutcome]:
    """An envelope for each target. Where several are one card, each but the first is a temporary
    sub-agent of it.
    """
    kept, copies = inputs.calls[: route.targets], Counter[str]()
    lending = Lending(
        catalog=inputs.catalog,
        policy=policy,
        held=inputs.held,
        scope=inputs.scope,
        chain=facts.chain,
        asks=facts.may_ask is MayAsk.PEOPLE,
    )
    alike = Envelope(
        source=facts.chain[-1] if facts.chain else PRIMARY,
        models=ModelSnapshot(
            catalog=inputs.catalog.digest,
            lane=policy.lanes.planner,
            profile="" if inputs.held is None else inputs.held.name,
        ),
        budget=_share(inputs.left, len(kept)),
        trace=HandoffTrace(
            root=inputs.root, run=inputs.run, depth=len(facts.chain) + 1, chain=facts.chain
        ),
        mode=route.mode,
    )
    envelopes: list[Envelope] = []
    for ask in kept:
        passed = clamped(inputs.catalog.data.cards[ask.target], ask.args, lending)
        if passed.wanted and not passed.scope:
            return _refused(HandingReason.BLOCKED, ask.target, rejected=passed.rejected)
        copies[ask.target] += 1
        envelopes.append(_envelope(alike, ask, passed, lending, copies[ask.target]))
    outcome = HandoffAllowed(
        mode=route.mode,
        envelopes=tuple(envelopes),
        width=route.width,
        diagnostics=route.diagnostics,
    )
    return Decision(outcome=outcome, reason=HandingReason.HANDED)


def _envelope(
    alike: Envelope, ask: HandoffAsk, passed: Clamped, lending: Lending, copy: int
) -> Envelope:
    """What all have alike, and what is this one's."""
    scope, temporary = passed.scope, ""
    if copy > 1:
        made = temporary_card(lending.catalog.data.cards[ask.target], copy, scope)
        scope, temporary = tuple(made.allow), made.name
    return msgspec.structs.replace(
        alike,
        target=ask.target,
        reason=ask.args["reason"],
        intent=ask.args["intent"],
        payload=HandedPayload(type=ask.verb, digest=ask.digest, size_bytes=ask.size_bytes),
        scope=scope,
        priority=ask.args.get("priority", alike.priority),
        return_expected=ask.args.get("return_expected", alike.return_expected),
        rejected=passed.rejected,
        expansion=tuple(verb for verb in passed.expansion if verb in scope),
        temporary=temporary,
    )


def _share(left: HandoffBudget, parts: int) -> HandoffBudget:
    """An equal part for each, once the calls themselves are made; what is overdrawn gives
    nothing.
    """
    return HandoffBudget(
        tokens=max(0, left.tokens) // parts,
        usd_micros=max(0, left.usd_micros) // parts,
        model_calls=max(0, left.model_calls) // parts,
        verb_calls=max(0, left.verb_calls - parts) // parts,
    )


# --- the specialist's own run ---------------------------------------------------------------------


def _begun(facts: HandoffFacts, inputs: HandoffInputs, policy: Policy) -> Decision[HandoffOutcome]:
    """The envelope is whole, and says of the run what its first record does."""
    given = inputs.given
    if given is None or len(inputs.calls) != 1:
        return _refused(HandingReason.INVALID, detail="no envelope")
    if missing := missing_parts(given):
        return _refused(HandingReason.INVALID, given.target, f"without {', '.join(missing)}")
    if (wrong := _mismatch(given, facts, inputs)) is not None:
        return _refused(HandingReason.INVALID, given.target, f"{wrong}: not this run's")
    if len(facts.chain) > policy.handoff.max_depth:
        return _refused(HandingReason.DEPTH, given.target)
    return Decision(outcome=HandoffAllowed(mode=given.mode), reason=HandingReason.BEGUN)


def _mismatch(given: Envelope, facts: HandoffFacts, inputs: HandoffInputs) -> str | None:
    """The first part that says something else than the run's own records."""
    (ask,), trace, payload = (
        inputs.calls,
        given.trace or HandoffTrace(root="", run="", depth=0),
        given.payload,
    )
    agrees = {
        "target": inputs.catalog.card_of(ask.verb) is not None and ask.target == given.target,
        "payload": payload is not None and (payload.type, payload.digest) == (ask.verb, ask.digest),
        "trace": (*trace.chain, given.target) == facts.chain and trace.depth == len(facts.chain),
        "source": given.source == (trace.chain[-1] if trace.chain else PRIMARY),
        "reason": (given.reason, given.intent) == (ask.args.get("reason"), ask.args.get("intent")),
        "models": given.models is not None and given.models.catalog == inputs.catalog.digest,
        "scope": all(inputs.scope.permits(verb) for verb in given.scope or ()),
    }
    return next((part for part, agreed in agrees.items() if not agreed), None)


# --- what is told ---------------------------------------------------------------------------------


def _refused(
    reason: HandingReason,
    target: str = "",
    detail: str = "",
    rejected: tuple[RejectedSkill, ...] = (),
) -> Decision[HandoffOutcome]:
    code = reason.value.rpartition(".")[2]
    return Decision(
        outcome=HandoffRefused(
            code=code, target=target[:DETAIL_CHARS], detail=detail[:DETAIL_CHARS], rejected=rejected
        ),
        reason=reason,
    )


_OUTCOME = msgspec.json.Decoder(HandoffOutcome)


def _tells(recorded: Recorded) -> HeaderShare:
    """To whom work is to be handed and with how much, which is decided before the door is asked:
    that it was handed on its run tells. What is not passed on, and who did not allow it; what is
    done otherwise than wanted. Or that it was refused.
    """
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, HandoffRefused):
        named = " ".join(filter(None, (outcome.target, outcome.detail)))
        refused = HeaderLine(
            mark="fail", what="handoff refused", reason=recorded.reason, excerpt=named
        )
        return HeaderShare(lines=(refused, *_rejected(outcome.target, outcome.rejected)))
    if recorded.reason == HandingReason.BEGUN.value:
        return SILENT
    lines = [
        HeaderLine(mark="info", what=f"handoff: {one}", reason=recorded.reason)
        for one in outcome.diagnostics
    ]
    for envelope in outcome.envelopes:
        verbs = f"{len(envelope.scope or ())} verb{'s' if len(envelope.scope or ()) != 1 else ''}"
        said = (
            f"to be handed on to {envelope.temporary or envelope.target} by {envelope.source}: "
            f"{verbs}, reason {envelope.reason}"
        )
        lines.append(HeaderLine(mark="info", what=said, reason=recorded.reason))
        lines += (
            HeaderLine(mark="info", what=f"beyond the domain of {envelope.target}", excerpt=verb)
            for verb in envelope.expansion
        )
        lines += _rejected(envelope.target, envelope.rejected)
    return HeaderShare(lines=tuple(lines))


def _rejected(target: str, rejected: Sequence[RejectedSkill]) -> Iterator[HeaderLine]:
    """Each skill that is not passed on; a name that a model may have made up is quoted."""
    for one in rejected[:TOLD_MAX]:
        yield HeaderLine(
            mark="info", what=f"not passed on to {target} ({one.by})", excerpt=one.verb
        )
    if (more := len(rejected) - TOLD_MAX) > 0:
        yield HeaderLine(mark="info", what=f"not passed on to {target}: {more} more")


HANDOFF: Rule[HandoffFacts, HandoffInputs, Any] = Rule(
    name="handoff",
    outcome=HandoffOutcome,
    apply=decide_handoff,
    reasons=(HandingReason,),
    tells=_tells,
)
