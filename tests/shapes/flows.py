"""The shapes a flow can have, as plain flows: errands, joins, waits, interrupts, and a delegated
driver of the planner's step.

They do what the shipped flows do and no more: they await the port alone, and everything they return
is data.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded, Completed, Join, JoinMode, Spawn
from ordain.effects.effect import ModelCall, Say, Wait, WaitFor
from ordain.effects.results import Answered, VerbReturned
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.prompt import PROMPT
from ordain.flows.steps.steps import ProposedCall, begin, next_step
from ordain.journal.records import Status, raw
from ordain.ports.effects import Interrupted

HOUR = 3_600_000_000


class Report(Struct, frozen=True, kw_only=True):
    """What a shape's flow returns: what it did, in words without times or ids."""

    lines: tuple[str, ...]
    status: Status = Status.COMPLETED


def settle(report: Report) -> Settlement:
    """A report says itself how the run ends."""
    return Settlement(
        status=report.status,
        reason="ok" if report.status is Status.COMPLETED else str(report.status),
    )


def tag(value: object) -> str:
    """The tag of a result or an end: returned, outcome_unknown, completed, cancelled, ..."""
    return str(type(value).__struct_config__.tag)  # type: ignore[attr-defined]


async def errand(context: FlowContext, verb: str, text: str) -> str:
    """One call through the one door, as a line."""
    acted = await act(context, Call(verb=verb, args={"text": text}))
    what = (
        acted.result.output["receipt"]
        if isinstance(acted.result, VerbReturned)
        else tag(acted.result)
    )
    return f"{verb}: {what}"


async def ask_person(context: FlowContext, about: str, deadline: int | None = None) -> str:
    """Wait for an answer, as a line."""
    until = context.now() + HOUR if deadline is None else deadline
    result = await context.fx.perform(Wait(what=WaitFor.ANSWER, about=about, deadline=until))
    return (
        f"{about}: {result.value} by {result.by}"
        if isinstance(result, Answered)
        else f"{about}: {tag(result)}"
    )


# --- errands: one leaf verb after another ---------------------------------------------------------


class Errands(Struct, frozen=True):
    """(verb, text) in order; ``wait`` waits for an answer first, ``sleep_s`` so many seconds."""

    errands: tuple[tuple[str, str], ...]
    wait: bool = False
    sleep_s: int = 0


async def run_errands(context: FlowContext, given: Errands) -> Report:
    """Run the errands one after the other; an interrupt ends them with a word."""
    lines: list[str] = []
    try:
        if given.wait:
            lines.append(await ask_person(context, "may I"))
        if given.sleep_s:
            await context.fx.perform(
                Wait(
                    what=WaitFor.TIMER,
                    about="rest",
                    deadline=context.now() + given.sleep_s * 1_000_000,
                )
            )
        for verb, text in given.errands:
            lines.append(await errand(context, verb, text))
    except Interrupted as interrupted:
        await context.fx.perform(Say(text=f"stopped by {interrupted.what}"))
        return Report(lines=(*lines, "stopped"), status=Status.CANCELLED)
    await context.fx.perform(Say(text="done"))
    return Report(lines=tuple(lines))


def verbs_of(given: Errands) -> tuple[str, ...]:
    """The verbs that these errands need."""
    return tuple(sorted({verb for verb, _ in given.errands}))


def allow(*verbs: str) -> CapabilityScope:
    """A grant of exactly these verbs."""
    return CapabilityScope(allowed=tuple(sorted(set(verbs))))


ERRANDS: Kind[Errands, Report] = Kind(
    name="errands",
    version=1,
    run=run_errands,
    decode_input=lambda data: msgspec.json.decode(data, type=Errands),
    settle=settle,
    grant=lambda given, _: allow(*verbs_of(given)),
)


# --- fan out: children at once, joined as asked ---------------------------------------------------


class FanOut(Struct, frozen=True, kw_only=True):
    """Children's errands, how to join them, and after how many microseconds to stop waiting."""

    children: tuple[Errands, ...]
    mode: JoinMode = JoinMode.ALL
    quorum: int = 1
    deadline: int | None = None


