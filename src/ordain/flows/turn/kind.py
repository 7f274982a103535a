"""Kind ``turn`` as a value, and its versions before for what was begun under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.conversation import ExecMode
from ordain.contracts.roster import ROSTER_VERB
from ordain.contracts.scope import CapabilityScope
from ordain.flows.commission import MessageFacts
from ordain.flows.kind import FailedStep, Kind, Routing, Serves, settled_by_error
from ordain.flows.recall import RECALL_VERB
from ordain.flows.turn.before import run_turn_7, run_turn_8, run_turn_9
from ordain.flows.turn.carried import chain_tools
from ordain.flows.turn.delegation import handing
from ordain.flows.turn.flat_input import FlatTurnInput
from ordain.flows.turn.flow import run_turn
from ordain.flows.turn.request import TurnInput, TurnOutput, turn_input
from ordain.flows.turn.router import ROUTER_PROMPT, ROUTER_PROMPT_4, ROUTER_PROMPT_8
from ordain.flows.turn.suggestion import SUGGESTION_PROMPT, WORKFLOW_PROMPT
from ordain.flows.turn.v1 import run_turn as run_turn_1
from ordain.flows.turn.v2 import run_turn as run_turn_2
from ordain.flows.turn.v3 import run_turn as run_turn_3
from ordain.flows.turn.v4 import run_turn as run_turn_4
from ordain.flows.turn.v5 import run_turn as run_turn_5
from ordain.flows.turn.v6 import run_turn as run_turn_6
from ordain.journal.records import Label
from ordain.rules.completeness import COMPLETENESS
from ordain.rules.entry import ENTRY, ENTRY_OF, Entered, EntryFacts, EntryInputs
from ordain.rules.outcome import OUTCOME, OutcomeChosen, TurnOutcome
from ordain.rules.recall import RECALL
from ordain.rules.route import ROUTE, Path
from ordain.rules.unrecovered import UNRECOVERED
from ordain.rules.verdict import VERDICT
from ordain.rules.workflow import WORKFLOW

_BRAIN: Final = ExecMode.BRAIN


def _label(given: TurnInput) -> Label:
    """Whom it works for is the entry of its mode, one of a closed set: the verb is the sender's
    word, and no word of his begins an account (B-03).
    """
    return Label(agent=ENTRY_OF[given.message.mode], after=given.after, untaken=given.untaken)


def _label_4(given: TurnInput | FlatTurnInput) -> Label:
    message = given.message
    return Label(agent=message.verb or ENTRY_OF[message.mode], after=given.after)


def _words(given: TurnInput | FlatTurnInput) -> str:
    return given.message.text


def _grant(given: TurnInput, catalog: Catalog) -> CapabilityScope:
    """As ``_granted``; under one catalog that is the same for every message that says its words
    alone.
    """
    said = given.message
    names = said.verb or said.allowed_verbs or said.packs or said.workflow or said.delegates
    if names or said.supervised or said.recall is not None or said.mode is not _BRAIN:
        return _granted(given, catalog)
    return _granted_words(catalog)


@lru_cache(maxsize=8)
def _granted_words(catalog: Catalog) -> CapabilityScope:
    # made of nothing else, so that nothing else of a message can bear upon it
    message = MessageFacts(text="", user="", channel="")
    return _granted(TurnInput(seq=0, message=message), catalog)


def _granted(given: TurnInput, catalog: Catalog) -> CapabilityScope:
    """What earlier versions were granted, where a model plans the agent chain with the verbs that
    it may use, and what agents need who may be handed the turn.
    """
    message, entered = given.message, _entered(given, catalog)
    named = _granted_6(given, entered, catalog)
    if message.mode is _BRAIN:
        # whom the roster may hand what is said below, within what the message allows
        named = {verb for verb in named if verb != ROSTER_VERB or verb != message.verb}
    before = catalog.lendable(named)
    if before and message.mode is _BRAIN:
        before = before.union(handing(message, catalog))
    if entered is None or (message.mode is _BRAIN and not message.supervised):
        return CapabilityScope(allowed=tuple(sorted(before)))
    # a council is convened whatever verb the message names: that one is its only tool
    own = {ENTRY_OF[ExecMode.COUNCIL]} if message.mode is ExecMode.COUNCIL else set[str]()
    tools = chain_tools(message, entered, catalog)
    return CapabilityScope(allowed=tuple(sorted({*before, CHAIN_VERB, *own, *tools})))


def _grant_6(given: TurnInput, catalog: Catalog) -> CapabilityScope:
    allowed = _granted_6(given, _entered(given, catalog), catalog)
    return CapabilityScope(allowed=tuple(sorted(allowed)))


def _granted_6(given: TurnInput, entered: Entered | None, catalog: Catalog) -> set[str]:
    """What earlier versions were granted, and the verbs of the workflow that the message names, or
    of any that a model may suggest.

    Where the sender says which verbs may be used as tools, a workflow's are among them.
    """
    message, before = given.message, _granted_5(given, entered, catalog)
    suggested = tuple(catalog.workflows) if catalog.policy.outcome.ask is not None else ()
    named = (message.template,) if message.template else suggested
    if message.mode is not _BRAIN or not before:
        return before
    verbs = {
        verb
        for name in named
        if name in catalog.workflows
        for verb in catalog.workflows[name].verbs
    }
    return before | _tools_among(verbs, message.allowed_verbs)


def _tools_among(verbs: set[str], allowed: tuple[str, ...]) -> set[str]:
    return verbs.intersection(allowed) if allowed else verbs


def _grant_5(given: TurnInput | FlatTurnInput, catalog: Catalog) -> CapabilityScope:
    allowed = _granted_5(given, _entered(given, catalog), catalog)
    return CapabilityScope(allowed=tuple(sorted(allowed)))


def _granted_5(
    given: TurnInput | FlatTurnInput, entered: Entered | None, catalog: Catalog
) -> set[str]:
    """The verb entered by and its tools, the agent's entry, which a router may choose, what sums
    up, and what recalls where that is asked.
    """
    message = given.message
    if entered is None:
        return set()
    more = (RECALL_VERB,) if message.recall is not None else ()
    return {
        entered.verb,
        ENTRY_OF[ExecMode.AGENT],
        catalog.policy.history.verb,
        *entered.tools,
        *more,
    }


def _entered(given: TurnInput | FlatTurnInput, catalog: Catalog) -> Entered | None:
    """What the turn enters by, with its tools; None: it is refused."""
    message = given.message
    inputs = EntryInputs(tools=message.allowed_verbs, catalog=catalog, packs=message.packs)
    outcome = ENTRY.apply(
        EntryFacts(mode=message.mode, verb=message.verb), inputs, catalog.policy
    ).outcome
    return outcome if isinstance(outcome, Entered) else None


def _reply(output: TurnOutput) -> str:
    return output.narrative


def _failed(output: TurnOutput) -> FailedStep | None:
    return output.failed


def _own(given: TurnInput | FlatTurnInput) -> int:
    return given.seq


def _routed(decided: Mapping[str, Any]) -> Mapping[str, str]:
    """The verb entered by, the outcome and the path, as far as they were decided."""
    entry, decided_outcome, routed = (decided.get(rule.name) for rule in (ENTRY, OUTCOME, ROUTE))
    found = {"verb": entry.verb} if isinstance(entry, Entered) else {}
    found |= (
        {"outcome": str(decided_outcome.outcome)}
        if isinstance(decided_outcome, OutcomeChosen)
        else {}
    )
    return (
        found
        if routed is None
        else found | {"path": str(routed.path), "budget_class": str(routed.budget_class)}
    )


TURN: Kind[TurnInput, TurnOutput] = Kind(
    name="turn",
    version=10,
    run=run_turn,
    decode_input=msgspec.json.Decoder(TurnInput).decode,
    settle=settled_by_error,
    label=_label,
    words=_words,
    grant=_grant,
    prompts=(ROUTER_PROMPT, SUGGESTION_PROMPT),
    rules=(ENTRY, WORKFLOW, OUTCOME, ROUTE, RECALL, COMPLETENESS, VERDICT),
    reply=_reply,
    serves=Serves.REQUEST,
    routing=Routing(until=ROUTE.name, found=_routed, closed={"outcome": TurnOutcome, "path": Path}),
    commissioned=turn_input,
    enters=True,
    escalates=frozenset({CHAIN_VERB}),
    profiles=True,
    sums_up=_own,
    judged=True,
    failed=_failed,
)
TURN_9 = replace(TURN, version=9, run=run_turn_9)
TURN_8 = replace(TURN_9, version=8, run=run_turn_8, prompts=(ROUTER_PROMPT_8, SUGGESTION_PROMPT))
TURN_7 = replace(TURN_8, version=7, run=run_turn_7)
TURN_6 = replace(
    TURN_7,
    version=6,
    run=run_turn_6,
    grant=_grant_6,
    prompts=(ROUTER_PROMPT_8, WORKFLOW_PROMPT),
    escalates=frozenset(),
)
TURN_5 = replace(
    TURN_6,
    version=5,
    run=run_turn_5,
    grant=_grant_5,
    prompts=(ROUTER_PROMPT_8,),
    rules=(ENTRY, OUTCOME, ROUTE, RECALL, COMPLETENESS, VERDICT),
)
TURN_4 = replace(
    TURN_5,
    version=4,
    run=run_turn_4,
    prompts=(ROUTER_PROMPT_4,),
    label=_label_4,
    rules=(ENTRY, OUTCOME, ROUTE, RECALL, COMPLETENESS, UNRECOVERED),
    judged=False,
)
TURN_3: Kind[FlatTurnInput, TurnOutput] = Kind(
    name="turn",
    version=3,
    run=run_turn_3,
    decode_input=msgspec.json.Decoder(FlatTurnInput).decode,
    settle=settled_by_error,
    label=_label_4,
    words=_words,
    grant=_grant_5,
    prompts=(ROUTER_PROMPT_4,),
    rules=(ENTRY, OUTCOME, ROUTE, COMPLETENESS, UNRECOVERED),
    reply=_reply,
    serves=Serves.REQUEST,
    enters=True,
    sums_up=_own,
)
TURN_2 = replace(TURN_3, version=2, run=run_turn_2, rules=(ENTRY, OUTCOME, ROUTE))
TURN_1 = replace(TURN_2, version=1, run=run_turn_1)
