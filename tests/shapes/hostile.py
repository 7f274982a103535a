"""A flow that reaches for all it can: it makes the port calls that its input lists, swallows what
is refused, and goes on.
"""

from __future__ import annotations

import enum
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import PlanStep, Retry, VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Children, Claim, ModelCall, Read, Say, VerbCall, Wait, WaitFor
from ordain.flows.accounts import shared_accounts
from ordain.flows.carried import VERB_PLAN, VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, ModelQuestion, PromptKind, Settlement
from ordain.flows.values import PromptInputs
from ordain.journal.digests import call_digest
from ordain.journal.records import Label, Status, raw
from ordain.rules.authorize import AUTHORIZE, Allow, AuthorizeFacts, AuthorizeInputs
from ordain.rules.budget import CARVE, RESERVE, SETTLE, ReserveFacts, SettleFacts
from ordain.rules.decision import Decision, Rule
from ordain.rules.lane import LANE, LaneFacts, LaneInputs
from ordain.rules.reasons import Reason
from ordain.rules.spend import Carved, Spend

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
DONE = {
    "type": "object",
    "properties": {"done": {"type": "boolean"}},
    "required": ["done"],
    "additionalProperties": False,
}


def leaf(name: str, *, tries: int = 1) -> VerbSpec:
    return VerbSpec(
        name=name,
        description=name,
        effect=VerbEffect.READ,
        input_schema=TEXT,
        output_schema=DONE,
        retry=Retry(max_attempts=tries),
    )


def plan(name: str) -> VerbSpec:
    step = PlanStep(
        name="ask", order=0, services=["LLMGatewayService"], prompt_template="plan_step"
    )
    return VerbSpec(
        name=name,
        description=name,
        effect=VerbEffect.READ,
        input_schema=TEXT,
        output_schema=DONE,
        plan=[step],
    )


VERBS = (
    leaf("note.add"),
    leaf("note.try", tries=2),
    leaf("note.other"),
    plan("plan.own"),
    plan("plan.other"),
)
SCOPE = ("note.add", "note.try", "plan.own")
TEMPLATES = {"plan_step": "Say whether it is done.\n=====\n{{ verb }}\n"}


