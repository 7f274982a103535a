"""Verbs as data: what a verb declares, and the verb conversation (VRB-01..VRB-08, C3, security
policy).

A verb id is one exact string everywhere: ``verb_id == verb name == tool_id`` (B-05, B-25). What a
verb does not declare counts as the strictest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, JsonValue, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from ordain.contracts.access import TokenScope
from ordain.contracts.failures import FailureCategory
from ordain.contracts.faults import Fault
from ordain.contracts.grounds import Ground, declares
from ordain.contracts.http_call import HttpCall, http_faults
from ordain.contracts.planner import KNOWN_CALLERS, ErrorBody, Strict
from ordain.contracts.text_links import Links
from ordain.contracts.verdict import HeaderVerdict, Remedy

VERB_ID = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
VerbId = Annotated[str, StringConstraints(pattern=VERB_ID, max_length=128)]


MODEL_SERVICE = "LLMGatewayService"
"""A plan step with this service asks a model; a step without it only composes the prompt of the
next (C3).
"""


class VerbEffect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    EGRESS = "egress"
    PRIVATE = "private"
    SEND = "send"
    ADMIN = "admin"
    PAY = "pay"
    DELETE = "delete"
    SECRET = "secret"  # noqa: S105 - a member of the closed vocabulary, not a password


class ArgumentRole(StrEnum):
    """What an argument controls; those in ``FREE_ROLES`` control nothing that happens."""

    RECIPIENT = "recipient"
    TARGET = "target"
    AMOUNT = "amount"
    WHEN = "when"
    URL = "url"
    ATTACHMENT = "attachment"
    SECRET = "secret"  # noqa: S105 - a member of the closed vocabulary, not a password
    CONTENT = "content"
    LABEL = "label"
    FLAG = "flag"
    SELECT = "select"


class TrustClass(StrEnum):
    """Where a verb comes from: this build or whoever embeds it, the operator's folder, a tool
    server, a package of others.
    """

    NATIVE = "native"
    SKILL = "skill"
    MCP = "mcp"
    PLUGIN = "plugin"


FREE_ROLES = frozenset(
    {ArgumentRole.CONTENT, ArgumentRole.LABEL, ArgumentRole.FLAG, ArgumentRole.SELECT}
)


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields that an object's JSON Schema declares, by name."""
    found = schema.get("properties")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


class Trust(StrEnum):
    """Who stands behind a value, from most to least trusted."""

    SYSTEM = "system"
    OWN = "own"
    DIRECTORY = "directory"
    MEMBER = "member"
    FOREIGN = "foreign"


def less_trusted(one: Trust, other: Trust) -> Trust:
    """The lower of two."""
    order = list(Trust)
    return max(one, other, key=order.index)


class Category(StrEnum):
    """The sources' verb categories (C3)."""

    SELF_MODIFICATION = "SelfModification"
    MEMORY_ACCESS = "MemoryAccess"
    EXECUTIVE_CONTROL = "ExecutiveControl"
    GENERATIVE = "Generative"
    TRANSFORM = "Transform"
    PERCEPTION = "Perception"
    META_COGNITION = "MetaCognition"


class Argument(Strict):
    """The declaration of one argument of a verb that is not a read."""

    role: ArgumentRole
    resource: str | None = Field(
        default=None, description="Resource type; required for the roles target and attachment."
    )
    fixed: JsonValue = Field(
        default=None,
        description="The only value it may have; of an egress verb, the one that goes out unasked.",
    )
    allowed: list[JsonValue] | None = Field(
        default=None, max_length=1000, description="The only values likewise."
    )
    maximum: float | None = Field(
        default=None, description="The largest number it may be; required for the role amount."
    )
    within_days: int | None = Field(
        default=None,
        ge=1,
        description="How many days ahead it may be (ISO 8601); required for the role when.",
    )


class OutputField(Strict):
    """Trust of one output field; an undeclared field is foreign."""

    trust: Trust = Trust.FOREIGN
    sensitive: bool = False


