"""What a model is scripted to answer: typed proposals, failures, and answers that are held back.
For scripted models and scripted effects alike.

A proposal knows the purpose that it is an answer to, so that a script that has got out of step says
so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.verbs import text_of
from ordain.flows.steps.prompt import PURPOSE as STEP
from ordain.flows.supervisor.prompt import MOVE_PROMPT
from ordain.flows.triage.prompt import TRIAGE_PROMPT
from ordain.flows.turn.router import ROUTER_PROMPT
from ordain.flows.verb_plan.prompt import VERB_PROMPT
from ordain.ports.model import Charge, ModelError

MOVE, PATH, PLACE, OUTPUT = (
    kind.purpose for kind in (MOVE_PROMPT, ROUTER_PROMPT, TRIAGE_PROMPT, VERB_PROMPT)
)
"""The purposes of the shipped prompts beside the planner's step: a move, a path, a message's place,
and the output of a prompt-plan verb.
"""
NOTICE = "scripted proposals, no language model"
"""What every scripted answer says of itself in its run's header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One answer: its text as it is sent, and the purpose that it answers ("": any). Token counts
    None: the provider reports none.

    ``words`` are sent in its place where a verb's plain text is asked for; None: there is no such
    difference.
    """

    text: str
    purpose: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    words: str | None = None

    def said(self, *, plain: bool) -> str:
        """What is sent; ``plain``: words are asked for, and no JSON."""
        return self.words if plain and self.words is not None else self.text

    def used(self, input_tokens: int, output_tokens: int) -> Proposal:
        """The same with the token counts that the provider reports."""
        return replace(self, input_tokens=input_tokens, output_tokens=output_tokens)

    def __repr__(self) -> str:
        """Purpose and text, short."""
        return f"{self.purpose or 'any'}: {self.text[:80]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """The attempt fails with this code; ``charge`` None leaves it to the code whether it stands on
    the bill.
    """

    code: ModelErrorCode
    message: str = "scripted failure"
    retry_after_ms: int | None = None
    charge: Charge | None = None
    purpose: str = ""

    @property
    def error(self) -> ModelError:
        """As a provider's adapter reports it."""
        return ModelError(
            code=self.code,
            message=self.message,
            retry_after_ms=self.retry_after_ms,
            known=self.charge,
        )

    def __repr__(self) -> str:
        """The code."""
        return f"{self.purpose or 'any'}: fails with {self.code}"


@dataclass(slots=True)
class Hold:
    """An answer that is held back until the test lets it go; the test's handle on a call in flight.

    ``waiting`` counts the calls that are held now, ``abandoned`` those that were given up while
    they were.
    """

    then: Any = None
    waiting: int = 0
    abandoned: int = 0
    _reached: asyncio.Event = field(default_factory=asyncio.Event)
    _gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def reached(self) -> None:
        """Return once a call is held."""
        await self._reached.wait()

    def release(self) -> None:
        """Let go what is held; a call that comes later is not held any more."""
        self._gate.set()

    async def wait(self) -> None:
        """Hold the calling task until it is let go or given up."""
        self.waiting += 1
        self._reached.set()
        try:
            await self._gate.wait()
        except asyncio.CancelledError:
            self.abandoned += 1
            raise
        finally:
            self.waiting -= 1

    def __repr__(self) -> str:
        """What is held, and how many calls are."""
        return f"held ({self.waiting} waiting, {self.abandoned} abandoned): {self.then!r}"


@dataclass(frozen=True, slots=True)
class Delayed:
    """What comes after ``ms`` milliseconds; of an effect whose time is over by then, its time-out
    instead.
    """

    ms: int
    item: Any

    def __repr__(self) -> str:
        """The delay and what follows."""
        return f"after {self.ms} ms: {self.item!r}"


def after(ms: int, item: Any) -> Delayed:
    """The same, but so many milliseconds after it was asked for."""
    return Delayed(ms, item)


def hold(then: Any = None) -> Hold:
    """Hold the call until ``release``; then it is answered by ``then`` (None: by nothing, it can
    only be given up or time out).
    """
    return Hold(then)


def says(text: str, purpose: str = "") -> Proposal:
    """A text sent exactly as it is, malformed or not."""
    return Proposal(text=text, purpose=purpose)


def proposes(purpose: str, value: Any) -> Proposal:
    """A JSON value for any purpose, those of your own kinds too; to a verb that answers in words an
    object says its ``content``.
    """
    words = text_of(cast("dict[str, Any]", value)) if isinstance(value, dict) else None
    return Proposal(text=msgspec.json.encode(value).decode(), purpose=purpose, words=words)


def call(tool: str, /, **given: Any) -> Proposal:
    """A planner's step that calls a tool with these arguments."""
    action = {"tool_id": tool, "input": given}
    return proposes(
        STEP, {"thought": f"use {tool}", "finish": False, "action": action, "final_answer": None}
    )


def finish(content: str, structured: Mapping[str, Any] | None = None) -> Proposal:
    """A planner's step that is the final answer."""
    answer = {"content": content, "structured": dict(structured or {})}
    return proposes(
        STEP, {"thought": "done", "finish": True, "action": None, "final_answer": answer}
    )


def moves(decision: str) -> Proposal:
    """A supervisor's suggestion of the next move (``rules.supervise.Move``)."""
    return proposes(MOVE, {"decision": str(decision)})


def routes(path: str, *, confidence: float = 0.9, budget_class: str = "standard") -> Proposal:
    """A router's suggestion of a turn's path (``rules.route.Path``)."""
    return proposes(
        PATH, {"path": str(path), "confidence": confidence, "budget_class": str(budget_class)}
    )


def suggests(what: str, *, thread: int = 0, confidence: float = 0.9) -> Proposal:
    """A suggestion of what a message means to its session (``rules.suggestion.SUGGESTED``); thread
    0 is none.
    """
    return proposes(PLACE, {"type": str(what), "thread": thread, "confidence": confidence})


def output(**fields: Any) -> Proposal:
    """The output of a prompt-plan verb."""
    return proposes(OUTPUT, fields)


def fails(
    code: str,
    message: str = "scripted failure",
    *,
    retry_after_ms: int | None = None,
    charge: Charge | None = None,
    purpose: str = "",
) -> Failing:
    """A failed attempt (``contracts.model_policy.ModelErrorCode``).

    Raises:
        ValueError: there is no such code.
    """
    return Failing(
        code=ModelErrorCode(code),
        message=message,
        retry_after_ms=retry_after_ms,
        charge=charge,
        purpose=purpose,
    )


ScriptedAnswer = Proposal | Failing | Hold | Delayed
"""What a scripted model may answer."""


def as_said(value: Any) -> ScriptedAnswer:
    """A script's entry: what is no typed answer is a text as it is, or a JSON value for any
    purpose.
    """
    if isinstance(value, Proposal | Failing | Hold | Delayed):
        return value
    return says(value) if isinstance(value, str) else proposes("", value)


def all_said(values: Sequence[Any]) -> tuple[ScriptedAnswer, ...]:
    """Every entry of a script."""
    return tuple(as_said(value) for value in values)
