"""Rule ``authorize``: may this verb call run now? The one door every verb call passes (security policy, core form).

Effects ``read`` and ``private`` are allowed in scope; ``egress`` only where the verb's own declaration fixes every argument;
all else needs an approval, and where nobody can give one it is denied.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import NOT_CONFIGURED, Catalog, CompiledVerb
from ordain.contracts.pinned import SafetyMode
from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect
from ordain.rules.acts import Act, ActEnd
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class AuthorizeReason(Reason):
    """Why a verb call may run or may not (security policy)."""

    READ = "authorize.read", "A read in scope."
    PRIVATE = "authorize.private", "A write to the user's own space, in scope."
    EGRESS_DECLARED = "authorize.egress_declared", "Every argument is fixed by the verb or on its declared list."
    OUT_OF_SCOPE = "authorize.out_of_scope", "The verb is not in the run's scope."
    UNKNOWN_VERB = "authorize.unknown_verb", "No such verb in the catalog."
    INACTIVE = "authorize.inactive", "The verb is switched off here."
    NOT_CONFIGURED = "authorize.not_configured", "The verb needs settings that are not there."
    SCHEMA = "authorize.schema", "The arguments do not fit the verb's schema."
    DEPTH = "authorize.depth", "No recursion depth is left."
    BUDGET = "authorize.budget", "No verb call is left in the run's budget."
    NO_APPROVAL = "authorize.approval_not_available", "The call needs an approval and nobody can give one here."
    RESERVED = "authorize.reserved_verb", "What a turn enters by is no tool."
    TOKEN_SCOPE = "authorize.token_scope", "The token that asked for the run has not a scope that the verb needs."
    SAFETY = "authorize.safety", "The profile that holds for the conversation lets nothing happen beyond reads."
    SESSION_ONLY = "authorize.session_only", "The verb works inside a session only."


class GroundReason(Reason):
    """What an allowing decision rests on that a reader should know of (security policy, "Declarations are trusted, so they are confirmed")."""

    UNCONFIRMED = "authorize.unconfirmed", "No operator has confirmed what the verb declares; the decision rests on it all the same."


class Allow(Struct, frozen=True, gc=False, tag="allow"):
    """The call with this digest may run, once authorised, under the address of this decision."""

    call: str


class Deny(Struct, frozen=True, gc=False, tag="deny"):
    """The call does not run; ``detail`` names the place, never a value."""

    detail: str = ""


AuthorizeOutcome = Allow | Deny


class AuthorizeFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Features of the call: the verb, the digest of verb and arguments, where it stands; ``session``: in a conversation.

    ``reserved``: the verb is what a turn enters by, and the run does not enter by it. ``lacks``: the scopes of access that the
    verb needs and the token that asked for the run has not. ``unconfirmed``: no operator has confirmed what the verb declares. ``safety``: the
    safety mode of the profile that holds ("": standard).
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


class AuthorizeInputs(Struct, frozen=True, kw_only=True):
    """The arguments as proposed, and the catalog that declares the verb."""

    args: dict[str, Any]
    catalog: Catalog


def decide_authorize(facts: AuthorizeFacts, inputs: AuthorizeInputs, policy: Policy) -> Decision[AuthorizeOutcome]:
    """Scope, activation, depth, budget and schema; then the effect."""
    verb = inputs.catalog.verbs.get(facts.verb)
    if verb is None:
        return Decision(outcome=Deny(), reason=AuthorizeReason.UNKNOWN_VERB)
    if not facts.in_scope:
        return Decision(outcome=Deny(), reason=AuthorizeReason.OUT_OF_SCOPE)
    if facts.lacks:
        return Decision(outcome=Deny(f"needs {', '.join(facts.lacks)}"), reason=AuthorizeReason.TOKEN_SCOPE)
    if (why := inputs.catalog.inactive_reason(facts.verb, policy.verbs)) is not None:
        return Decision(outcome=Deny(why), reason=AuthorizeReason.NOT_CONFIGURED if why == NOT_CONFIGURED else AuthorizeReason.INACTIVE)
    if verb.spec.session_only and not facts.session:
        return Decision(outcome=Deny(), reason=AuthorizeReason.SESSION_ONLY)
    if facts.reserved:
        return Decision(outcome=Deny(), reason=AuthorizeReason.RESERVED)
    deepest = min(policy.verbs.max_depth, verb.spec.max_recursion_depth) if verb.spec.composite else policy.verbs.max_depth
    if facts.depth >= deepest:
        return Decision(outcome=Deny(), reason=AuthorizeReason.DEPTH)
    if facts.verb_calls >= facts.cap_verb_calls:
        return Decision(outcome=Deny(), reason=AuthorizeReason.BUDGET)
    if not verb.input.accepts(inputs.args):
        return Decision(outcome=Deny("; ".join(verb.input.errors(inputs.args))[:200]), reason=AuthorizeReason.SCHEMA)
    if facts.safety and verb.spec.effect is not VerbEffect.READ:
        reason = AuthorizeReason.SAFETY if facts.safety == SafetyMode.READ_ONLY else AuthorizeReason.NO_APPROVAL
        return Decision(outcome=Deny(verb.spec.effect.value), reason=reason)
    return _by_effect(verb, facts.call, inputs.args)


def _by_effect(verb: CompiledVerb, call: str, args: dict[str, Any]) -> Decision[AuthorizeOutcome]:
    effect = verb.spec.effect
    if effect is VerbEffect.READ:
        return Decision(outcome=Allow(call), reason=AuthorizeReason.READ)
    if effect is VerbEffect.PRIVATE:
        return Decision(outcome=Allow(call), reason=AuthorizeReason.PRIVATE)
    if effect is VerbEffect.EGRESS and _all_declared(verb, args):
        return Decision(outcome=Allow(call), reason=AuthorizeReason.EGRESS_DECLARED)
    return Decision(outcome=Deny(effect.value), reason=AuthorizeReason.NO_APPROVAL)


def _all_declared(verb: CompiledVerb, args: dict[str, Any]) -> bool:
    """Every argument that the verb has is given, and as declared: what is left out would be filled in by code nobody declared."""
    names: Any = verb.spec.input_schema.get("properties", {})
    return set(names) <= args.keys() and all(_declared(verb, name, value) for name, value in args.items())


def _declared(verb: CompiledVerb, name: str, value: object) -> bool:
    argument = verb.spec.arguments.get(name)
    if argument is None or (argument.fixed is not None and not _same(value, argument.fixed)):
        return False
    if argument.allowed is not None:
        return any(_same(value, member) for member in argument.allowed)
    return argument.fixed is not None


def _same(value: object, declared: object) -> bool:
    """Equal and of one type all the way down: for Python ``True == 1``, for a policy not."""
    same_type = type(value) is type(declared)
    if isinstance(value, dict) and isinstance(declared, dict):
        ours, theirs = cast("dict[str, object]", value), cast("dict[str, object]", declared)
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(value, list) and isinstance(declared, list):
        left, right = cast("list[object]", value), cast("list[object]", declared)
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    return same_type and value == declared


_DENIED = b'"type":"deny"'


class _Called(Struct):
    """What of the facts an act is known by."""

    verb: str = ""
    call: str = ""
    unconfirmed: bool = False


_CALLED = msgspec.json.Decoder(_Called)


def _tells(recorded: Recorded) -> HeaderShare:
    """An allowed call shows in what became of it; that it rests on a declaration which nobody confirmed is said beside it."""
    called = _CALLED.decode(recorded.facts)
    if _DENIED not in bytes(recorded.outcome):
        reads = recorded.reason == AuthorizeReason.READ.value
        act = Act(verb=called.verb, call=called.call, end=ActEnd.PERMITTED, reads=reads)
        return HeaderShare(act=act, lines=(_unconfirmed(called.verb),) if called.unconfirmed else ())
    asked = called.verb if recorded.judged else ""  # whoever calls a verb from outside may name it as they like: it is quoted
    line = HeaderLine(mark="fail", what="verb call refused", reason=recorded.reason, excerpt=asked)
    return HeaderShare(lines=(line,), act=Act(verb=called.verb, call=called.call, end=ActEnd.DENIED))


def _unconfirmed(verb: str) -> HeaderLine:
    return HeaderLine(mark="info", what=f"{verb}, whose declaration nobody has confirmed", reason=GroundReason.UNCONFIRMED.value)


AUTHORIZE: Rule[AuthorizeFacts, AuthorizeInputs, Any] = Rule(
    name="authorize", outcome=AuthorizeOutcome, apply=decide_authorize, reasons=(AuthorizeReason, GroundReason), tells=_tells
)