class PlanStep(Strict):
    """One step of a prompt plan; steps run in ``order`` (VRB-07)."""

    name: str = Field(min_length=1, max_length=100)
    description: str = ""
    order: int = Field(ge=-100, le=1000)
    prompt_template: str | None = None
    services: list[str] = []
    requires_gpu: bool = False
    requires_memory: bool = False


class SafetyRule(Strict):
    """Blocks the verb while the system is in the named state (C3)."""

    rule_name: str = Field(min_length=1, max_length=100)
    applies_when_state: str | None = None


class Retry(Strict):
    """Attempts of one authorised call; they share one idempotency key."""

    max_attempts: int = Field(default=1, ge=1, le=10)


class Reconcile(Strict):
    """Who is asked after a crash whether a call happened; a verb's id alone says the same without
    ``voids``.
    """

    verb: VerbId = Field(
        description="A leaf that takes key and args, and returns happened and output."
    )
    voids: bool = Field(
        default=False,
        description=(
            "Its no is final: it has fenced the key, and no call with the attempt number that it "
            "was given, or a lower one, can take effect any"
            " more. It takes attempt besides. The call is then made again; without voids a no "
            "leaves the outcome unknown."
        ),
    )


class Example(Strict):
    """A call that a test runs."""

    input: dict[str, JsonValue]
    output: dict[str, JsonValue] | None = None


TEXT_FIELD = "content"
"""The one field of a verb's output whose answer is plain text."""
WORDS_MOST = 16_000
"""So many characters a plain text may have; of a longer one its beginning counts."""
TEXT_OUTPUT_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {TEXT_FIELD: {"type": "string", "minLength": 1, "maxLength": WORDS_MOST}},
    "required": [TEXT_FIELD],
    "additionalProperties": False,
}


def text_of(output: Mapping[str, Any]) -> str | None:
    """What an output says in words: its ``content``, or the one text that is all of it; None where
    it has neither.
    """
    content = output.get(TEXT_FIELD)
    if isinstance(content, str):
        return content
    values = list(output.values())
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


DEFAULT_INPUT_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 100_000}, "context": {"type": "object"}},
    "required": ["text"],
    "additionalProperties": False,
}


