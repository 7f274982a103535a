"""The model profiles of the settings: written ones, those of a profiles file, and what the
environment makes of them (LLM-07, B-35).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ordain.contracts.hosted import OPENAI_URL, PLANNER_MODEL, is_listed
from ordain.contracts.model_policy import NO_PURPOSES, LanesPolicy
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import EmbedderProfile, ModelProfile
from ordain.errors import ConfigurationError
from ordain.owned_files import read_owned
from ordain.settings_file import FileSettings, checked, toml_tree

DEFAULT_PROFILE = "default"
ROUTE_PREFIX = "LLM_ROUTE_"


def env_value(env: Mapping[str, str], name: str) -> str:
    """What a variable says; "" where it is not set, or set to nothing but spaces."""
    return env.get(name, "").strip()


def api_key(env: Mapping[str, str]) -> str:
    """The API key of the environment, itself or in the file it names; "" where there is none."""
    key = env_value(env, "OPENAI_API_KEY")
    if not key and (file := env_value(env, "OPENAI_API_KEY_FILE")):
        key = read_owned(Path(file)).strip()
    return key


def model_profiles(env: Mapping[str, str], given: FileSettings) -> dict[str, ModelProfile]:
    """The environment wins over ``[models.default]``; without either the default is the offline
    provider.

    A key alone makes a default here only where no profile is written and no backend is named.
    Otherwise it is only a key, unless a lane names ``default`` and nothing else makes it
    (``load_settings``).
    """
    profiles = {**profiles_file(env), **given.models}
    script, url, model = (
        env_value(env, "ORDAIN_SCRIPT"),
        env_value(env, "OPENAI_BASE_URL"),
        env_value(env, "PLANNER_MODEL"),
    )
    backend = env_value(env, "LLM_DEFAULT_BACKEND")
    base = profiles.get(DEFAULT_PROFILE)
    known = base if base is not None and base.provider == "openai" else None
    if script:
        profiles[DEFAULT_PROFILE] = ModelProfile(
            provider="scripted", model="scripted", script=script
        )
    elif url or known is not None or (not profiles and not backend and api_key(env)):
        base = known or ModelProfile(provider="openai", model=PLANNER_MODEL)
        made = base.model_copy(
            update={"base_url": url or base.base_url or OPENAI_URL, "model": model or base.model}
        )
        profiles[DEFAULT_PROFILE] = (
            made if known is not None and made.model == known.model else at_list_price(made)
        )
    if backend and DEFAULT_PROFILE not in profiles:
        named = {
            "provider": PROVIDERS.get(backend, backend),
            "model": env_value(env, "LLM_DEFAULT_MODEL") or model or PLANNER_MODEL,
        }
        profiles[DEFAULT_PROFILE] = at_list_price(
            checked(ModelProfile, named, "LLM_DEFAULT_BACKEND")
        )
    if not profiles:
        profiles[DEFAULT_PROFILE] = ModelProfile(provider="offline", model="offline")
    return profiles


def check_key_files(profiles: Mapping[str, ModelProfile], home: Path) -> None:
    """Whether each file that a profile has its key in is there, and has one.

    Raises:
        ConfigurationError: ``key_missing``; the message says what to do.
    """
    for name, profile in profiles.items():
        check_key_file(
            f"models.{name}",
            profile,
            home,
            "take the profile out and choose another: ordain init --replace",
        )


def check_key_file(
    place: str, profile: ModelProfile | EmbedderProfile, home: Path, otherwise: str
) -> None:
    """The same of one of them, by what it is called in the file; ``otherwise`` is what else can be
    done.

    Raises:
        ConfigurationError: ``key_missing``.
    """
    if missing := missing_key(profile, home):
        raise ConfigurationError(
            f"{place}: {missing}: put the key there, or {otherwise}", code="key_missing"
        )


def missing_key(profile: ModelProfile | EmbedderProfile, home: Path) -> str:
    """What is wrong with the file that a profile has its key in; "" where it has a key, or the
    profile names no file.
    """
    if profile.key_file is None:
        return ""
    file = home / Path(profile.key_file).expanduser()
    if not file.exists():
        return f"cannot read {file}, where its key should be"
    return "" if read_owned(file).strip() else f"{file}, where its key should be, is empty"


def at_list_price(profile: ModelProfile) -> ModelProfile:
    """A profile that the environment makes, at the price and with the window that a written one is
    given when it is set up.

    A price that was written for another model does not hold for this one.
    """
    if not is_listed(profile):
        return profile
    from ordain.models.prices import priced  # lazy: reading the list takes a fifth of a second

    return priced(profile)


PROVIDERS = {
    "vllm": "openai",
    "llamacpp": "openai",
    "ollama": "openai",
    "lmstudio": "openai",
    "google": "gemini",
}
"""Names by which a profiles file may call a provider (B-35): servers that speak another one's
wire.
"""


def profiles_file(env: Mapping[str, str]) -> dict[str, ModelProfile]:
    """The model profiles of the file that ``LLM_PROFILES_CONFIG_PATH`` names (LLM-07), by name;
    empty where it names none.

    TOML (``[profiles.NAME]``) or, with the suffix ``.yaml`` or ``.yml``, YAML (``profiles: {NAME:
    ...}``).

    Raises:
        ConfigurationError: with file and place.
    """
    named = env_value(env, "LLM_PROFILES_CONFIG_PATH")
    if not named:
        return {}
    path = Path(named).expanduser()
    text = read_owned(path)
    tree: Any = _yaml(text, named) if path.suffix in {".yaml", ".yml"} else toml_tree(text, named)
    top = cast("dict[Any, Any]", tree) if isinstance(tree, dict) else {}
    found = top.get("profiles")
    if not isinstance(found, dict) or set(top) != {"profiles"}:
        raise ConfigurationError(f"{named}: it holds `profiles`, by name, and nothing else")
    return {
        str(name): checked(ModelProfile, _native(fields), f"{named}: profiles.{name}")
        for name, fields in cast("dict[Any, Any]", found).items()
    }


def _native(fields: Any) -> Any:
    """A profile's fields with the provider by its own name."""
    if not isinstance(fields, dict):
        return fields
    given = cast("dict[str, Any]", fields)
    provider = given.get("provider")
    return (
        {**given, "provider": PROVIDERS.get(provider, provider)}
        if isinstance(provider, str)
        else given
    )


