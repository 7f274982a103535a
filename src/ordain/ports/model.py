"""ModelPort: one attempt at one model, behind every provider adapter."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from ordain.contracts.policy import ModelErrorCode, ModelProfile


class ModelRequest(Struct, frozen=True, kw_only=True):
    """What one attempt sends.

    ``schema`` is the JSON Schema the answer must fit. ``inputs`` are the typed values the prompt was rendered from, for
    providers that are no language model (shapes: ``prompts``). ``timeout_s`` is what is left of the deadline. ``index`` is how
    many model calls the run made before this one, so that a scripted answer depends on the journal and not on memory.
    """

    profile: ModelProfile
    purpose: str
    system: str
    user: str
    schema_name: str
    schema: dict[str, Any]
    max_tokens: int
    timeout_s: float
    inputs: dict[str, Any]
    index: int
    key: str


class ModelReply(Struct, frozen=True, kw_only=True):
    """A complete answer. Token counts are None where the provider gave none. ``notice`` goes into the header verbatim."""

    text: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    notice: str | None = None


class ModelError(Struct, frozen=True, kw_only=True):
    """A failed attempt, mapped to the closed set. ``message``: at most 300 characters, no secret, no prompt."""

    code: ModelErrorCode
    message: str
    retry_after_ms: int | None = None


class ModelPort(Protocol):
    """One adapter for one provider.

    One call makes exactly one attempt: no retry, no fallback, no hidden second request. Every foreign failure comes back as
    a ``ModelError``; a missing finish reason, a length stop and empty choices are errors. Cancelling the awaiting task
    abandons the attempt.
    """

    async def attempt(self, request: ModelRequest) -> ModelReply | ModelError:
        """Ask once."""
        ...

    async def close(self) -> None:
        """Release connections; idempotent."""
        ...
