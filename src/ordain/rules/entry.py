"""Rule ``entry``: the verb a turn enters by, and the tools it may use (ING-10, GW-01, B-06, B-33).

Each mode has its own entry verb; ``chat_general`` is brain's and nobody else's default, unless the
settings have another verb answer there. What is named and does not exist, is switched off or is
another mode's own entry is a typed error, never replaced by something else. A pack (C3) stands for
those of its verbs that may run here; beside named tools it narrows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ENTRY_OF, ExecMode
from ordain.contracts.packs import pack_verbs, verbs_named
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule, tells_of
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class EntryReason(Reason):
    """Why a turn enters by its verb, or by none (ING-10, GW-01, B-06, B-33)."""

    OF_MODE = "entry.of_mode", "The mode's own entry verb."
    OF_ASSISTANT = "entry.of_assistant", "The verb that the settings have answer in conversations."
    NAMED = "entry.named", "The message names this verb."
    UNKNOWN_VERB = "entry.unknown_verb", "No verb has this id; ids are exact."
    INACTIVE_VERB = "entry.inactive_verb", "The verb is switched off here."
    RESERVED_VERB = "entry.reserved_verb", "The verb is the entry of another mode."
    UNKNOWN_PACK = "entry.unknown_pack", "Policy has no pack of this name."
    EMPTY_PACK = (
        "entry.empty_pack",
        "The packs named, and the tools named with them, leave no verb that may run here.",
    )


class Entered(Struct, frozen=True, kw_only=True, tag="entered"):
    """The turn's verb and, for a supervised turn, its tools in order."""

    verb: str
    tools: tuple[str, ...] = ()


class EntryRefused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The verb, or the pack, that cannot be had; ``code`` is the wire's error code."""

    verb: str
    code: str


class EntryFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the message asks for: mode, the verb it names ("": none), how many tools and packs it
    names, how many attachments it has.
    """

    mode: ExecMode
    verb: str = ""
    tools: int = 0
    attachments: int = 0
    packs: int = 0


class EntryInputs(Struct, frozen=True, kw_only=True):
    """The tools and packs named, and the catalog to find everything in."""

    tools: Sequence[str]
    catalog: Catalog
    packs: Sequence[str] = ()


def decide_entry(
    facts: EntryFacts, inputs: EntryInputs, policy: Policy
) -> Decision[Entered | EntryRefused]:
    """The verb named, or the mode's own; then the tools named, or the packs', or policy's."""
    own = entry_verb(facts.mode, inputs.catalog)
    verb = facts.verb or own
    refused = _refused(verb, inputs.catalog, policy, own=ENTRY_OF[facts.mode])
    if refused is not None:
        return refused
    named = inputs.tools or (
        (facts.verb,) if facts.verb and facts.verb != ENTRY_OF[facts.mode] else ()
    )
    for tool in named:
        if (refused := _refused(tool, inputs.catalog, policy, own="")) is not None:
            return refused
    tools = tuple(
        dict.fromkeys(named or verbs_named(policy.supervisor.tools, inputs.catalog, policy))
    )
    if inputs.packs:
        if unknown := [name for name in inputs.packs if name not in policy.supervisor.packs]:
            return Decision(
                outcome=EntryRefused(verb=unknown[0][:64], code="unknown_pack"),
                reason=EntryReason.UNKNOWN_PACK,
            )
        packed = pack_verbs(inputs.packs, inputs.catalog, policy)
        tools = (
            tuple(tool for tool in tools if tool in packed)
            if inputs.tools
            else tools
            if named
            else packed
        )
        if not tools:
            return Decision(
                outcome=EntryRefused(verb=inputs.packs[0][:64], code="empty_pack"),
                reason=EntryReason.EMPTY_PACK,
            )
    unnamed = EntryReason.OF_MODE if own == ENTRY_OF[facts.mode] else EntryReason.OF_ASSISTANT
    return Decision(
        outcome=Entered(verb=verb, tools=tools), reason=EntryReason.NAMED if facts.verb else unnamed
    )


def entry_verb(mode: ExecMode, catalog: Catalog) -> str:
    """The verb that a mode enters by where none is named: its own, or for brain the one that the
    settings have answer.
    """
    said = catalog.data.assistant
    if said is None or mode is not ExecMode.BRAIN:
        return ENTRY_OF[mode]
    return said.verb or ENTRY_OF[mode]


def _refused(
    verb: str, catalog: Catalog, policy: Policy, *, own: str
) -> Decision[Entered | EntryRefused] | None:
    if verb not in catalog.verbs:
        return Decision(
            outcome=EntryRefused(verb=verb[:128], code="unknown_verb"),
            reason=EntryReason.UNKNOWN_VERB,
        )
    if catalog.inactive_reason(verb, policy.verbs) is not None:
        return Decision(
            outcome=EntryRefused(verb=verb, code=f"inactive_verb:{verb}"),
            reason=EntryReason.INACTIVE_VERB,
        )
    if catalog.verbs[verb].spec.entry and verb != own:
        return Decision(
            outcome=EntryRefused(verb=verb, code=f"reserved_verb:{verb}"),
            reason=EntryReason.RESERVED_VERB,
        )
    return None


_ASKED = msgspec.json.Decoder(EntryFacts)
_REFUSED_SO = tells_of(
    "entry", (EntryReason.UNKNOWN_VERB, EntryReason.INACTIVE_VERB, EntryReason.RESERVED_VERB)
)


def _tells(recorded: Recorded) -> HeaderShare:
    attachments = _ASKED.decode(recorded.facts).attachments
    unread = (
        (HeaderLine(mark="info", what=f"{attachments} attachments: not read"),)
        if attachments
        else ()
    )
    return HeaderShare(lines=(*unread, *_REFUSED_SO(recorded).lines))


ENTRY: Rule[EntryFacts, EntryInputs, Any] = Rule(
    name="entry",
    outcome=Entered | EntryRefused,
    apply=decide_entry,
    reasons=(EntryReason,),
    tells=_tells,
)