async def run_fan_out(context: FlowContext, given: FanOut) -> Report:
    """Spawn, join, and tell how each child ended, in the order of spawning; then one call of its
    own.
    """
    until = None if given.deadline is None else context.now() + given.deadline
    share = context.share(len(given.children))
    spawns = tuple(
        Spawn[Any](
            flow=ERRANDS.name,
            input=raw(child),
            scope=verbs_of(child),
            deadline=context.deadline,
            allowance=share,
        )
        for child in given.children
    )
    try:
        ends = await context.fx.children(
            spawns, Join(mode=given.mode, quorum=given.quorum, deadline=until)
        )
        return Report(
            lines=(*(line_of(end) for end in ends), await errand(context, "note_put", "joined"))
        )
    except Interrupted as interrupted:
        await context.fx.perform(Say(text=f"stopped by {interrupted.what}"))
        return Report(lines=("stopped",), status=Status.CANCELLED)


def line_of(end: AnyEnded) -> str:
    """A child's end in words."""
    if isinstance(end, Completed):
        return " + ".join(msgspec.json.decode(end.value, type=Report).lines)
    return tag(end)


FAN_OUT: Kind[FanOut, Report] = Kind(
    name="fan_out",
    version=1,
    run=run_fan_out,
    decode_input=lambda data: msgspec.json.decode(data, type=FanOut),
    settle=settle,
    grant=lambda given, _: allow(
        "note_put", *(verb for child in given.children for verb in verbs_of(child))
    ),
)


# --- waits: a call, two questions, a call ---------------------------------------------------------


class Questions(Struct, frozen=True):
    """How many microseconds the second question waits."""

    patience: int


async def run_questions(context: FlowContext, given: Questions) -> Report:
    """Call, ask, ask again with a deadline, call."""
    lines = [
        await errand(context, "entry_add", "before"),
        await ask_person(context, "first"),
        await ask_person(context, "second", context.now() + given.patience),
        await errand(context, "entry_add", "after"),
    ]
    await context.fx.perform(Say(text="; ".join(lines)))
    return Report(lines=tuple(lines))


QUESTIONS: Kind[Questions, Report] = Kind(
    name="questions",
    version=1,
    run=run_questions,
    decode_input=lambda data: msgspec.json.decode(data, type=Questions),
    settle=settle,
    grant=lambda _, __: allow("entry_add"),
)


# --- a delegated driver: one step of the planner, executed by somebody else (B-02) ----------------


async def run_delegated(context: FlowContext, request: PlannerRequest) -> Report:
    """One step by ``planner.next_step``, judged by the same rule, executed here."""
    context, progress, _ = begin(context, request, PROMPT, counts=True)
    step = await next_step(context, progress)
    if not isinstance(step, ProposedCall):
        return Report(lines=(type(step).__name__,), status=Status.FAILED)
    acted = await act(context, step.call, (step.answer,))
    return Report(lines=(f"{step.call.verb}: {tag(acted.result)}",))


def decode_request(data: Raw) -> PlannerRequest:
    """A planning request, as the planner reads it."""
    return PlannerRequest.model_validate_json(bytes(data))


DELEGATED: Kind[PlannerRequest, Report] = Kind(
    name="delegated",
    version=1,
    run=run_delegated,
    decode_input=decode_request,
    settle=settle,
    grant=PLANNER.grant,
    prompts=(PROMPT,),
)


# --- a flow that breaks the law: a model call after an interrupt ----------------------------------


async def run_stubborn(context: FlowContext, given: Errands) -> Report:
    """Wait; when interrupted say so, which is allowed, and ask a model, which is not."""
    try:
        await ask_person(context, "may I")
    except Interrupted:
        await context.fx.perform(Say(text="one more thing"))
        await context.fx.perform(
            ModelCall(
                purpose="verb",
                prompt="none",
                refs=(0,),
                contract="none",
                profile="default",
                max_tokens=1,
                bound_tokens=1,
                deadline=context.now() + HOUR,
            )
        )
    return Report(lines=("answered",))


STUBBORN: Kind[Errands, Report] = Kind(
    name="stubborn",
    version=1,
    run=run_stubborn,
    decode_input=lambda data: msgspec.json.decode(data, type=Errands),
    settle=settle,
)


async def run_deadly(context: FlowContext, given: Errands) -> Report:
    """Kill the process before anything is committed; only processes that were forked to die run
    this.
    """
    os.kill(os.getpid(), signal.SIGKILL)
    return Report(lines=())


DEADLY: Kind[Errands, Report] = Kind(
    name="deadly",
    version=1,
    run=run_deadly,
    decode_input=lambda data: msgspec.json.decode(data, type=Errands),
    settle=settle,
)

SHAPE_KINDS: tuple[Kind[Any, Any], ...] = (ERRANDS, FAN_OUT, QUESTIONS, DELEGATED, STUBBORN, DEADLY)