class Op(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One port call and what is forged of it; what does not concern it is not looked at. ``more``
    moves deadlines and amounts.
    """

    do: str
    verb: str = "note.add"
    lies: bool = False
    """Whether the verb goes by a name that equals every other."""
    claims: str = ""
    """The verb that a permit is said to be for; "" the verb itself."""
    permit: int = 0
    """Which of the allowing decisions so far; -1: an address that no decision has."""
    digest: str = "right"
    text: str = "a"
    given: str = ""
    """The text that a prompt-plan verb's run is given where it is not that of its permit."""
    later: int = 0
    tokens: int = 100
    money: int = 0
    calls: int = 0
    bound: int = 200
    keep: bool = False
    session: str = ""
    flow: str = "hostile"
    scope: tuple[str, ...] = ()
    siblings: int = 1
    hedge: bool = False
    lane: str = "own"
    """Which decision of rule ``lane`` a model call follows: one of its own, none, one for what a
    child will ask, another's, a forged one.
    """
    profile: str = "default"
    second: str = "second"
    through: int = 0
    inner: tuple[Op, ...] = ()


class HostileReason(Reason):
    """What a forged rule gives for a reason."""

    BECAUSE = "hostile.because", "Because it says so."


def forged(name: str, outcome: Any) -> Rule[Any, Any, Any]:
    """A rule of the flow's own, by the name of another, that gives whatever the flow wants."""
    return Rule(
        name=name,
        outcome=type(outcome),
        apply=lambda _, __, ___: Decision(outcome=outcome, reason=HostileReason.BECAUSE),
        reasons=(HostileReason,),
    )


async def run_hostile(context: FlowContext, ops: tuple[Op, ...]) -> list[str]:
    """Everything that the input lists, whatever becomes of it."""
    permits: list[str] = []
    refused: list[str] = []
    for op in ops:
        try:
            await DO[op.do](context, op, permits)
        except Exception as error:  # that is what makes it hostile
            refused.append(type(error).__name__)
    return refused


class Whichever(enum.StrEnum):
    """A name that equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return str.__hash__(self.value)


async def authorize(context: FlowContext, op: Op, permits: list[str]) -> None:
    wide = CapabilityScope(allowed=("*",))
    name: Any = next(iter(Whichever("Named", {"IT": op.verb}))) if op.lies else op.verb
    decision = context.fx.authorize(Call(verb=name, args={"text": op.text}), wide)
    if isinstance(decision.outcome, Allow):
        permits.append(decision.address)


def permit_of(op: Op, permits: list[str]) -> Authorized:
    call = Call(verb=op.claims or op.verb, args={"text": op.text})
    address = permits[op.permit % len(permits)] if permits and op.permit >= 0 else "0/authorize#0"
    return Authorized(
        call=call,
        digest={"right": call_digest(call), "none": "", "wrong": "0" * 32}[op.digest],
        decision=address,
    )


async def verb(context: FlowContext, op: Op, permits: list[str]) -> None:
    await context.fx.perform(
        VerbCall(
            authorized=permit_of(op, permits),
            deadline=context.hard + op.later,
            attempt=1 + op.siblings,
        )
    )


async def decide(context: FlowContext, op: Op, permits: list[str]) -> None:
    """Grant oneself something: by a rule that grants, or by one of one's own under its name."""
    catalog, call = context.catalog, Call(verb=op.verb, args={"text": op.text})
    grants: dict[str, tuple[Rule[Any, Any, Any], Any, Any]] = {
        "authorize": (
            AUTHORIZE,
            AuthorizeFacts(
                verb=op.verb,
                call=call_digest(call),
                in_scope=True,
                depth=0,
                verb_calls=0,
                cap_verb_calls=99,
            ),
            None,
        ),
        "reserve": (
            RESERVE,
            ReserveFacts(
                tokens=1, usd_micros=0, left_tokens=9, left_usd_micros=9, left_calls=9, calls=UNSET
            ),
            None,
        ),
        "settle": (
            SETTLE,
            SettleFacts(reserved=0, tokens=-op.tokens, usd_micros=-op.money, calls=-1),
            None,
        ),
        "carve": (
            forged(
                CARVE.name, Carved(tokens=10**9, usd_micros=10**9, accounts=("day:2024-10-04",))
            ),
            Op(do="carve"),
            None,
        ),
        "forged": (forged(AUTHORIZE.name, Allow(call=call_digest(call))), Op(do="forged"), None),
    }
    rule, facts, inputs = grants[op.claims or "authorize"]
    decision = context.fx.decide(
        rule, facts, inputs or AuthorizeInputs(args=call.args, catalog=catalog)
    )
    permits.append(decision.address)


def decide_lane(context: FlowContext, op: Op) -> None:
    by: dict[str, Any] = {"forged": lambda _: Lane.BRAIN, "other": lambda _: Lane.LOCAL}
    facts = LaneFacts(
        purpose="other" if op.lane == "other" else "hostile",
        ahead=True if op.lane == "ahead" else UNSET,
    )
    context.fx.decide(LANE, facts, LaneInputs(by_purpose=by.get(op.lane, _lane)))


async def model(context: FlowContext, op: Op, permits: list[str]) -> None:
    if op.lane != "none":
        decide_lane(context, op)
    await context.fx.perform(
        ModelCall(
            purpose="hostile",
            refs=(0,),
            args={"text": op.text},
            profile=op.profile,
            max_tokens=op.tokens,
            bound_tokens=op.bound,
            deadline=context.hard + op.later,
            keep_thoughts=op.keep,
            hedge=op.second if op.hedge else "",
            hedge_ms=1 if op.hedge else 0,
            hedge_max_tokens=op.tokens if op.hedge else 0,
            hedge_deadline=context.hard + op.later if op.hedge else 0,
        )
    )


def spawns_of(context: FlowContext, op: Op, permits: list[str]) -> list[Spawn[Any]]:
    given: Any = op.inner
    if op.flow in (VERB_PLAN, "counterfeit"):
        given = VerbPlanInput(verb=op.verb, args={"text": op.given or op.text})
    return [
        Spawn(
            flow=op.flow,
            input=raw(given),
            scope=op.scope,
            deadline=context.hard + op.later,
            allowance=Spend(
                tokens=op.tokens, usd_micros=op.money, model_calls=op.calls, verb_calls=op.calls
            ),
            keep_thoughts=op.keep,
            authorized=permit_of(op, permits) if op.permit >= -1 else None,
        )
        for _ in range(op.siblings)
    ]


async def children(context: FlowContext, op: Op, permits: list[str]) -> None:
    await context.fx.children(spawns_of(context, op, permits), Join())


async def performed_children(context: FlowContext, op: Op, permits: list[str]) -> None:
    await context.fx.perform(Children(spawns=tuple(spawns_of(context, op, permits)), until=Join()))


async def claim(context: FlowContext, op: Op, permits: list[str]) -> None:
    if op.claims == "attach":
        place = {
            "session": op.session,
            "seq": 1,
            "channel": "web",
            "message_id": "m1",
            "reply_to": "",
            "edits": "",
            "author": "eve",
        }
        await context.fx.claim(
            Claim(
                name="attach",
                args={**place, "suggests": "new_request", "thread": 0, "confidence": 1.0},
            )
        )
        return
    accounts = shared_accounts(
        context.catalog.policy.budget, "hostile", context.session, context.fx.now()
    )
    if op.claims == "other":
        accounts = [{**account, "name": f"{account['name']}:other"} for account in accounts]
    await context.fx.claim(
        Claim(
            name="carve", args={"tokens": op.tokens, "usd_micros": op.money, "accounts": accounts}
        )
    )


async def read(context: FlowContext, op: Op, permits: list[str]) -> None:
    args = {"run": op.text} if op.claims == "run" else {"session": op.session, "own": 0, "limit": 5}
    await context.fx.perform(
        Read(what=op.claims or "threads", args=args, deadline=context.hard + op.later)
    )


async def change(context: FlowContext, op: Op, permits: list[str]) -> None:
    """Set what cannot be set."""
    wider = CapabilityScope(allowed=("*",))
    attempts: list[tuple[Any, str, Any]] = [
        *(
            (context, name, value)
            for name, value in (
                ("scope", wider),
                ("deadline", 2**60),
                ("hard", 2**60),
                ("keep_thoughts", True),
            )
        ),
        *(
            (context.fx, name, value)
            for name, value in (("perform", None), ("run", "x"), ("_catalog", None))
        ),
        *((context.account, name, Spend(tokens=10**9)) for name in ("cap", "spent", "_authority")),
    ]
    for target, name, value in attempts:
        with suppress(AttributeError):
            setattr(target, name, value)
            raise AssertionError(f"{type(target).__name__}.{name} was set")
    context.fx.authorize(Call(verb=op.verb, args={"text": op.text}), wider)


async def say(context: FlowContext, op: Op, permits: list[str]) -> None:
    await context.fx.perform(Say(text=op.text, summary_through=op.through))


async def wait(context: FlowContext, op: Op, permits: list[str]) -> None:
    await context.fx.perform(Wait(what=WaitFor.TIMER, about="", deadline=context.now() + 1000))


DO = {
    "authorize": authorize,
    "verb": verb,
    "decide": decide,
    "model": model,
    "children": children,
    "performed children": performed_children,
    "claim": claim,
    "read": read,
    "change": change,
    "say": say,
    "wait": wait,
}


def _lane(_: Policy) -> Lane:
    return Lane.LOCAL


def _build(_: Catalog, call: ModelCall, __: Any) -> PromptInputs:
    return PromptInputs(inputs={"text": call.args["text"]}, schema=DONE)


def _never(_: FlowContext, __: Any) -> ModelQuestion:
    raise AssertionError("a hostile flow asks past the gateway")


HOSTILE: Kind[Any, list[str]] = Kind(
    name="hostile",
    version=1,
    run=run_hostile,
    decode_input=lambda data: msgspec.json.decode(data, type=tuple[Op, ...]),
    settle=lambda _: Settlement(status=Status.COMPLETED, reason="ok"),
    label=lambda _: Label(agent="hostile"),
    grant=lambda _, __: CapabilityScope(allowed=SCOPE),
    prompts=(
        PromptKind(
            purpose="hostile",
            template="hostile_step",
            package="tests.shapes",
            contract="hostile_step",
            lane=_lane,
            ask=_never,
            build=_build,
        ),
    ),
)


def encoded(ops: tuple[Op, ...]) -> Raw:
    """The operations as the flow's input."""
    return raw(ops)
