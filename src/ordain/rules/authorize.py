"""Rule ``authorize``: may this verb call run now? The one door every verb call passes (security
policy, core form).

Effects ``read`` and ``private`` are allowed in scope; ``egress`` only where the verb's own
declaration fixes every argument; all else needs somebody's yes: a grant that was given beforehand,
or an approval of exactly this call. Where the run may ask nobody, or nobody said yes, it is denied.

Handing work to a card has a tier of its own: it is never done without the envelope of rule
``handoff``, and policy says when it needs a yes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import GRANTABLE, MayAsk, Tier
from ordain.contracts.catalog import NOT_CONFIGURED, Catalog
from ordain.contracts.compiled_verb import CompiledVerb
from ordain.contracts.handoff import Handed
from ordain.contracts.pinned import SafetyMode
from ordain.contracts.policy import Policy
from ordain.contracts.scope import Constraint
from ordain.contracts.tiers import delegation_tier, tier_of
from ordain.contracts.verbs import VerbEffect
from ordain.rules.acts import Act, ActEnd
from ordain.rules.bounds import beyond, too_far
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class AuthorizeReason(Reason):
    """Why a verb call may run or may not (security policy)."""

    READ = "authorize.read", "A read in scope."
    PRIVATE = "authorize.private", "A write to the user's own space, in scope."
    EGRESS_DECLARED = (
        "authorize.egress_declared",
        "Every argument is fixed by the verb or on its declared list.",
    )
    DELEGATED = (
        "authorize.delegated",
        "Work handed to a card, in an envelope; policy asks nobody about it.",
    )
    NO_ENVELOPE = (
        "authorize.no_envelope",
        "Rules have not let this work be handed on: there is no envelope for it.",
    )
    OUT_OF_SCOPE = "authorize.out_of_scope", "The verb is not in the run's scope."
    UNKNOWN_VERB = "authorize.unknown_verb", "No such verb in the catalog."
    INACTIVE = "authorize.inactive", "The verb is switched off here."
    NOT_CONFIGURED = "authorize.not_configured", "The verb needs settings that are not there."
    SCHEMA = "authorize.schema", "The arguments do not fit the verb's schema."
    DEPTH = "authorize.depth", "No recursion depth is left."
    BUDGET = "authorize.budget", "No verb call is left in the run's budget."
    NO_APPROVAL = (
        "authorize.approval_not_available",
        "The call needs an approval and nobody can give one here.",
    )
    RESERVED = "authorize.reserved_verb", "What a turn enters by is no tool."
    TOKEN_SCOPE = (
        "authorize.token_scope",
        "The token that asked for the run has not a scope that the verb needs.",
    )
    SAFETY = (
        "authorize.safety",
        "The profile that holds for the conversation lets nothing happen beyond reads.",
    )
    SESSION_ONLY = "authorize.session_only", "The verb works inside a session only."
    CONSTRAINT = (
        "authorize.constraint",
        "The call is beyond what the run's scope bounds the verb to.",
    )
    TOO_FAR = (
        "authorize.too_far",
        (
            "The call is about a moment that lies further ahead than the verb declares, or that is "
            "no date."
        ),
    )
    IN_DOUBT = "authorize.in_doubt", "This very call went out; nobody knows if it happened."
    NEEDS_GRANT = (
        "authorize.needs_grant",
        "The call needs somebody's yes, and the run looks for a grant.",
    )
    NEEDS_APPROVAL = (
        "authorize.needs_approval",
        "The call needs an approval, and the run waits for one.",
    )
    APPROVED = "authorize.approved", "An approver said yes to exactly this call, once."
    GRANTED = "authorize.granted", "A grant covers the call, and one use of it was taken."
    NOT_APPROVED = "authorize.not_approved", "An approver said no to exactly this call."
    APPROVAL_EXPIRED = "authorize.approval_expired", "Nobody decided in time."
    APPROVAL_WITHDRAWN = (
        "authorize.approval_withdrawn",
        "What was asked for may not be done any more.",
    )


class GroundReason(Reason):
    """What an allowing decision rests on that a reader should know of (security policy,
    "Declarations are trusted, so they are confirmed").
    """

    UNCONFIRMED = (
        "authorize.unconfirmed",
        "No operator has confirmed what the verb declares; the decision rests on it all the same.",
    )


class Allow(Struct, frozen=True, gc=False, tag="allow"):
    """The call with this digest may run, once authorised, under the address of this decision."""

    call: str


class Deny(Struct, frozen=True, gc=False, tag="deny"):
    """The call does not run; ``detail`` names the place, never a value."""

    detail: str = ""


class NeedsApproval(Struct, frozen=True, gc=False, tag="needs_approval"):
    """The call with this digest needs a yes of this tier, and ``why`` says whose: a grant's, or a
    person's. Only ``flows.act`` asks for it.
    """

    call: str
    tier: Tier
    why: MayAsk


AuthorizeOutcome = Allow | NeedsApproval | Deny


class RefusedWhy(StrEnum):
    """Why a call got no yes that was asked for: an approver's no, the time, or that it may not be
    made any more.
    """

    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


_REFUSED = {
    RefusedWhy.DENIED: AuthorizeReason.NOT_APPROVED,
    RefusedWhy.EXPIRED: AuthorizeReason.APPROVAL_EXPIRED,
    RefusedWhy.WITHDRAWN: AuthorizeReason.APPROVAL_WITHDRAWN,
}


class AuthorizeFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Features of the call: the verb, the digest of verb and arguments, where it stands;
    ``session``: in a conversation.

    ``reserved``: the verb is what a turn enters by, and the run does not enter by it. ``lacks``:
    the scopes of access that the verb needs and the token that asked for the run has not.
    ``unconfirmed``: no operator has confirmed what the verb declares. ``safety``: the safety mode
    of the profile that holds ("": standard).

    ``may_ask`` is whom the run may ask for a yes, None: nobody. ``approval`` and ``grant`` are the
    yes that the run's own records hold for exactly this call, ``by`` whose it is; ``grant_asked``:
    grants were looked at for it, ``refused`` why there is no approval. ``calls`` counts the verb's
    calls before, where a bound of the scope does. ``handed`` is what rules found of a call that
    hands work to a card. ``raised`` is the depth that the verb declares which the run carries out,
    where that holds for what it calls, too (FUT-02); 0: it does not. ``no_runs``: the call would be
    a run of its own, and no more may be opened below this one. ``taken``: so many calls are decided
    together with it and made before it, and they take all that is left; 0: something is left for
    it. ``at`` is the moment by the run's time, microseconds since 1970, where the verb declares how
    many days ahead an argument may be; 0: it is held to none. ``in_doubt``: this very call
    went out, and nobody knows whether it happened; ``redo``: a person may say that it is made once
    more, where it needs nobody's yes otherwise.
    """

    verb: str
    call: str
    in_scope: bool
    depth: int
    verb_calls: int
    cap_verb_calls: int
    session: bool = False
    reserved: bool = False
    lacks: tuple[str, ...] = ()
    safety: str = ""
    unconfirmed: bool = False
    may_ask: MayAsk | None = None
    approval: str = ""
    grant: str = ""
    by: str = ""
    grant_asked: bool = False
    refused: RefusedWhy | None = None
    calls: int = 0
    handed: Handed | None = None
    raised: int = 0
    no_runs: bool = False
    taken: int = 0
    at: int = 0
    in_doubt: bool = False
    redo: bool = False


