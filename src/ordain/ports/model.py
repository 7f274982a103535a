"""ModelPort: one attempt at one model, behind every provider adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol, cast

from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured

Heard = Callable[[str], None]


class Leave(StrEnum):
    """A part of a request that is left out, or said otherwise, for an endpoint that does not take
    it.
    """

    LENGTH_RENAMED = "length_renamed"
    """The length stands under its other name."""
    STREAM_COUNTS = "stream_counts"
    """A stream is not asked for its token counts."""
    STREAM = "stream"
    """The answer comes as one body."""
    TEMPERATURE = "temperature"
    SYSTEM = "system_role"
    """The system text stands at the head of the user's."""
    LENGTH = "length"
    """No length is named: the endpoint's own holds."""
    STORE = "store"
    """It is not said that nothing shall be stored."""


class ByCode(StrEnum):
    """What answers a prompt where no model is configured: nothing, code that takes the only step
    there is, or code that quotes.
    """

    NOTHING = ""
    STEP = "step"
    QUOTE = "quote"


class SentImage(Struct, frozen=True, kw_only=True):
    """An image that goes with a prompt; ``data`` is in base64."""

    media_type: str
    data: str


class ModelRequest(Struct, frozen=True, kw_only=True):
    """What one attempt sends.

    ``schema`` is the JSON Schema the answer must fit; None: the answer is plain text, and nothing
    of JSON is asked for. ``held`` is how it is held to that schema, where that is another way than
    the profile declares; ``left`` is what the endpoint is known not to take. ``inputs`` are the
    typed values the prompt was rendered from, for providers that are no language model (shapes:
    ``prompts``). ``timeout_s`` is what is left of the deadline. ``index`` is how many model calls
    of its purpose (and role) the run made before this one, so that a scripted answer depends on the
    journal and not on memory. ``narrative`` is the place in the JSON answer of the text that may be
    shown while it is being written (keys joined by dots, like ``final_answer.content``), of plain
    text all of it; "" where nothing may be shown. ``verb`` is the verb whose prompt plan asks ("":
    none), ``by_code`` what code may answer where no model is configured (``ByCode``). ``role`` is
    as whom the model is asked where several are asked for one purpose ("": no other is).
    ``words_first``: plain text of this endpoint is known not to begin within a thought that only
    ends in it; of any other nothing is heard before that is certain. ``images`` go behind the
    user's text; only to a profile with ``vision``.
    """

    profile: ModelProfile
    purpose: str
    verb: str = ""
    by_code: ByCode = ByCode.NOTHING
    system: str
    user: str
    schema_name: str
    schema: dict[str, Any] | None
    max_tokens: int
    timeout_s: float
    inputs: dict[str, Any]
    index: int
    narrative: str = ""
    held: Structured | None = None
    left: frozenset[Leave] = frozenset()
    words_first: bool = False
    role: str = ""
    asked_temperature: float | None = None
    images: tuple[SentImage, ...] = ()

    @property
    def temperature(self) -> float | None:
        """What the answer is drawn at: what the question asks for, else the profile's; None: the
        endpoint's own.
        """
        return (
            self.profile.temperature if self.asked_temperature is None else self.asked_temperature
        )

    @property
    def held_by(self) -> Structured | None:
        """How the answer is held to its schema; None where it has none."""
        return None if self.schema is None else self.held or self.profile.held_by

    @property
    def offered(self) -> Sequence[str]:
        """The tools that the prompt offers, by id; a prompt that offers some names them so."""
        tools = self.inputs.get("tools")
        listed = cast("Sequence[Any]", tools) if isinstance(tools, list | tuple) else ()
        return [
            str(cast("dict[str, Any]", tool)["tool_id"])
            for tool in listed
            if isinstance(tool, dict) and "tool_id" in tool
        ]


CUT = "the answer was cut at its length limit"
"""The notice of plain text that was; of JSON that is an error, for it may read like a whole one."""

SILENCED = "the answer stopped in the midst, and nothing more came"
"""The notice of plain text after which its endpoint fell silent."""


ENDED_UNKNOWN = "the endpoint said in a word that is not known why the answer ended"
"""The notice of plain text that may be whole."""

ENDED_UNSAID = "the answer's stream ended, and nothing said that the answer was whole"
"""The notice of plain text of which nobody knows more."""


