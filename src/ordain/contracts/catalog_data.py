"""What a catalog is made of, as it is stored: data alone, named by the digest of its JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from ordain.contracts.assistant import Assistant
from ordain.contracts.cards import AgentCard, CardName
from ordain.contracts.council import Seat, SeatName
from ordain.contracts.planner import Strict
from ordain.contracts.policy import Policy
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verbs import VerbId, VerbSpec
from ordain.contracts.workflow import SettingName, TemplateId, WorkflowTemplate

FIRST_WORDING = "1:551e65bc7a963e25ab29c3ecc857beb958c3074f484bfcaeaca5477bc29d3473"
"""What messages were read with before catalogs named it: engine 1 and the table that it was shipped
with.
"""

DeclarationDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class CatalogData(Strict):
    """What is stored and hashed: data only, no compiled thing, no secret."""

    policy: Policy
    verbs: dict[str, VerbSpec] = {}
    prompts: dict[str, str] = Field(default={}, description="Template source by name.")
    profiles: dict[str, ModelProfile] = {}
    node: str = "default"
    unconfirmed: list[VerbId] = Field(
        default=[],
        description=(
            "The verbs, by id, whose declarations no operator has confirmed; not there where "
            "there is none."
        ),
    )
    declarations: dict[VerbId, DeclarationDigest] = Field(
        default={},
        description=(
            "What verbs are made of that are neither shipped nor an embedder's, by id: the digest "
            "that `ordain verbs confirm` confirms, of declaration, templates and code. Not there "
            "where there are none, nor in catalogs of before."
        ),
    )
    wording: str = Field(
        default="",
        pattern=r"^([1-9][0-9]{0,3}:[0-9a-f]{64})?$",
        description=(
            'Engine and table that messages are read with, as "engine:digest"; not there in '
            "catalogs of before there was a choice."
        ),
    )
    workflows: dict[TemplateId, WorkflowTemplate] = Field(
        default={}, description="Templates by id; not there where there are none."
    )
    workflow_verbs: dict[SettingName, VerbId] = Field(
        default={}, description="The verbs of steps that the settings name, by that name."
    )
    cards: dict[CardName, AgentCard] = Field(
        default={}, description="Specialists by name; not there where there are none."
    )
    seats: dict[SeatName, Seat] = Field(
        default={}, description="The council's seats by name; not there where there are none."
    )
    unconfigured: list[VerbId] = Field(
        default=[],
        max_length=100,
        description=(
            "Verbs that settings would have to configure first: they are inactive. Not there "
            "where there are none."
        ),
    )
    fixed: dict[VerbId, dict[str, str]] = Field(
        default={},
        description=(
            "What settings fix of every call of a verb, by id, each by its name: approvers are "
            "told it. Not there where there is nothing, nor in catalogs of before."
        ),
    )
    bounds_days: bool = Field(
        default=False,
        description=(
            "Whether the days that a verb declares for an argument (`within_days`) are held to; "
            "not there where none declares any, nor in catalogs of before, which held no call to "
            "them."
        ),
    )
    rows_by_call: bool = Field(
        default=False,
        description=(
            "Whether the row of policy about a call in an approval of several is found by that "
            "call's own tier; not there where policy has no rows, nor in catalogs of before, "
            "which went by the gravest."
        ),
    )
    web_addresses: bool = Field(
        default=False,
        description=(
            "Whether a scope that lists domains lets through http, https and, to recipients, mail "
            "alone; not there where no argument is an address, nor in catalogs of before, which "
            "took any scheme."
        ),
    )
    strict_verdicts: bool = Field(
        default=False,
        description=(
            "Whether a verdict weighs a call of a verb that a model proposed and code refused, "
            "and leaves out what code looked up by itself; in catalogs of before, neither."
        ),
    )
    meant_verdicts: bool = Field(
        default=False,
        description="Whether one refused for its shape weighs too; in catalogs of before, not.",
    )
    seen_prohibited: bool = Field(
        default=False,
        description=(
            "Whether prohibited words are compared as people see them; in catalogs of before, not."
        ),
    )
    alike_prohibited: bool = Field(
        default=False,
        description=(
            "Whether a letter that is seen as another one counts there as that one alone; in "
            "catalogs of before, as any."
        ),
    )
    assistant: Assistant | None = Field(
        default=None,
        description="Who the assistant is in conversations; not there where nobody said.",
    )


LEFT_OUT = (
    "wording",
    "unconfigured",
    "unconfirmed",
    "declarations",
    "workflows",
    "workflow_verbs",
    "cards",
    "seats",
    "fixed",
    "bounds_days",
    "rows_by_call",
    "web_addresses",
    "strict_verdicts",
    "meant_verdicts",
    "seen_prohibited",
    "alike_prohibited",
    "assistant",
)
"""Fields that catalogs of earlier builds have not, and that are not written where there is nothing
in them: so those keep their digests.
"""