class AuthorizeInputs(Struct, frozen=True, kw_only=True):
    """The arguments as proposed, the catalog that declares the verb, and the bounds that the run's
    scope sets it.
    """

    args: dict[str, Any]
    catalog: Catalog
    bounds: tuple[Constraint, ...] = ()


def decide_authorize(
    facts: AuthorizeFacts, inputs: AuthorizeInputs, policy: Policy
) -> Decision[AuthorizeOutcome]:
    """Scope, activation, depth, budget, schema and bounds; then the effect, and the yes that it
    needs.
    """
    verb = inputs.catalog.verbs.get(facts.verb)
    if verb is None:
        return Decision(outcome=Deny(), reason=AuthorizeReason.UNKNOWN_VERB)
    if not facts.in_scope:
        return Decision(outcome=Deny(), reason=AuthorizeReason.OUT_OF_SCOPE)
    if facts.lacks:
        return Decision(
            outcome=Deny(f"needs {', '.join(facts.lacks)}"), reason=AuthorizeReason.TOKEN_SCOPE
        )
    if (why := inputs.catalog.inactive_reason(facts.verb, policy.verbs)) is not None:
        return Decision(
            outcome=Deny(why),
            reason=AuthorizeReason.NOT_CONFIGURED
            if why == NOT_CONFIGURED
            else AuthorizeReason.INACTIVE,
        )
    if verb.spec.session_only and not facts.session:
        return Decision(outcome=Deny(), reason=AuthorizeReason.SESSION_ONLY)
    if facts.reserved:
        return Decision(outcome=Deny(), reason=AuthorizeReason.RESERVED)
    declared = max(verb.spec.max_recursion_depth, facts.raised)
    deepest = (
        min(policy.verbs.max_depth, declared) if verb.spec.composite else policy.verbs.max_depth
    )
    if facts.depth >= deepest:
        return Decision(outcome=Deny(), reason=AuthorizeReason.DEPTH)
    if facts.verb_calls >= facts.cap_verb_calls or facts.no_runs or facts.taken:
        return Decision(outcome=Deny(_what_is_gone(facts)), reason=AuthorizeReason.BUDGET)
    if not verb.input.accepts(inputs.args):
        return Decision(
            outcome=Deny("; ".join(verb.input.errors(inputs.args))[:200]),
            reason=AuthorizeReason.SCHEMA,
        )
    if (
        facts.safety
        and facts.safety == SafetyMode.READ_ONLY
        and verb.spec.effect is not VerbEffect.READ
    ):
        return Decision(outcome=Deny(verb.spec.effect.value), reason=AuthorizeReason.SAFETY)
    if (out_of_bounds := _out_of_bounds(verb, facts, inputs)) is not None:
        return out_of_bounds
    handed = None if inputs.catalog.card_of(facts.verb) is None else facts.handed or Handed.REFUSED
    if handed is not None and handed is Handed.REFUSED:
        return Decision(outcome=Deny(), reason=AuthorizeReason.NO_ENVELOPE)
    return _by_effect(verb, facts, inputs.args, delegation_tier(handed, facts.safety, policy))