class VerbSpec(Strict):
    """Everything the runtime knows of a verb (C3 and the security policy); the same for YAML,
    Python and MCP.
    """

    name: VerbId
    label: str = ""
    description: str = Field(min_length=1, max_length=4000)
    category: Category = Category.TRANSFORM
    priority: Literal["high", "medium", "low"] = "medium"
    interruptible: bool = True
    can_interrupt_others: bool = False
    requires_gpu: bool = False
    requires_memory: bool = False
    timeout_ms: int = Field(default=60_000, ge=1, le=3_600_000)
    max_recursion_depth: int = Field(default=1, ge=1, le=16)
    services: list[str] = []
    prompt_template: str | None = None
    plan: list[PlanStep] = []
    safety_rules: list[SafetyRule] = []
    recall_profile: str | None = None
    tags: list[str] = []
    input_schema: dict[str, JsonValue] = DEFAULT_INPUT_SCHEMA
    output_schema: dict[str, JsonValue] = {"type": "object"}
    effect: VerbEffect
    arguments: dict[str, Argument] = {}
    output: dict[str, OutputField] = {}
    idempotent: bool = False
    reconcile: VerbId | Reconcile | None = None
    retry: Retry = Retry()
    output_max_tokens: int = Field(
        default=1024, ge=1, le=100_000, description="Bound of one model answer of a prompt plan."
    )
    answer: Literal["json", "text"] = Field(
        default="json",
        description=(
            "What a prompt plan's model is asked for. json: an object that fits output_schema. "
            "text: words for a person, which are the output"
            " {content} as they stand, within its bounds; no JSON is asked for."
        ),
    )
    grounds: list[Ground] = Field(
        default=[],
        max_length=20,
        description=(
            "What the answer of a prompt plan must refer to: numbers of given items, given words."
        ),
    )
    example: Example | None = None
    flow: str | None = Field(
        default=None,
        description="The kind of run of this build that carries the verb out. Shipped verbs alone.",
    )
    session_only: bool = Field(
        default=False, description="Works inside a session only, where there is somebody to ask."
    )
    entry: bool = Field(
        default=False, description="What a turn enters by: no tool, and no nesting of verbs."
    )
    narrates: str | None = Field(
        default=None,
        description=(
            "The output field that is text for the user: it may be shown while it is written."
        ),
    )
    http: HttpCall | None = Field(
        default=None, description="The HTTP request that the verb is; needs no code."
    )
    scopes: list[TokenScope] = Field(
        default=[],
        max_length=len(TokenScope),
        description=(
            "The scopes of access that whoever asks for a run needs, all of them, for it to call "
            "the verb."
        ),
    )
    trust_class: TrustClass = Field(
        default=TrustClass.NATIVE,
        description="Where the verb comes from, as Ordain found it; no file says it.",
    )
    source: str = Field(
        default="",
        max_length=128,
        description="The MCP server or plugin that brings it; no file says it.",
    )
    declared_effect: VerbEffect | None = Field(
        default=None,
        description=(
            "What the declaration says where the verb's mechanism demands a stricter effect, "
            "which is the verb's; no file says it."
        ),
    )

    @property
    def written_effect(self) -> VerbEffect:
        """The effect as declared: what the declaration is held to. What a call may do goes by
        ``effect``.
        """
        return self.declared_effect or self.effect

    @property
    def composite(self) -> bool:
        """Whether the verb is a flow (a prompt plan, or one of this build's) and not a leaf."""
        return bool(self.plan) or self.flow is not None

    @property
    def reconciler(self) -> str | None:
        """The verb that is asked after a crash."""
        return self.reconcile.verb if isinstance(self.reconcile, Reconcile) else self.reconcile

    @property
    def voids(self) -> bool:
        """Whether a no of that verb is final."""
        return isinstance(self.reconcile, Reconcile) and self.reconcile.voids

    @model_validator(mode="before")
    @classmethod
    def _of_older_builds(cls, given: Any) -> Any:
        """Declarations in older catalogs say both by ``flow``: all such verbs were for sessions,
        and those tagged so were entries.
        """
        if not isinstance(given, dict):
            return given
        declared = cast("dict[str, Any]", given)
        if not declared.get("flow") or "session_only" in declared:
            return declared
        return {**declared, "session_only": True, "entry": "entry" in declared.get("tags", ())}

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        """A verb that answers in words need not say what its output is: there is one shape of
        it.
        """
        if not isinstance(given, dict) or cast("dict[str, Any]", given).get("answer") != "text":
            return cast("Any", given)
        return {"output_schema": TEXT_OUTPUT_SCHEMA, **cast("dict[str, Any]", given)}

    @model_validator(mode="after")
    def _lint(self) -> Self:
        """Refuse what the security policy's lint refuses; the error carries every fault with its
        place.
        """
        if faults := tuple(self._faults()):
            first, more = faults[0][1], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            raise PydanticCustomError(
                "verb_declaration", "{what}{more}", {"what": first, "more": more, "faults": faults}
            )
        return self

    def _faults(self) -> Iterator[Fault]:
        effect = self.written_effect
        known = set(properties_of(self.input_schema))
        for name in sorted(set(self.arguments) - known):
            yield ("arguments", name), f"arguments not in input_schema: {name}"
        for name, argument in self.arguments.items():
            if (
                argument.role in {ArgumentRole.TARGET, ArgumentRole.ATTACHMENT}
                and not argument.resource
            ):
                yield (
                    ("arguments", name),
                    f"argument {name}: role {argument.role} names a resource type",
                )
            if argument.role is ArgumentRole.AMOUNT and argument.maximum is None:
                yield ("arguments", name), f"argument {name}: role amount has a maximum"
            if argument.role is ArgumentRole.WHEN and argument.within_days is None:
                yield ("arguments", name), f"argument {name}: role when has bounds (within_days)"
        if (
            effect is not VerbEffect.READ
            and not self.composite
            and (bare := sorted(known - set(self.arguments)))
        ):
            yield (
                ("arguments",),
                f"effect {effect}: each argument has a role; missing: {', '.join(bare)}",
            )
        roles = {argument.role for argument in self.arguments.values()}
        if effect in {VerbEffect.SEND, VerbEffect.PAY} and ArgumentRole.RECIPIENT not in roles:
            yield ("effect",), f"effect {effect} has an argument with role recipient"
        if effect is VerbEffect.DELETE and ArgumentRole.TARGET not in roles:
            yield ("effect",), "effect delete has an argument with role target"
        if self.plan and not (
            self.prompt_template or all(step.prompt_template for step in self.plan)
        ):
            yield ("plan",), "a prompt plan names a prompt_template for the verb or for every step"
        if self.answer == "text":
            yield from self._text_faults()
        if self.http is not None:
            if self.composite:
                yield ("http",), "a verb is an HTTP request or a plan, not both"
            yield from http_faults(self.http, effect, self.input_schema)

    def _text_faults(self) -> Iterator[Fault]:
        if not self.plan:
            yield ("answer",), "answer text: only a prompt plan asks a model for words"
        declared: Any = properties_of(self.output_schema)
        given: Any = declared.get(TEXT_FIELD)
        text = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        bounded = text.get("type") == "string" and isinstance(text.get("maxLength"), int)
        if not bounded or len(declared) != 1 or self.output_schema.get("required") != [TEXT_FIELD]:
            yield (
                ("output_schema",),
                (
                    f"answer text: the output is {{{TEXT_FIELD}}} and nothing else, a required "
                    "string "
                    "with a maxLength"
                ),
            )
        if self.narrates not in (None, TEXT_FIELD):
            yield ("narrates",), f"answer text: what is shown is {TEXT_FIELD}"
        if self.grounds:
            yield ("grounds",), "answer text: words have no parts to be held to the input"

    @model_validator(mode="after")
    def _lint_grounds(self) -> Self:
        """Refuse what an answer could never be held to."""
        if self.grounds and not self.plan:
            raise ValueError("grounds: only a prompt plan's answer is held to its input")
        for ground in self.grounds:
            if not declares(self.output_schema, ground.output.split("/")):
                raise ValueError(f"grounds: {ground.output} is not in output_schema")
            if not declares(self.input_schema, ground.input.split("/")):
                raise ValueError(f"grounds: {ground.input} is not in input_schema")
        return self


