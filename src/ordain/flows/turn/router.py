"""The router prompt: what a model sees that may suggest a turn's path (EXE-09), put on record and
made from it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.turn.flat_input import FlatTurnInput
from ordain.flows.turn.request import TurnInput
from ordain.flows.values import PromptInputs, Values
from ordain.rules.route import CLASSES, Path

TEMPLATE = "router_step"
MAX_TOKENS = 200
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"enum": [str(path) for path in Path]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "budget_class": {"enum": [str(size) for size in CLASSES]},
    },
    "required": ["path", "confidence", "budget_class"],
    "additionalProperties": False,
}
"""The contract of the answer (EXE-10)."""


class RouterPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The template's input: mode, verb and last user message, and as ``context`` what code knows of
    the turn besides.
    """

    mode: str
    verb: str
    message: str
    supervised: bool
    context: dict[str, Any] = {}


def size_bound(source: str, prompt: RouterPrompt) -> int:
    """Upper bound of the rendered prompt in bytes. A template of an older catalog shows no context:
    its runs reserved nothing for it.
    """
    if "context" not in source:
        prompt = msgspec.structs.replace(prompt, context={})
    return len(source.encode()) + 4 * len(msgspec.json.encode(prompt))


def router_prompt(
    given: TurnInput | FlatTurnInput,
    verb: str,
    caps: Mapping[str, Any] | None = None,
    budgets: Mapping[str, int] | None = None,
) -> RouterPrompt:
    """What the router model sees of a turn: no history and nothing recalled, for its path is chosen
    before either is read (EXE-09).

    Of recall it sees what will be asked of memory, with ``caps`` those of each budget class and of
    a supervised loop, and with ``budgets`` what is left of the turn's own. Before version 5 of the
    turn it was told of neither recall nor caps, before version 9 of no budgets.
    """
    message = given.message
    known = {
        "message_number": given.seq,
        "attachments": message.attachments,
        "tools": list(message.allowed_verbs),
        "max_steps": message.max_steps,
        "budget_class": message.budget_class,
        "replaces_earlier_work": bool(given.after),
    }
    if caps is not None:
        known |= {"recall": _recall_told(given), "caps": dict(caps), "budgets": dict(budgets or {})}
    said = {name: value for name, value in known.items() if value}
    return RouterPrompt(
        mode=str(message.mode),
        verb=verb,
        message=message.words,
        supervised=message.supervised,
        context=said,
    )


def _recall_told(given: TurnInput | FlatTurnInput) -> dict[str, Any]:
    asked = given.message.recall
    return (
        {}
        if asked is None
        else {"required": asked.required, "mode": asked.mode, "max_items": asked.max_items}
    )


def caps_told(policy: Policy) -> dict[str, Any]:
    """What a turn may use at the most, by budget class; ``supervised_steps`` is what a supervised
    loop has where nobody asks for more.
    """
    classes = {
        str(name): {
            "max_steps": caps.max_steps,
            "max_tokens_reason": caps.max_tokens_reason,
            "max_tokens_answer": caps.max_tokens_answer,
            "timeout_seconds": caps.timeout_seconds,
        }
        for name, caps in policy.router.classes.items()
    }
    return {
        "default": str(policy.router.default_class),
        "supervised_steps": policy.supervisor.max_steps,
        "classes": classes,
    }


class RoutedTurn(Struct, frozen=True, kw_only=True):
    """What the router model is asked about: the turn, and the verb that rule ``entry`` entered
    by.
    """

    given: TurnInput | FlatTurnInput
    verb: str


def _ask(context: FlowContext, turn: RoutedTurn) -> ModelQuestion:
    caps, budgets = caps_told(context.catalog.policy), context.budgets
    return _question(
        context,
        router_prompt(turn.given, turn.verb, caps, budgets),
        {"verb": turn.verb, "caps": caps, "budgets": budgets},
    )


def _ask_8(context: FlowContext, turn: RoutedTurn) -> ModelQuestion:
    caps = caps_told(context.catalog.policy)
    return _question(
        context, router_prompt(turn.given, turn.verb, caps), {"verb": turn.verb, "caps": caps}
    )


def _ask_4(context: FlowContext, turn: RoutedTurn) -> ModelQuestion:
    return _question(context, router_prompt(turn.given, turn.verb), {"verb": turn.verb})


def _question(context: FlowContext, prompt: RouterPrompt, args: dict[str, Any]) -> ModelQuestion:
    return ModelQuestion(
        refs=(0,),
        args=args,
        prompt_tokens=size_bound(context.catalog.data.prompts[TEMPLATE], prompt),
        max_tokens=MAX_TOKENS,
    )


def _build(_: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    args = call.args
    prompt = router_prompt(values[0], args["verb"], args.get("caps"), args.get("budgets"))
    return PromptInputs(inputs=msgspec.structs.asdict(prompt), schema=SCHEMA)


def _lane(policy: Policy) -> Lane:
    return policy.router.ask or policy.lanes.planner


ROUTER_PROMPT: PromptKind[RoutedTurn] = PromptKind(
    purpose="router",
    template=TEMPLATE,
    package="ordain.flows.turn",
    contract="router_step",
    lane=_lane,
    ask=_ask,
    build=_build,
)
ROUTER_PROMPT_8 = replace(ROUTER_PROMPT, ask=_ask_8)
"""As versions 5 to 8 asked."""
ROUTER_PROMPT_4 = replace(ROUTER_PROMPT, ask=_ask_4)
"""As versions before 5 asked."""