def _out_of_bounds(
    verb: CompiledVerb, facts: AuthorizeFacts, inputs: AuthorizeInputs
) -> Decision[AuthorizeOutcome] | None:
    """What the run's scope and the verb's declaration bound, beyond what its schema does."""
    if inputs.bounds and (
        broken := beyond(
            inputs.bounds,
            verb.spec,
            inputs.args,
            facts.calls,
            of_web=inputs.catalog.data.web_addresses,
        )
    ):
        return Decision(outcome=Deny(broken[:200]), reason=AuthorizeReason.CONSTRAINT)
    if facts.at and (far := too_far(verb.spec, inputs.args, facts.at)):
        return Decision(outcome=Deny(far[:200]), reason=AuthorizeReason.TOO_FAR)
    return None


def _what_is_gone(facts: AuthorizeFacts) -> str:
    return "runs" if facts.no_runs else f"{facts.taken} calls before it" if facts.taken else ""


def _by_effect(
    verb: CompiledVerb, facts: AuthorizeFacts, args: dict[str, Any], delegation: Tier | None
) -> Decision[AuthorizeOutcome]:
    tier = delegation or tier_of(verb, args, facts.safety)
    if tier is None and not facts.in_doubt:
        by_itself = (
            AuthorizeReason.DELEGATED if facts.handed is not None else _BY_ITSELF[verb.spec.effect]
        )
        return Decision(outcome=Allow(facts.call), reason=by_itself)
    if facts.approval:
        return Decision(outcome=Allow(facts.call), reason=AuthorizeReason.APPROVED)
    nobody = AuthorizeReason.NO_APPROVAL if tier is not None else AuthorizeReason.IN_DOUBT
    if tier is None and not facts.redo:
        return Decision(outcome=Deny(verb.spec.effect.value), reason=nobody)
    grantable = tier in GRANTABLE and facts.handed is not Handed.PERSON
    if facts.grant and grantable:
        return Decision(outcome=Allow(facts.call), reason=AuthorizeReason.GRANTED)
    if facts.refused is not None:
        return Decision(outcome=Deny(verb.spec.effect.value), reason=_REFUSED[facts.refused])
    if tier is not None and facts.may_ask and grantable and not facts.grant_asked:
        return Decision(
            outcome=NeedsApproval(facts.call, tier, MayAsk.GRANTS),
            reason=AuthorizeReason.NEEDS_GRANT,
        )
    if facts.may_ask is MayAsk.PEOPLE:
        return Decision(
            outcome=NeedsApproval(facts.call, tier or Tier.WRITE, MayAsk.PEOPLE),
            reason=AuthorizeReason.NEEDS_APPROVAL,
        )
    return Decision(outcome=Deny(verb.spec.effect.value), reason=nobody)