KNOWN_VERB_CALLERS = (*KNOWN_CALLERS, "planner-react", "python")
"""Whoever else calls a verb shares the account of the unknown (B-03)."""


class VerbRequest(Strict):
    """Run one verb (VRB-02); ``verb_id`` is exact."""

    verb_id: str = Field(min_length=1, max_length=128)
    payload: dict[str, JsonValue] = {}
    request_id: str | None = Field(default=None, min_length=1, max_length=200)
    caller: str = Field(default="planner-react", min_length=1, max_length=64)


class CallErrorBody(ErrorBody):
    """Why a call did not succeed, and what to do about it (C5)."""

    category: FailureCategory | None = None
    remedy: Remedy = None


class VerbErrorBody(CallErrorBody):
    """Why a verb did not succeed."""

    details: dict[str, Any] = {}


class VerbReply(Strict):
    """The source's reply (VRB-03) plus the run that carried it out and its header. ``output`` is
    null where it failed, but of work that was handed on, which says why and where.
    """

    ok: bool
    output: dict[str, JsonValue] | None
    error: VerbErrorBody | None
    step_results: list[dict[str, JsonValue]] = []
    request_id: str | None = None
    run_id: str | None = None
    header: str | None = None
    verdict: HeaderVerdict = None
    links: Links = []
