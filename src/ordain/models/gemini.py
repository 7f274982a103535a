"""Google's Gemini API through pydantic-ai; needs the extra ``ordain[gemini]``."""

from __future__ import annotations

from typing import Any

from ordain.errors import ConfigurationError
from ordain.models.exchange import checked_url

try:
    from google.genai.client import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models import Model
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.google import GoogleProvider

    from ordain.models.certificates import trusted
    from ordain.models.foreign_model import NO_KEY, ForeignModel
except ImportError as error:
    if (error.name or "").startswith("ordain"):
        raise
    raise ConfigurationError(
        "provider gemini needs its libraries: pip install 'ordain[gemini]'"
    ) from error

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"
_VERSIONS = ("v1beta", "v1alpha", "v1")


def api_base(base_url: str) -> tuple[str, str]:
    """The address and the API's version: ``v1beta`` where the address ends with none.

    Raises:
        ConfigurationError: not a plain http or https address.
    """
    base = base_url.strip().rstrip("/")
    checked_url(base)
    for version in _VERSIONS:
        if base.endswith(f"/{version}"):
            return base.removesuffix(f"/{version}"), version
    return base, API_VERSION


class GeminiModel(ForeignModel):
    """One attempt at one content of Gemini."""

    data_only = True

    def __init__(self, base_url: str = DEFAULT_BASE_URL, api_key: str | None = None) -> None:
        """The key goes into the x-goog-api-key header and nowhere else.

        Raises:
            ConfigurationError: the address is not one, or the key cannot stand in a header.
        """
        base, version = api_base(base_url)
        super().__init__(f"{base}/{version}", api_key, "x-goog-api-key")
        # of clients that it makes for itself and never uses
        tls = {"verify": trusted(trust_env=True)}
        options = HttpOptions(
            base_url=base, api_version=version, httpx_async_client=self._http, client_args=tls
        )
        self._client = Client(vertexai=False, api_key=self._key or NO_KEY, http_options=options)
        self._provider = GoogleProvider(client=self._client)

    def _model(self, name: str) -> Model[Any]:
        return GoogleModel(
            name, provider=self._provider, profile=ModelProfile(supports_json_schema_output=True)
        )

    async def close(self) -> None:
        """Close the connections; idempotent."""
        self._client.close()
        await super().close()
