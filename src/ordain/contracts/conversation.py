"""The conversation: the one canonical message every channel is turned into (ING-01..ING-04), and
what a session answers.

The sources' own spelling on the wire is camelCase (B-12); inside, names are snake_case. Validation
only: nothing here decides.
"""

from __future__ import annotations

from base64 import b64encode
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from ordain.contracts.attachments import FILE_BYTES, FILES_MAX
from ordain.contracts.ids import SESSION_ID
from ordain.contracts.path_parts import path_part
from ordain.contracts.planner import ErrorBody
from ordain.contracts.text_links import Links, with_links
from ordain.contracts.verdict import HeaderVerdict, Remedies

MESSAGE_CHARS = 32_000
"""Longest text of one message, in characters."""
DATA_CHARS = 4 * -(-FILE_BYTES // 3)
"""The bytes of a file of the largest size, in base64."""
WORKSPACE_ID = r"^[a-z0-9][a-z0-9._-]{0,63}$"
SAYS_SOMETHING = "[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""Anything but white space, as ``str.strip`` knows it: the published schema says exactly what the
validator does.
"""


def _said(text: str, info: ValidationInfo) -> str:
    if not text.strip() and not info.data.get("attachments", True):
        raise ValueError("nothing is said: there is only white space, and no attachment")
    return text


SaidText = Annotated[str, Field(max_length=MESSAGE_CHARS), AfterValidator(_said)]
"""A text that says something, or comes behind a field ``attachments`` that is not empty."""


def says_or_brings(text: str) -> dict[str, JsonValue]:
    """The published half of it: that field ``text`` says something, or ``attachments`` hold a
    file.
    """
    said: JsonValue = {"properties": {text: {"pattern": SAYS_SOMETHING}}, "required": [text]}
    return {
        "anyOf": [
            said,
            {"properties": {"attachments": {"minItems": 1}}, "required": ["attachments"]},
        ]
    }


SessionId = Annotated[str, StringConstraints(pattern=SESSION_ID)]
MessageId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
VerbName = Annotated[str, StringConstraints(min_length=1, max_length=128)]
PackName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


def session_path(session: str, *more: str) -> str:
    """A session's address on the wire: its id is one part of the path, whatever it holds."""
    return "/".join(("/sessions", path_part(session, safe=":@"), *more))


class Channel(StrEnum):
    """Where a message came from (ING-02)."""

    WEB = "web"
    TELEGRAM = "telegram"
    SLACK = "slack"
    DISCORD = "discord"
    OTHER = "other"


class ExecMode(StrEnum):
    """How a turn is to be executed (ING-09); it never implies a lane (B-09)."""

    BRAIN = "brain"
    AGENT = "agent"
    COUNCIL = "council"


ENTRY_OF = {
    ExecMode.BRAIN: "chat_general",
    ExecMode.AGENT: "agent_runtime",
    ExecMode.COUNCIL: "council_runtime",
}
"""The canonical entry verb of each mode (B-06)."""


class BudgetClass(StrEnum):
    """How much a turn may use (B-10); mapped in policy to step, token and time caps."""

    SMALL = "small"
    STANDARD = "standard"
    LARGE = "large"


class Camel(BaseModel):
    """A frozen wire shape in camelCase that refuses unknown fields, coercion and non-finite
    numbers; snake_case names are read too.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        defer_build=True,
    )


class Attachment(Camel):
    """A file that came with a message. With its bytes it is read: text, Markdown, HTML and PDF
    become documents of the session, images are shown to models that see.

    What only says where it lies (``url``) is named to nobody and fetched by nobody.
    """

    name: str = Field(max_length=300)
    media_type: str | None = Field(default=None, max_length=100)
    url: str | None = Field(default=None, max_length=2000)
    size_bytes: int | None = Field(default=None, ge=0, lt=2**63)
    data: str | None = Field(
        default=None,
        max_length=DATA_CHARS,
        repr=False,
        description="Its bytes, in base64 (RFC 4648, with padding).",
    )

    @classmethod
    def of(cls, name: str, content: bytes) -> Attachment:
        """A file by its name and its bytes, which say what it is."""
        return cls(name=name, size_bytes=len(content), data=b64encode(content).decode())


class Content(Camel):
    """What was said (ING-03)."""

    model_config = ConfigDict(json_schema_extra=says_or_brings("text"))

    text: str = Field(default="", max_length=MESSAGE_CHARS)
    attachments: list[Attachment] = Field(default=[], max_length=FILES_MAX)
    metadata: dict[str, JsonValue] = Field(default={}, max_length=50)

    @model_validator(mode="after")
    def _says_something(self) -> Content:
        if not self.text.strip() and not self.attachments:
            raise ValueError("a message has a text or an attachment")
        return self


class WorkflowHint(Camel):
    """A workflow template that somebody suggests, with arguments; code decides whether it is one
    (RTE-06).
    """

    template: VerbName = Field(description="The template's id (`GET /workflows`).")
    args: dict[str, JsonValue] = Field(
        default={},
        max_length=50,
        description="Its arguments: as its schema has them, and no others.",
    )


class RoutingHints(Camel):
    """How the sender would like the turn to be executed. Suggestions: rules decide, and only
    narrow.
    """

    mode: ExecMode = Field(default=ExecMode.BRAIN, strict=False)
    verb: VerbName | None = Field(
        default=None, description="Exactly this verb serves the turn (B-33)."
    )
    allowed_verbs: list[VerbName] = Field(
        default=[], max_length=50, description="Only these verbs may be used as tools (B-33)."
    )
    packs: list[PackName] = Field(
        default=[],
        max_length=20,
        description=(
            "Only verbs of these packs may be used as tools (C1, C3); policy says what a pack "
            "holds."
        ),
    )
    supervised: bool = False
    max_steps: int | None = Field(default=None, ge=1, le=100)
    budget_class: BudgetClass | None = Field(default=None, strict=False)
    workflow: WorkflowHint | None = None
    delegates: list[VerbName] = Field(default=[], max_length=20)


class Recall(Camel):
    """That memory is asked before the turn is answered (C1). ``required``: without its answer the
    turn fails; to find nothing is an answer.
    """

    enabled: bool = True
    required: bool = False
    mode: Literal["hybrid", "deep", "graph"] = "hybrid"
    profile: str | None = Field(
        default=None,
        max_length=100,
        description="Kept; there are no recall profiles, so nothing follows from it.",
    )
    time_window_days: int = Field(default=90, ge=0, le=36_500, description="0: ever.")
    max_items: int = Field(default=8, ge=1, le=100)


class Context(Camel):
    """What stands around the message (ING-04). Reply and thread references of the transport only
    anchor (ING-06).
    """

    reply_to: MessageId | None = Field(
        default=None, description="Id of the message this one replies to."
    )
    thread_ref: str | None = Field(
        default=None,
        max_length=200,
        description="The transport's own thread id; kept, never used to split history.",
    )
    edits: MessageId | None = Field(
        default=None, description="Id of the earlier message that this one replaces."
    )
    locale: str | None = Field(default=None, pattern=r"^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8}){0,3}$")
    routing_hints: RoutingHints = RoutingHints()
    recall: Recall | None = Field(
        default=None, description="Ask memory first; absent: it is not asked."
    )


class Message(Camel):
    """The canonical message (ING-01): what every transport's event is turned into, and nothing else
    enters.
    """

    session_id: SessionId = Field(
        description=(
            "Stable per chat: telegram:chat:<id>, slack:channel:<id>, discord:channel:<id>; the "
            "web gives its own."
        )
    )
    user_id: str = Field(min_length=1, max_length=200)
    channel: Channel = Field(default=Channel.WEB, strict=False)
    message: Content
    context: Context = Context()
    message_id: MessageId | None = Field(
        default=None,
        description=(
            "The same id and content is the same message; without one each delivery counts."
        ),
    )
    timestamp_ms: int | None = Field(default=None, ge=0, le=2**53)


class Option(Camel):
    """What may be chosen: of the two readings of an ambiguous message, A first, or of up to nine
    things that a run offers.
    """

    key: Literal["A", "B", "C", "D", "E", "F", "G", "H", "I"]
    label: str


class Question(Camel):
    """What the assistant waits for; ``message_id`` is what an answer may reply to."""

    key: str
    expected_type: str
    text: str
    options: list[Option] = []
    message_id: str
    expires_at_ms: int
    links: Links = []

    @model_validator(mode="before")
    @classmethod
    def _with_links(cls, given: Any) -> Any:
        return with_links(given, "text", "options")


class ApprovalOpen(Camel):
    """What waits for an approver: ``text`` says in code's words what will happen. It is decided at
    `/approvals`, with ``digest``; no message is a yes.
    """

    approval_id: str
    digest: str
    subject: str
    tier: str
    text: str
    message_id: str
    expires_at_ms: int
    links: Links = []

    @model_validator(mode="before")
    @classmethod
    def _with_links(cls, given: Any) -> Any:
        return with_links(given, "text")


class Reply(Camel):
    """The answer to one message: the code-written header stands above whatever a model wrote, and
    ``ok`` never depends on it (B-34).
    """

    header: str
    narrative: str
    ok: bool
    verdict: HeaderVerdict = None
    remedies: Remedies = []
    links: Links = []

    @model_validator(mode="before")
    @classmethod
    def _with_links(cls, given: Any) -> Any:
        return with_links(given, "narrative", "header")


class MessageAnswer(Camel):
    """What became of a message: its place, its class, the run that serves it, and the reply, the
    question back, or the approval that it waits for.
    """

    session_id: str
    message_id: str
    session_seq: int
    attached: str = Field(
        description=(
            "override, status_nudge, answer_to_pending, filler, new_request, repair or triage; "
            "session_busy: no place was left."
        )
    )
    reason: str
    thread_id: str | None
    run_id: str | None
    duplicate: bool = False
    reply: Reply | None = None
    question: Question | None = None
    approval: ApprovalOpen | None = None
    error: ErrorBody | None = None
    anchor: str | None = Field(
        default=None,
        description="The message id to reply to inline, chosen by code; null: none is needed.",
    )
