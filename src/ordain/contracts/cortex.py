"""The cortex conversation of the sources (C1): ``/v1/cortex/chat``, the hub's payload, and the
execution plan behind a mode (ORC-01..04).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from ordain.contracts.attachments import FILES_MAX
from ordain.contracts.conversation import (
    Attachment,
    ExecMode,
    PackName,
    Reply,
    SaidText,
    SessionId,
    VerbName,
    says_or_brings,
)
from ordain.contracts.planner import Open, Strict
from ordain.contracts.text_links import Links, with_links
from ordain.contracts.verbs import CallErrorBody
from ordain.contracts.verdict import HeaderVerdict, Remedies

TRACE_VERBS = {
    ExecMode.BRAIN: "chat_general",
    ExecMode.AGENT: "task_execution",
    ExecMode.COUNCIL: "council_deliberation",
}
"""The hub's telemetry label of a mode (HUB-04); it never selects what is executed (HUB-05)."""


DEFAULT_PACKS = ["executive_pack"]
"""The gateway's default (C1)."""


class ChatOptions(Open):
    """Open map with the keys that mean something here (EXE-02, EXE-16, B-33)."""

    supervised: bool = False
    max_steps: int | None = Field(default=None, ge=1, le=100)
    allowed_verbs: list[VerbName] = Field(default=[], max_length=50)
    timeout_ms: int | None = Field(default=None, ge=1, le=3_600_000)


class RecallDirective(Strict):
    """Whether and how memory is asked; kept with the request (C1)."""

    enabled: bool = True
    required: bool = False
    mode: Literal["hybrid", "deep", "graph"] = "hybrid"
    profile: str | None = None
    time_window_days: int = Field(default=90, ge=1, le=3650)
    max_items: int = Field(default=8, ge=1, le=100)


class CortexChatRequest(Strict):
    """A chat turn as the hub sends it to the gateway (HUB-06, HUB-07)."""

    model_config = ConfigDict(json_schema_extra=says_or_brings("prompt"))

    attachments: list[Attachment] = Field(default=[], max_length=FILES_MAX)
    prompt: SaidText
    mode: ExecMode = Field(default=ExecMode.BRAIN, strict=False)
    verb: VerbName | None = None
    packs: list[PackName] | None = Field(
        default=None,
        max_length=20,
        description="Agent turns use only verbs of these packs; absent, policy's own toolset.",
    )
    options: ChatOptions | None = None
    recall: RecallDirective | None = None
    session_id: SessionId | None = None
    user_id: str | None = Field(default=None, min_length=1, max_length=200)
    trace_id: str | None = Field(default=None, min_length=1, max_length=200)
    metadata: dict[str, JsonValue] = Field(
        default={},
        max_length=40,
        description="Kept with the message; `trace_verb` is a label only.",
    )


class CortexMessage(Strict):
    """One message of a client context."""

    role: Literal["user", "assistant", "system"]
    content: str


class CortexContext(Strict):
    """Who says what, in which session (C1)."""

    messages: list[CortexMessage] = []
    raw_user_text: str | None = None
    user_message: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    trace_id: str | None = None
    metadata: dict[str, JsonValue] = {}
    attachments: list[Attachment] = []


class CortexClientRequest(Strict):
    """What the gateway hands to the orchestrator; unknown fields are refused (ORC-01). ``verb``
    None means the mode's own entry verb.
    """

    mode: ExecMode = Field(strict=False)
    verb: VerbName | None = None
    packs: list[PackName] = Field(default=DEFAULT_PACKS, max_length=20)
    options: ChatOptions = ChatOptions()
    recall: RecallDirective = RecallDirective()
    context: CortexContext


class CortexClientResult(Strict):
    """What the orchestrator gives back (C1), with the code-written header of the run."""

    ok: bool
    mode: str
    verb: str
    status: Literal["success", "partial", "fail"]
    final_text: str | None = None
    memory_used: bool = False
    recall_debug: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []
    error: CallErrorBody | None = None
    correlation_id: str
    metadata: dict[str, Any] = {}
    run_id: str | None = Field(
        default=None, description="Null where nothing follows from the message."
    )
    header: str = ""
    verdict: HeaderVerdict = None
    remedies: Remedies = []
    links: Links = []

    @model_validator(mode="before")
    @classmethod
    def _with_links(cls, given: Any) -> Any:
        return with_links(given, "final_text", "header")


class CortexChatResult(Strict):
    """The reply of ``/v1/cortex/chat``."""

    cortex_result: CortexClientResult
    final_text: str | None = None


class HubChat(Open):
    """The hub's payload (HUB-03), over HTTP and WebSocket; one of ``verbs`` is an override, several
    are a restriction (B-33).
    """

    model_config = ConfigDict(json_schema_extra=says_or_brings("text_input"))

    attachments: list[Attachment] = Field(default=[], max_length=FILES_MAX)
    text_input: SaidText
    mode: ExecMode = Field(default=ExecMode.BRAIN, strict=False)
    session_id: SessionId | None = None
    user_id: str | None = Field(default=None, min_length=1, max_length=200)
    message_id: str | None = Field(default=None, min_length=1, max_length=200)
    reply_to: str | None = Field(default=None, min_length=1, max_length=200)
    verb: VerbName | None = None
    verbs: list[VerbName] = Field(default=[], max_length=50)
    packs: list[PackName] | None = Field(default=None, max_length=20)
    options: ChatOptions | None = None


class HubReply(Strict):
    """What ``/api/chat`` answers: the hub shows header, then text. ``message_id`` and
    ``session_seq`` find the message again.
    """

    session_id: str
    message_id: str
    session_seq: int
    duplicate: bool = False
    run_id: str | None
    attached: str
    text: str
    reply: Reply | None
    question: dict[str, Any] | None = None
    approval: dict[str, Any] | None = None
    cortex_result: CortexClientResult | None = None


# --- the plan behind a mode -----------------------------------------------------------------------


class ExecutionStep(Strict):
    """One step of an execution plan (C1)."""

    verb_name: str
    step_name: str
    description: str = ""
    order: int
    services: list[str]
    prompt_template: str | None = None
    requires_gpu: bool = False
    requires_memory: bool = False
    timeout_ms: int = 120_000
    recall_profile: str | None = None


class ExecutionPlan(Strict):
    """What a mode means in steps (C1, ORC-02)."""

    verb_name: str
    label: str = ""
    description: str = ""
    category: str = ""
    priority: str = "medium"
    interruptible: bool = True
    can_interrupt_others: bool = False
    timeout_ms: int = 120_000
    max_recursion_depth: int = 2
    steps: list[ExecutionStep]
    blocked: bool = False
    blocked_reason: str | None = None
    system_state: str | None = None
    metadata: dict[str, Any] = {}
