"""Model profiles: where a model is, what it can do, what it costs, and where its key is."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from ordain.contracts.planner import Strict


class Structured(StrEnum):
    """How an answer is held to its JSON Schema: by the provider, as the input of a tool it must
    call, or by words alone.
    """

    NATIVE = "native"
    TOOL = "tool"
    TEXT = "text"


_NATIVE, _TEXT = Structured.NATIVE, Structured.TEXT
_WAYS = {
    (local, held): order[
        order.index(Structured.NATIVE if local and held is Structured.TOOL else held) :
    ]
    for local, order in ((True, (Structured.NATIVE, Structured.TEXT)), (False, tuple(Structured)))
    for held in Structured
}
"""How answers can be held to their schema, by whether the model is one in a file, and as what its
profile declares.
"""


class PriceTier(Strict):
    """What a call costs whose prompt has more than ``above_tokens``: the whole call, in
    micro-dollars per 1,000 tokens.
    """

    above_tokens: int = Field(ge=1)
    usd_micros_per_1k_input: int = Field(ge=0)
    usd_micros_per_1k_output: int = Field(ge=0)
    usd_micros_per_1k_cached: int | None = Field(default=None, ge=0)
    usd_micros_per_1k_cache_write: int | None = Field(default=None, ge=0)


NO_MODELS = frozenset({"scripted", "offline"})
"""Providers behind which there is no language model."""


class ModelProfile(Strict):
    """One model behind a lane: where it is, what it can do, what it costs, and where its key is
    (never the key).
    """

    provider: Literal["openai", "anthropic", "gemini", "local", "scripted", "offline"]
    model: str = Field(min_length=1, max_length=200)
    base_url: str | None = None
    api: Literal["chat", "responses"] = Field(
        default="chat", description="Which of an OpenAI-compatible endpoint's two wires is spoken."
    )
    key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="The environment variable that holds the API key.",
    )
    key_file: str | None = Field(
        default=None, max_length=1000, description="The file that holds the API key."
    )
    native_schema: bool = True
    structured: Structured | None = Field(
        default=None,
        strict=False,
        description=(
            "How answers are held to their schema; unset: native, or text without native_schema."
        ),
    )
    vision: bool = Field(
        default=False,
        description=(
            "Whether the model sees: images that come with a message are shown to such models "
            "alone."
        ),
    )
    cache: bool = Field(
        default=True,
        description=(
            "Mark what stays the same between calls for the provider's prompt cache, where it "
            "wants marks."
        ),
    )
    timeout_ms: int = Field(default=60_000, ge=1)
    idle_ms: int = Field(
        default=30_000,
        ge=0,
        description=(
            "Longest silence in the midst of a streamed answer, in milliseconds; 0: no bound but "
            "the time-out."
        ),
    )
    max_tokens: int = Field(default=4096, ge=1)
    context_tokens: int = Field(
        default=32_768,
        ge=256,
        description=(
            "The model's window; a prompt's history is cut to it, a byte counted as a token."
        ),
    )
    temperature: float | None = Field(default=None, ge=0, le=2)
    usd_micros_per_1k_input: int = Field(default=0, ge=0)
    usd_micros_per_1k_output: int = Field(default=0, ge=0)
    usd_micros_per_1k_cached: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Price of input that the provider read from its cache; unset: that of other input."
        ),
    )
    usd_micros_per_1k_cache_write: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Price of input that the provider wrote into its cache; unset: that of other input."
        ),
    )
    tiers: list[PriceTier] = Field(
        default=[],
        max_length=8,
        description="What calls with long prompts cost instead, where that differs.",
    )
    priced_on: str | None = Field(
        default=None, pattern=r"^\d{4}-\d{2}-\d{2}$", description="The day the prices were true."
    )
    gguf: str | None = Field(
        default=None,
        max_length=1000,
        description=(
            "Path of the model's file; provider local only. Unset: what `ordain local install` "
            "put there."
        ),
    )
    threads: int = Field(
        default=1, ge=1, le=256, description="Threads of the model; provider local only."
    )
    script: str | None = Field(
        default=None, description="Path of the file of proposals; provider scripted only."
    )

    @property
    def ways(self) -> tuple[Structured, ...]:
        """How answers can be held to their schema here: as declared first, then what is stepped
        down to where the endpoint does not do that.

        Of a model in a file no tool is enforced, which its grammar stands for.
        """
        return _WAYS[self.provider == "local", self.held_by]

    @property
    def held_by(self) -> Structured:
        """How an answer is held to its schema."""
        return self.structured or (_NATIVE if self.native_schema else _TEXT)


class EmbedderProfile(Strict):
    """An endpoint whose `/v1/embeddings` turns what is remembered, and questions to it, into
    vectors. It reads all of both.
    """

    base_url: str = Field(
        min_length=1,
        max_length=1000,
        description="Its address, as of a model: `http://127.0.0.1:11434/v1`.",
    )
    model: str = Field(
        min_length=1, max_length=200, description="The model there, such as `nomic-embed-text`."
    )
    key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        description="The environment variable that holds the API key.",
    )
    key_file: str | None = Field(
        default=None,
        min_length=1,
        max_length=1000,
        description="The file that holds it, counted from the data folder.",
    )
    timeout_ms: int = Field(
        default=5000,
        ge=100,
        le=120_000,
        description="Longest time of one request; then words alone are looked up.",
    )
    batch: int = Field(default=64, ge=1, le=512, description="So many passages go in one request.")