def _yaml(text: str, name: str) -> Any:
    from ordain.models.yaml_text import yaml_tree  # lazy: only a profiles file in YAML needs it

    try:
        return yaml_tree(text)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def routed(lanes: LanesPolicy, env: Mapping[str, str]) -> LanesPolicy:
    """The lanes as ``LLM_ROUTE_*`` changes them (LLM-07).

    ``LLM_ROUTE_LOCAL``, ``_WORKER``, ``_BRAIN``: the profiles behind the lane, by name, with commas
    between. ``LLM_ROUTE_PLANNER``, ``_VERB`` and so on: the lane of that purpose, which is held to
    the kinds of the build as policy is. An empty value is as good as none.

    Raises:
        ConfigurationError: a value that is no lane, one of commas only, or what is a key of
            ``lanes`` and no purpose.
    """
    profiles, purposes = dict(lanes.profiles), dict[str, Lane]()
    for name, value in sorted(env.items()):
        if not name.startswith(ROUTE_PREFIX) or not value.strip():
            continue
        what = name.removeprefix(ROUTE_PREFIX).lower()
        if what in set(Lane):
            profiles[Lane(what)] = named = [
                part.strip() for part in value.split(",") if part.strip()
            ]
            if not named:
                raise ConfigurationError(f"{name} names no profile")
        elif what in NO_PURPOSES:
            raise ConfigurationError(
                f"{name} is not known: routes are of a lane ({', '.join(Lane)}) or of what models "
                "are asked for"
            )
        elif value.strip() in set(Lane):
            purposes[what] = Lane(value.strip())
        else:
            raise ConfigurationError(
                f"{name[:60]}: {value[:40]!r} is no lane; lanes are {', '.join(Lane)}"
            )
    return lanes.model_copy(update={**purposes, "profiles": profiles})
