"""The catalog: policy, verbs, prompts, model profiles and wording as one versioned,
content-addressed value.

A run pins the digest of the catalog it started under; the catalog is stored by that digest while a
run refers to it, and compiled (schemas, lookups) when it is loaded. Compiling is pure: remote
schema references are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

from ordain.contracts.agent_verbs import with_agents
from ordain.contracts.cards import AGENT_VERB, AgentCard
from ordain.contracts.catalog_data import FIRST_WORDING, LEFT_OUT, CatalogData
from ordain.contracts.compiled_verb import CompiledVerb, canonical, canonical_object, compiled_verb
from ordain.contracts.compiled_workflow import CompiledWorkflow
from ordain.contracts.conversation import ENTRY_OF
from ordain.contracts.floor import STRICTNESS
from ordain.contracts.ids import CatalogDigest
from ordain.contracts.policy import Policy, VerbsPolicy
from ordain.contracts.read_only import read_only
from ordain.contracts.roster import ROSTER_VERB
from ordain.contracts.schema import Immutable, Schema
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.contracts.workflow import WorkflowTemplate
from ordain.errors import ConfigurationError, JournalCorrupt

DECLARED_CHARS = 32
NOT_CONFIGURED = "not_configured"
"""Why a verb is inactive that settings would have to configure first."""
UNCONFIRMED = "unconfirmed"
"""Why a verb may not run whose declaration nobody has confirmed, where policy says so."""

TableSource = Callable[[str], bytes | None]
"""A table of phrases by its digest, None where there is no such."""


class Catalog(Immutable):
    """A compiled catalog. Immutable at every level, for runs share it; equal digests mean equal
    behaviour.
    """

    data: CatalogData
    policy: Policy
    verbs: Mapping[str, CompiledVerb]
    workflows: Mapping[str, CompiledWorkflow]
    _tables: TableSource | None
    _named: dict[str, frozenset[str]]
    _declared: dict[str, str]
    _inactive: dict[str, str | None]
    _usable: dict[str, frozenset[str]]
    _missing: dict[str, tuple[str, ...]]

    def __init__(self, data: CatalogData, tables: TableSource | None = None) -> None:
        """Compile the data. ``tables`` has the table of phrases that it names; it is asked when
        wording is first read.

        Raises:
            ConfigurationError: a verb's schema is invalid, or a verb has the id of a card's.
        """
        self.__dict__.update(_parts(data), _tables=tables, **_asked())

    @classmethod
    def from_bytes(cls, encoded: bytes, tables: TableSource | None = None) -> Catalog:
        """Load what ``encoded`` returned. The digest stays that of these bytes, though a newer
        build may know more fields.
        """
        catalog = cls.__new__(cls)
        catalog.__dict__.update(_parts_of(encoded), _tables=tables, **_asked(), encoded=encoded)
        return catalog

    @cached_property
    def encoded(self) -> bytes:
        """Canonical JSON: sorted keys, no spaces."""
        left_out = {name for name in LEFT_OUT if not getattr(self.data, name)}
        parts = {
            name: canonical(value)
            for name, value in self.data.model_dump(
                mode="json", exclude={"verbs", *left_out}
            ).items()
        }
        parts["verbs"] = canonical_object(
            {name: self.verbs[name].encoded for name in self.data.verbs}
        )  # nine tenths of it, and mostly known
        return canonical_object(parts).encode()

    @cached_property
    def digest(self) -> CatalogDigest:
        """Content address."""
        return CatalogDigest(hashlib.sha256(self.encoded).hexdigest())

    @cached_property
    def unconfirmed(self) -> frozenset[str]:
        """The verbs whose declarations no operator has confirmed."""
        return frozenset(self.data.unconfirmed)

    def counts_days(self, verb_id: str) -> bool:
        """Whether calls of the verb are held to a number of days ahead."""
        verb = self.verbs.get(verb_id) if self.data.bounds_days else None
        return verb is not None and any(
            argument.within_days for argument in verb.spec.arguments.values()
        )

    def declared(self, verb_id: str) -> str:
        """The digest of all that a call of a verb rests on: what it declares, what it is made of,
        and what settings fix; "" of one that there is not.

        Of one that hands work to a card that is the card, too, and which verbs of which effects it
        is for. What a later build may know of verbs besides changes no digest where a verb says
        nothing of it.
        """
        if verb_id not in self._declared:
            verb = self.verbs.get(verb_id)
            spec = (
                None if verb is None else verb.spec.model_dump(mode="json", exclude_defaults=True)
            )
            whole: list[Any] = [
                spec,
                self.data.declarations.get(verb_id),
                self.data.fixed.get(verb_id),
            ]
            if (card := self.card_of(verb_id)) is not None:
                effects = {
                    verb: self.verbs[verb].spec.effect.value for verb in self.domain_of(card)
                }
                whole += [card.model_dump(mode="json", exclude_defaults=True), effects]
            encoded = canonical(whole).encode()
            self._declared[verb_id] = (
                "" if verb is None else hashlib.sha256(encoded).hexdigest()[:DECLARED_CHARS]
            )
        return self._declared[verb_id]

    @property
    def wording_id(self) -> str:
        """What messages are read with, as ``engine:digest``; ``wording.wording_of`` gives it
        compiled.
        """
        return self.data.wording or FIRST_WORDING

    def table(self) -> bytes | None:
        """The table of phrases that the catalog names, as stored; None where it is the first one,
        which no storage holds, or is stored nowhere.
        """
        if self._tables is None or self.table_digest is None:
            return None
        return self._tables(self.table_digest)

    @property
    def table_digest(self) -> str | None:
        """The digest of the table of phrases that the catalog names; None where it is the first
        one, which no storage holds.
        """
        return None if self.wording_id == FIRST_WORDING else self.wording_id.partition(":")[2]

    @property
    def stored(self) -> Sequence[tuple[str, bytes]]:
        """What is to be stored under which digest, so that the catalog can be loaded again: itself
        and its table of phrases.

        Raises:
            JournalCorrupt: its table is nowhere.
        """
        if self.table_digest is None:
            return ((self.digest, self.encoded),)
        table = self.table()
        if table is None:
            raise JournalCorrupt(f"wording {self.wording_id[:14]} is not stored")
        return ((self.table_digest, table), (self.digest, self.encoded))

    def changed(self, **fields: object) -> Catalog:
        """The same catalog with other ``CatalogData`` fields, read with the table of phrases that
        it has.
        """
        return Catalog(self.data.model_copy(update=fields), self._tables)

    def tried(self, **fields: object) -> Catalog:
        """As ``changed``, under this one's digest: a rule that writes down which catalog a run pins
        comes out otherwise by no name alone.
        """
        changed = self.changed(**fields)
        changed.__dict__["digest"] = self.digest
        return changed

    def schema(self, source: Mapping[str, JsonValue]) -> Schema:
        """Compile a schema that came with a request; the same schema is compiled once.

        Raises:
            ConfigurationError: it is not a JSON Schema, or refers outside itself.
        """
        return _schema(json.dumps(source, sort_keys=True))

    def card_of(self, verb_id: str) -> AgentCard | None:
        """The card that a verb hands work to; None where the verb is another."""
        return (
            self.data.cards.get(verb_id.removeprefix(AGENT_VERB))
            if verb_id.startswith(AGENT_VERB)
            else None
        )

    def hands_on(self, verb_id: str) -> bool:
        """Whether a call of this verb hands work to a card, be it one that there is not."""
        return verb_id.startswith(AGENT_VERB) and (
            verb_id not in self.verbs or self.card_of(verb_id) is not None
        )

    def domain_of(self, card: AgentCard) -> frozenset[str]:
        """The verbs that a card is for: those on its list, or where it has none those that it
        prefers; never what it denies.
        """
        named, denied = (
            frozenset[str]().union(*map(self.named_by, patterns))
            for patterns in (card.allow or card.tool_preference, card.deny)
        )
        return named - denied

    def lendable(self, verbs: Iterable[str]) -> frozenset[str]:
        """These verbs, and where one hands work to a card those that the card is for, and policy's
        moderation: what a root is granted that may hand work on.

        Where one has agents plan and work, it hands work to any of them.
        """
        asked = frozenset(verbs)
        if ROSTER_VERB in asked:
            asked |= {card.verb for card in self.data.cards.values()}
        handing = [verb for verb in asked if verb.startswith(AGENT_VERB)]  # of most turns none does
        cards = [card for card in map(self.card_of, handing) if card is not None]
        return asked.union(*map(self.domain_of, cards), self.scoring if cards else ())

    @property
    def scoring(self) -> tuple[str, ...]:
        """What policy has every task scored with that is handed on, whatever else whoever hands it
        on may use; nothing where it names no verb.
        """
        named = self.policy.guardrails.moderation
        return () if named is None else (named,)

    def effects_of(self, verbs: Iterable[str]) -> tuple[VerbEffect, ...]:
        """The effects of these verbs, each once, the gravest first."""
        found = {self.verbs[verb].spec.effect for verb in verbs}
        return tuple(sorted(found, key=lambda effect: (-STRICTNESS[effect], effect)))

    def named_by(self, pattern: str) -> frozenset[str]:
        """The verbs that a pattern of policy names; kept, for there are as many patterns as policy
        has, and each turn asks for them.
        """
        found = self._named.get(pattern)
        if found is None:
            found = self._named[pattern] = frozenset(
                verb for verb in self.verbs if fnmatchcase(verb, pattern)
            )
        return found

    def inactive_reason(self, verb_id: str, policy: VerbsPolicy) -> str | None:
        """Why a registered verb may not run on this node under ``policy``, or None (C1 activation
        manifest, confirmation, C3 safety rules).
        """
        if policy is not self.policy.verbs or verb_id not in self.verbs:
            return self._inactive_reason(verb_id, policy)
        if verb_id not in self._inactive:
            # a turn asks for each of its tools, and every call for its verb
            self._inactive[verb_id] = self._inactive_reason(verb_id, policy)
        return self._inactive[verb_id]

    def usable(self, pattern: str, policy: VerbsPolicy) -> frozenset[str]:
        """The verbs that a pattern names, as far as they are active under ``policy`` and no mode's
        entry; kept like what it names.
        """
        found = self._usable.get(pattern) if policy is self.policy.verbs else None
        if found is None:
            found = frozenset(
                verb
                for verb in self.named_by(pattern)
                if not self.verbs[verb].spec.entry
                and verb not in ENTRY_OF.values()
                and self.inactive_reason(verb, policy) is None
            )
            if policy is self.policy.verbs:
                self._usable[pattern] = found
        return found

    def _inactive_reason(self, verb_id: str, policy: VerbsPolicy) -> str | None:
        if verb_id in self.data.unconfigured:
            return NOT_CONFIGURED
        node = policy.nodes.get(self.data.node)
        for activation in (policy.default, node):
            if activation is None:
                continue
            if any(fnmatchcase(verb_id, pattern) for pattern in activation.deny):
                return "denied"
            if activation.allow and not any(
                fnmatchcase(verb_id, pattern) for pattern in activation.allow
            ):
                return "not_allowed"
        if policy.unconfirmed == "deny" and verb_id in self.unconfirmed:
            return UNCONFIRMED
        verb = self.verbs.get(verb_id)
        if verb is not None and policy.system_state is not None:
            for rule in verb.spec.safety_rules:
                if rule.applies_when_state == policy.system_state:
                    return f"blocked:{rule.rule_name}"
        return None

    def reach_of(self, workflow: str) -> tuple[str, ...]:
        """The verbs of a template's steps; where one hands work to a card, what that is for; where
        one has agents plan and work, that of all cards.
        """
        verbs = self.workflows[workflow].verbs
        more = self.lendable(
            verb for verb in verbs if verb == ROSTER_VERB or self.card_of(verb) is not None
        )
        return tuple(dict.fromkeys((*verbs, *sorted(more))))

    def missing_of(self, workflow: str) -> tuple[str, ...]:
        """What of a template's steps cannot be called here: verbs that are not configured, not
        registered or switched off, as the template has them.
        """
        if workflow not in self._missing:
            template = self.workflows[workflow]
            named = {call.named: template.verb_of(call) for call in template.template.calls}
            lacking = [
                name
                for name, verb in named.items()
                if verb not in self.verbs
                or self.inactive_reason(verb, self.policy.verbs) is not None
            ]
            self._missing[workflow] = tuple(lacking)
        return self._missing[workflow]


@lru_cache(maxsize=8)
def _parts_of(encoded: bytes) -> Mapping[str, Any]:
    """Nobody can write to them, so that whoever loads the same catalog again, from this store or
    another, shares them.
    """
    return _parts(CatalogData.model_validate_json(encoded))


def _parts(data: CatalogData) -> Mapping[str, Any]:
    """What a catalog is made of, compiled and read-only."""
    data = read_only(_in_order(data))
    specs = read_only(with_agents(data.verbs, data.cards.values()))
    verbs = MappingProxyType({name: _compile(spec) for name, spec in specs.items()})
    workflows = MappingProxyType(
        {
            name: _compiled(template, data.workflow_verbs)
            for name, template in data.workflows.items()
        }
    )
    return {"data": data, "policy": data.policy, "verbs": verbs, "workflows": workflows}


def _asked() -> dict[str, dict[str, Any]]:
    """What each catalog keeps of what it was asked."""
    return {"_named": {}, "_declared": {}, "_inactive": {}, "_usable": {}, "_missing": {}}


@lru_cache(maxsize=128)
def _schema(canonical: str) -> Schema:
    return Schema(json.loads(canonical))


def _in_order(data: CatalogData) -> CatalogData:
    """With cards and seats by name, as they are once it is stored: flows go through them, and do
    the same before and after.
    """
    given = {"cards": data.cards, "seats": data.seats}
    moved = {
        field: {name: held[name] for name in sorted(held)}
        for field, held in given.items()
        if list(held) != sorted(held)
    }
    return data.model_copy(update=moved) if moved else data


def _compiled(template: WorkflowTemplate, settings: Mapping[str, str]) -> CompiledWorkflow:
    try:
        return CompiledWorkflow(template, settings)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"workflow {template.id}: {error.message}", code="invalid_schema"
        ) from error


def _compile(spec: VerbSpec) -> CompiledVerb:
    try:
        return compiled_verb(spec)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"verb {spec.name}: {error.message}", code="invalid_schema"
        ) from error
