"""What a run is given that carries out a composite verb, and what it gives back."""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.handoff import Envelope
from ordain.contracts.verbs import Trust, VerbSpec
from ordain.contracts.work_bounds import WorkBounds
from ordain.effects.calls import Call, spelled_call
from ordain.flows.context import ALONE, Carrying, FlowContext, TurnKind
from ordain.flows.images import ImagesShown
from ordain.flows.transcript import HistoryRef
from ordain.journal.records import Label

VERB_PLAN = "verb_plan"


class VerbPlanInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The input of a composite verb's flow: the call; in a conversation the history that goes with
    it.

    ``narrate``: what the verb says is the turn's answer and may be shown while it is written.
    ``max_tokens`` lowers what one model answer may have; 0 leaves it. ``budget_class`` and
    ``ambiguous`` say what the turn is like, where policy routes by it. ``recalled`` are fragments
    of memory, material for the answer, ``images`` those of the message. ``handoff`` is the envelope
    in which work comes to a card, ``bounds`` what the message lets that use, ``within_ms`` how much
    of its caller's time is left for it; 0 leaves it its own.
    """

    verb: str
    args: dict[str, Any]
    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    budget_class: str = ""
    ambiguous: bool = False
    recalled: tuple[dict[str, Any], ...] = ()
    images: ImagesShown | None = None
    handoff: Envelope | None = None
    bounds: WorkBounds | None = None
    within_ms: int = 0


def turn_kind(given: VerbPlanInput) -> TurnKind:
    """What the turn is like that a composite verb works for."""
    return TurnKind(budget_class=given.budget_class, ambiguous=given.ambiguous, bounds=given.bounds)


def call_label(given: VerbPlanInput) -> Label:
    """What others are told of a run that carries out a composite verb."""
    return Label(verb=given.verb, narrates=given.narrate)


def call_words(given: VerbPlanInput) -> str:
    """The call, for people."""
    return spelled_call(given.verb, given.args)


def carried_call(given: VerbPlanInput) -> Call:
    """The call that a run carries out: only a permit of exactly this one opens it."""
    return Call(verb=given.verb, args=given.args)


def carrier_of(spec: VerbSpec) -> str:
    """The kind of run that carries out a verb where it is no leaf."""
    return spec.flow or VERB_PLAN


def carrying_of(context: FlowContext, verb: str) -> Carrying:
    """How a verb of the catalog is carried out where it is no leaf."""
    return context.carrying.get(carrier_of(context.catalog.verbs[verb].spec), ALONE)


class InConversation(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn hands to the composite verb that it calls, beside what the turn is like."""

    history: HistoryRef | None = None
    narrate: bool = False
    max_tokens: int = 0
    recalled: tuple[dict[str, Any], ...] = ()
    images: ImagesShown | None = None
    within_ms: int = 0


NO_TALK = InConversation()
"""A call outside any conversation."""


class StepResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one plan step did (VRB-08, C3); ``call`` is the digest of a supervised step's verb and
    arguments.

    ``skipped``: the plan ended before it, or its call was denied, so that it never ran.
    """

    step_name: str
    order: int
    ok: bool
    services: tuple[str, ...] = ()
    prompt_digest: str = ""
    error: str = ""
    call: str = ""
    skipped: bool = False


class VerbPlanOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The output of flow ``verb_plan``: the last model step's object, or the error of the step that
    failed.
    """

    ok: bool
    output: dict[str, Any] | None = None
    trust: dict[str, Trust] = {}
    error: str = ""
    message: str = ""
    step_results: tuple[StepResult, ...] = ()


class _CarriedOutput(msgspec.Struct):
    output: Any = msgspec.UNSET


def verb_output(output: msgspec.Raw) -> str:
    """What a header shows of a run that carried out a composite verb: the verb's own output, where
    it has one.
    """
    found = msgspec.json.decode(output, type=_CarriedOutput).output
    return bytes(output).decode() if found is msgspec.UNSET else msgspec.json.encode(found).decode()