_BY_ITSELF = {
    VerbEffect.READ: AuthorizeReason.READ,
    VerbEffect.PRIVATE: AuthorizeReason.PRIVATE,
    VerbEffect.EGRESS: AuthorizeReason.EGRESS_DECLARED,
}


class _Called(Struct):
    """What of the facts an act is known by, and by whom it was allowed."""

    verb: str = ""
    call: str = ""
    by: str = ""
    unconfirmed: bool = False


_CALLED = msgspec.json.Decoder(_Called)
_DENIED, _ASKED = b'"type":"deny"', b'"type":"needs_approval"'
_GIVEN = {AuthorizeReason.APPROVED.value: "approved", AuthorizeReason.GRANTED.value: "granted"}
_AS_READ, _PERMITTED = AuthorizeReason.READ.value, ActEnd.PERMITTED
UNTRACED = "where its arguments come from is not traced"


def _tells(recorded: Recorded) -> HeaderShare:
    """An allowed call shows in what became of it; beside it stand whose yes allowed it, and that it
    rests on a declaration which nobody confirmed.
    """
    called, outcome = _CALLED.decode(recorded.facts), bytes(recorded.outcome)
    ground = (_unconfirmed(called.verb),) if called.unconfirmed else ()
    if _ASKED in outcome:
        if recorded.reason != AuthorizeReason.NEEDS_APPROVAL.value:
            return SILENT
        return HeaderShare(
            lines=(
                HeaderLine(
                    mark="info", what=f"{called.verb}: needs an approval", reason=recorded.reason
                ),
                *ground,
            )
        )
    if _DENIED not in outcome:
        reads = recorded.reason == _AS_READ
        act = Act(verb=called.verb, call=called.call, end=_PERMITTED, reads=reads)
        if (given := _GIVEN.get(recorded.reason)) is None:
            return HeaderShare(act=act, lines=ground)
        said = f"{called.verb}: {given} by {called.by}; {UNTRACED}"
        return HeaderShare(
            lines=(HeaderLine(mark="info", what=said, reason=recorded.reason), *ground), act=act
        )
    # whoever calls a verb from outside may name it as they like: it is quoted
    asked = called.verb if recorded.judged else ""
    line = HeaderLine(mark="fail", what="verb call refused", reason=recorded.reason, excerpt=asked)
    return HeaderShare(
        lines=(line,), act=Act(verb=called.verb, call=called.call, end=ActEnd.DENIED)
    )


def _unconfirmed(verb: str) -> HeaderLine:
    return HeaderLine(
        mark="info",
        what=f"{verb}, whose declaration nobody has confirmed",
        reason=GroundReason.UNCONFIRMED.value,
    )


AUTHORIZE: Rule[AuthorizeFacts, AuthorizeInputs, Any] = Rule(
    name="authorize",
    outcome=AuthorizeOutcome,
    apply=decide_authorize,
    reasons=(AuthorizeReason, GroundReason),
    tells=_tells,
)
