"""From model profiles to adapters: one adapter per endpoint and key, each provider's module
imported only when a profile names it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.ports.model import ModelPort


def build_models(
    profiles: Mapping[str, ModelProfile],
    secrets: Mapping[str, str],
    home: Path | None = None,
    purposes: Collection[str] | None = None,
) -> Mapping[str, ModelPort]:
    """The adapter behind each profile, by the profile's name; profiles of one endpoint and key
    share one, and its connections.

    ``secrets`` are API keys by profile name; a profile without one sends none. A relative
    ``script`` counts from the working directory, a relative ``gguf`` from ``home``, the data
    folder. ``purposes`` are what a script may hold lists for (None: anything). Nothing is sent or
    started.

    Raises:
        ConfigurationError: a profile lacks what its provider needs; the message names the profile.
    """
    built: dict[tuple[str, ...], ModelPort] = {}
    models: dict[str, ModelPort] = {}
    for name, profile in profiles.items():
        key = (
            profile.provider,
            profile.api,
            profile.base_url or "",
            profile.script or "",
            secrets.get(name, ""),
        )
        if profile.provider == "local":
            key = (
                profile.provider,
                profile.gguf or "",
                str(profile.threads),
                str(profile.context_tokens),
            )
        if key not in built:
            try:
                built[key] = _build(profile, secrets.get(name), home or Path(), purposes)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"models.{name}: {error.message}", code=error.code
                ) from error
        models[name] = built[key]
    return models


def _build(
    profile: ModelProfile, secret: str | None, home: Path, purposes: Collection[str] | None
) -> ModelPort:
    match profile.provider:
        case "openai":
            from ordain.models.openai import (
                DEFAULT_BASE_URL,
                OpenAIModel,
            )  # lazy: an offline start pays for no HTTP client

            return OpenAIModel(profile.base_url or DEFAULT_BASE_URL, secret, profile.api)
        case "scripted":
            from ordain.models.scripted import (
                ScriptedModel,
                read_script,
            )  # lazy: only scripts need YAML

            if profile.script is None:
                raise ConfigurationError(
                    "provider scripted needs script, the path of a file of proposals"
                )
            return ScriptedModel(read_script(Path(profile.script), purposes))
        case "offline":
            from ordain.models.offline import (
                OfflineModel,
            )  # lazy: only this provider needs its rules

            return OfflineModel()
        case "anthropic":
            from ordain.models import anthropic  # lazy: an extra, and seconds of imports

            return anthropic.AnthropicModel(profile.base_url or anthropic.DEFAULT_BASE_URL, secret)
        case "gemini":
            from ordain.models import gemini  # lazy: an extra, and seconds of imports

            return gemini.GeminiModel(profile.base_url or gemini.DEFAULT_BASE_URL, secret)
        case "local":
            from ordain.models.local import build_local  # lazy: the extra of this provider

            return build_local(profile, home)
