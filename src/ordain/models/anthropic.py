"""Anthropic's Messages API through pydantic-ai; needs the extra ``ordain[anthropic]``.

A schema is held natively only where nothing is lost by it: the API closes every object of a native
schema, so an open one (the input of a tool that takes anything) could only be answered with ``{}``,
and it takes a bounded number of optional properties and of alternatives. Any other schema is the
input of a tool that must be called.
"""

from __future__ import annotations

import logging
from typing import Any

from ordain.contracts.profiles import Structured
from ordain.errors import ConfigurationError
from ordain.models.exchange import checked_url
from ordain.models.schemas import is_closed, is_wrapped, parameter_counts, schema_of
from ordain.ports.model import ModelRequest

try:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models import Model
    from pydantic_ai.models.anthropic import AnthropicModel as ForeignAnthropicModel
    from pydantic_ai.models.anthropic import AnthropicModelSettings
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.settings import ModelSettings

    from ordain.models.foreign_model import NO_KEY, ForeignModel
except ImportError as error:
    if (error.name or "").startswith("ordain"):
        raise
    raise ConfigurationError(
        "provider anthropic needs its libraries: pip install 'ordain[anthropic]'"
    ) from error

# at level DEBUG it writes whole requests, with what people said
logging.getLogger("anthropic._base_client").setLevel(logging.INFO)

DEFAULT_BASE_URL = "https://api.anthropic.com"
OPTIONAL_MAX = 24
UNION_MAX = 16
"""Bounds of the API on one native schema:
https://platform.claude.com/docs/en/build-with-claude/structured-outputs.
"""


def api_base(base_url: str) -> str:
    """The address without the version that the library puts after it.

    Raises:
        ConfigurationError: not a plain http or https address.
    """
    base = base_url.strip().rstrip("/")
    checked_url(base)
    return base.removesuffix("/messages").removesuffix("/v1")


class AnthropicModel(ForeignModel):
    """One attempt at one message of Claude."""

    def __init__(self, base_url: str = DEFAULT_BASE_URL, api_key: str | None = None) -> None:
        """The key goes into the Authorization header and nowhere else.

        Raises:
            ConfigurationError: the address is not one, or the key cannot stand in a header.
        """
        base = api_base(base_url)
        super().__init__(f"{base}/v1/messages", api_key, "authorization")
        client = AsyncAnthropic(
            api_key=self._key or NO_KEY,
            base_url=base,
            timeout=None,
            max_retries=0,
            http_client=self._http,
        )
        self._provider = AnthropicProvider(anthropic_client=client)

    def _model(self, name: str) -> Model[Any]:
        return ForeignAnthropicModel(
            name, provider=self._provider, profile=ModelProfile(supports_json_schema_output=True)
        )

    def _held(self, request: ModelRequest) -> Structured | None:
        held = request.held_by
        return (
            Structured.TOOL
            if held is Structured.NATIVE and not holds_natively(schema_of(request))
            else held
        )

    def _settings(self, request: ModelRequest) -> ModelSettings:
        settings = AnthropicModelSettings(**super()._settings(request))
        settings["parallel_tool_calls"] = False
        if request.profile.cache:
            settings["anthropic_cache_instructions"] = True
        return settings


def holds_natively(schema: dict[str, Any]) -> bool:
    """Whether the API's native format keeps every answer that the schema permits possible, and
    takes the schema.
    """
    if is_wrapped(schema) or not is_closed(schema):
        return False
    optional, union = parameter_counts(schema)
    return optional <= OPTIONAL_MAX and union <= UNION_MAX