class ModelReply(Struct, frozen=True, kw_only=True):
    """A complete answer. Token counts are None where the provider gave none. ``notice`` goes into
    the header verbatim.

    ``cached_tokens`` is the part of ``input_tokens`` that the provider read from its cache,
    ``written_tokens`` the part that it wrote there. ``held`` is how its endpoint was told to hold
    it to the schema; None: not at all. ``left`` is what the request did without. ``words_first``:
    whether the text began with words, or with a thought that says where it begins; None where the
    adapter keeps thoughts apart anyway.
    """

    text: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int = 0
    written_tokens: int = 0
    notice: str | None = None
    held: Structured | None = None
    left: frozenset[Leave] = frozenset()
    words_first: bool | None = None


class Charge(StrEnum):
    """What is known of a failed attempt's place on the bill; what is booked follows from it."""

    NOTHING_SENT = "nothing_sent"
    """The provider never heard of it: nothing is booked, not even a call."""
    REFUSED = "refused"
    """The provider refused it before any work: a call is booked, and no tokens."""
    POSSIBLE = "possible"
    """Work may have begun, and nobody here knows whether it will be charged: all that was reserved
    is booked.
    """


REFUSALS = frozenset(
    {
        ModelErrorCode.RATE_LIMITED,
        ModelErrorCode.QUOTA_EXCEEDED,
        ModelErrorCode.OVERLOADED,
        ModelErrorCode.AUTHENTICATION,
        ModelErrorCode.NOT_FOUND,
        ModelErrorCode.CONTEXT_TOO_LONG,
        ModelErrorCode.REJECTED,
        ModelErrorCode.PROMPT_OVER_BOUND,
        ModelErrorCode.NOTHING_TO_QUOTE,
        ModelErrorCode.NEEDS_MODEL,
        ModelErrorCode.SCRIPT_EXHAUSTED,
        ModelErrorCode.WITHDRAWN,
        ModelErrorCode.CIRCUIT_OPEN,
    }
)
"""Codes with which an attempt was refused before any work, unless its adapter knows otherwise."""


class ModelError(Struct, frozen=True, kw_only=True):
    """A failed attempt, mapped to the closed set. ``message``: at most 300 characters, no secret,
    no prompt.

    An adapter that knows more of the cost than the code says gives it as ``known``; who reads asks
    for ``charge``. ``held`` is as in a reply; ``ignored``: the endpoint answered, and not in the
    way that it was told to; ``miscalled``: it called tools, and not the one as it was told to,
    which may be a slip of its model once, and is its endpoint's way twice; ``calls``: it called a
    tool, or meant to. ``left`` is what the request did without, ``fault`` the part of it that a
    refusal names and that can be left out too, ``doubted`` what may be meant by one that names
    nothing. The token counts are those of the whole answer that was none, as in a reply: None where
    there was none, or its provider gave none.
    """

    code: ModelErrorCode
    message: str
    retry_after_ms: int | None = None
    known: Charge | None = None
    held: Structured | None = None
    ignored: bool = False
    miscalled: bool = False
    calls: bool = False
    left: frozenset[Leave] = frozenset()
    fault: Leave | None = None
    doubted: frozenset[Leave] = frozenset()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    written_tokens: int = 0

    @property
    def charge(self) -> Charge:
        """What is known of the cost: as the adapter says, else by the code."""
        return self.known or (Charge.REFUSED if self.code in REFUSALS else Charge.POSSIBLE)


class ModelPort(Protocol):
    """One adapter for one provider.

    One call makes exactly one attempt: no retry, no fallback, no hidden second request. Every
    foreign failure comes back as a ``ModelError``; empty choices are one, and of JSON a missing
    finish reason and a length stop. Plain text that was cut at its length, after which its endpoint
    fell silent or its stream ended without a word, or that ended in an unknown word, is a reply,
    whose notice says so (``CUT``, ``SILENCED``, ``ENDED_UNSAID``, ``ENDED_UNKNOWN``). What is known
    of the cost of a failure beyond what its code says goes with it. Cancelling the awaiting task
    abandons the attempt.

    Where ``heard`` is given and the request names a ``narrative``, an adapter that can calls
    ``heard`` with pieces of that text, unescaped and in order, while they arrive. They are
    provisional: the reply is what counts, and after an error what was heard counts for nothing.
    ``heard`` is cheap and never raises. An adapter that cannot ignores it.
    """

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Ask once."""
        ...

    async def close(self) -> None:
        """Release connections; idempotent."""
        ...
