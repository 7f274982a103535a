"""Flows that reach for more than they have: what no shipped flow can do, so that what stops it
needs flows of the tests.

A verb out of scope and one too deep are denied by rule ``authorize``: shipped flows call only what
their own scope holds, and every verb may be called at depth 0, where all of them call. A child that
gets more than its parent has, and an ``Authorized`` that no decision stands behind, are faults of
the flow: shipped flows take a child's share out of their own, and only ``flows.act`` builds the
other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import VerbCall
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.recording_1 import spelled_out
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER, raw
from tests.shapes.flows import Report, line_of, settle, tag

SUM = Call(verb="math.evaluate", args={"expression": "2 + 2"})
FACTS = Call(verb="extract_facts", args={"text": "The lamp is red."})


class Forgery(StrEnum):
    """What a forger claims to have."""

    LATER = "deadline"
    TOKENS = "tokens"
    MONEY = "usd_micros"
    MODEL_CALLS = "model_calls"
    VERB_CALLS = "verb_calls"
    THOUGHTS = "keep_thoughts"
    """A fault only of a run that may keep none itself."""
    SCOPE = "scope"
    """A fault only of a child: what a request begins takes its scope from its own rules."""
    NO_DECISION = "no decision"
    OTHER_CALL = "another call"
    OTHER_DIGEST = "another digest"
    SPAWNED = "a child for it"


class Forged(Struct, frozen=True):
    """The forgery, and how many runs below this one commit it."""

    what: Forgery
    below: int = 0


async def run_forger(context: FlowContext, given: Forged) -> Report:
    """Commit the forgery, or have an honest child do it."""
    if given.below:
        child = Spawn[Any](
            flow="forger",
            input=raw(structs.replace(given, below=given.below - 1)),
            deadline=context.deadline,
            allowance=context.share(2),
            scope=("math.evaluate",),
        )
        (ended,) = await context.fx.children((child,), Join())
        return Report(lines=(line_of(ended),))
    if given.what in (Forgery.NO_DECISION, Forgery.OTHER_CALL, Forgery.OTHER_DIGEST):
        result = await context.fx.perform(
            VerbCall(
                authorized=_unauthorized(context, given.what), deadline=context.deadline, attempt=1
            )
        )
        return Report(lines=(tag(result),))
    (ended,) = await context.fx.children((_wider(context, given.what),), Join())
    return Report(lines=(line_of(ended),))


def _unauthorized(context: FlowContext, what: Forgery) -> Authorized:
    """Without any decision; or with one that allowed something else; or with the digest of
    something else.
    """
    call, digest = SUM, content_digest(ENCODER.encode(SUM))
    if what is Forgery.NO_DECISION:
        return Authorized(call=call, digest=digest, decision="0/authorize#0")
    address = _allowed(context, FACTS if what is Forgery.OTHER_CALL else SUM)
    return Authorized(
        call=call, digest="0" * 32 if what is Forgery.OTHER_DIGEST else digest, decision=address
    )


def _allowed(context: FlowContext, call: Call) -> str:
    """The address of a decision that really allows the call."""
    return context.fx.authorize(call, context.scope).address


def _wider(context: FlowContext, what: Forgery) -> Spawn[Any]:
    """A child with one thing more than its parent has."""
    honest = Spawn[Any](
        flow="errands",
        input=raw({"errands": []}),
        deadline=context.deadline,
        allowance=context.account.cap,
    )
    match what:
        case Forgery.LATER:
            return structs.replace(honest, deadline=context.hard + 1)
        case Forgery.THOUGHTS:
            return structs.replace(honest, keep_thoughts=True)
        case Forgery.SCOPE:
            return structs.replace(honest, scope=("math.evaluate", "extract_facts"))
        case Forgery.SPAWNED:
            forged = Authorized(
                call=FACTS, digest=content_digest(ENCODER.encode(FACTS)), decision="0/authorize#0"
            )
            return structs.replace(honest, authorized=forged)
        case _:
            more = structs.replace(
                honest.allowance, **{str(what): getattr(honest.allowance, str(what)) + 1}
            )
            return structs.replace(honest, allowance=more)


def _grant(given: Forged | Delve, _: Catalog) -> CapabilityScope:
    """What they really may use."""
    return CapabilityScope(
        allowed=tuple(sorted({SUM.verb, FACTS.verb, *getattr(given, "scope", ())}))
    )


FORGER: Kind[Forged, Report] = Kind(
    name="forger",
    version=1,
    run=run_forger,
    decode_input=lambda data: msgspec.json.decode(data, type=Forged),
    settle=settle,
    grant=_grant,
)


class Delve(Struct, frozen=True):
    """How many verb calls deep to go, and what to call there; ``scope``: what the flow says that it
    may call.
    """

    levels: int
    verb: str
    args: dict[str, Any]
    scope: tuple[str, ...] = ()


@spelled_out()
async def run_delver(context: FlowContext, given: Delve) -> Report:
    """Go down by children that count as verb calls inside verb calls, each by a permit of its own,
    and call a verb at the end.
    """
    if not given.levels:
        acted = await act(context.narrowed(given.scope), Call(verb=given.verb, args=given.args))
        return Report(lines=(f"{given.verb}: {acted.denied or tag(acted.result)}",))
    authorized = Authorized(
        call=SUM, digest=content_digest(ENCODER.encode(SUM)), decision=_allowed(context, SUM)
    )
    child = Spawn[Any](
        flow="delver",
        input=raw(structs.replace(given, levels=given.levels - 1)),
        deadline=context.deadline,
        allowance=context.share(1, calls=1),
        scope=given.scope,
        authorized=authorized,
    )
    (ended,) = await context.fx.children((child,), Join())
    return Report(lines=(line_of(ended),))


def decode_delve(data: Raw) -> Delve:
    """The input of a delver."""
    return msgspec.json.decode(data, type=Delve)


DELVER: Kind[Delve, Report] = Kind(
    name="delver", version=1, run=run_delver, decode_input=decode_delve, settle=settle, grant=_grant
)

FORGING_KINDS: tuple[Kind[Any, Any], ...] = (FORGER, DELVER)
