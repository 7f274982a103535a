"""Kind ``council`` as a value."""

from __future__ import annotations

from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.council import DeliberationRequest
from ordain.contracts.scope import CapabilityScope
from ordain.flows.council.flow import run_council
from ordain.flows.council.outcome import COUNCIL_WIRE, CouncilOutput
from ordain.flows.deliberation.prompt import COUNCIL_PROMPTS
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.steps.chain import pack_tools
from ordain.journal.records import Label

AGENT = "council"
"""Whom such a run works for, as its account is named."""


def _decode(data: Raw) -> DeliberationRequest:
    return DeliberationRequest.model_validate_json(bytes(data))


def _label(_: DeliberationRequest) -> Label:
    return Label(agent=AGENT)


def _words(request: DeliberationRequest) -> str:
    return request.prompt


def _grant(_: DeliberationRequest, catalog: Catalog) -> CapabilityScope:
    """The agent chain and what it may use."""
    return CapabilityScope(
        allowed=tuple(sorted({CHAIN_VERB, *pack_tools(catalog)} & set(catalog.verbs)))
    )


COUNCIL_KIND: Kind[DeliberationRequest, CouncilOutput] = Kind(
    name="council",
    version=1,
    run=run_council,
    decode_input=_decode,
    settle=settled_in_words,
    label=_label,
    words=_words,
    grant=_grant,
    prompts=COUNCIL_PROMPTS,
    wire=COUNCIL_WIRE,
    escalates=frozenset({CHAIN_VERB}),
    judged=True,
)
