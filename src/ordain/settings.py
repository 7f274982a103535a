"""Settings: where Ordain keeps its data, which models and verbs it has, under which policy. Environment over file over default.

``$ORDAIN_HOME`` (default ``~/.ordain``) holds the data and, optionally, ``ordain.toml``, ``policy.toml`` and ``verbs/``.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from ordain.contracts.access import parse_rate
from ordain.contracts.assistant import Assistant
from ordain.contracts.council import CouncilPolicy
from ordain.contracts.hosted import OPENAI_URL, PLANNER_MODEL, check_lanes, endpoint_of, is_listed
from ordain.contracts.model_keys import keys_at
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.planner import Strict
from ordain.contracts.policy import NO_PURPOSES, Lane, LanesPolicy, Policy
from ordain.contracts.profiles import NO_MODELS, EmbedderProfile, ModelProfile
from ordain.errors import ConfigurationError, InvalidRequest
from ordain.owned_files import read_owned
from ordain.settings_file import (
    HOST_CHARS,
    SECRET_MAX,
    SECRET_MIN,
    AccessSettings,
    FileSettings,
    MailSettings,
    SecretSource,
    ServerSettings,
    VerbSettings,
    WorkflowSettings,
)

M = TypeVar("M", bound=Strict)
DEFAULT_PORT = 8090
HOST_NAME = re.compile(r"[a-z0-9.:_-]{1,253}")
DEFAULT_PROFILE = "default"
ROUTE_PREFIX = "LLM_ROUTE_"
DEFAULT_KEY_ENV = {"anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
"""Where a profile's key is looked for when it names neither ``key_env`` nor ``key_file``."""


class Settings(Strict):
    """Everything composition needs. ``secrets`` never leave this value: they are in no repr and no catalog. ``files`` are those it was read from, or would be."""

    home: Path
    files: tuple[Path, ...] = ()
    policy: Policy
    profiles: dict[str, ModelProfile]
    assistant: Assistant = Assistant()
    verbs: VerbSettings = VerbSettings()
    workflows: WorkflowSettings = WorkflowSettings()
    node: str = "default"
    server: ServerSettings = ServerSettings()
    access: AccessSettings = AccessSettings()
    mail: MailSettings | None = None
    port: int = DEFAULT_PORT
    secrets: dict[str, str] = Field(default={}, repr=False)
    verb_secrets: dict[str, str] = Field(default={}, repr=False)
    mail_password: str = Field(default="", repr=False)
    embedder: EmbedderProfile | None = None
    embedder_key: str = Field(default="", repr=False)

    @property
    def asked(self) -> tuple[str, ...]:
        """The profiles that stand behind a lane, each once."""
        return tuple(dict.fromkeys(name for names in self.policy.lanes.profiles.values() for name in names))

    @property
    def every_secret(self) -> tuple[str, ...]:
        """Whatever must not leave, for whoever strikes it out."""
        return (*self.secrets.values(), *self.verb_secrets.values(), *filter(None, (self.mail_password, self.embedder_key)))


def read_policy(file: Path | None) -> Policy:
    """The policy in a TOML file, or the shipped default.

    Raises:
        ConfigurationError: not TOML, or not a policy; the message names the key.
    """
    if file is None:
        text, name = files("ordain").joinpath("policy.toml").read_text(encoding="utf-8"), "the shipped policy"
    else:
        text, name = read_owned(file), str(file)
    return _validated(Policy, text, name)


def _validated(model: type[M], text: str, name: str) -> M:
    return _checked(model, _toml(text, name), name)


def _checked(model: type[M], tree: Any, name: str) -> M:
    try:
        return model.model_validate(tree, strict=False)
    except ValidationError as error:
        places = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {_wrong(model, e)}" for e in error.errors()[:5])
        raise ConfigurationError(f"{name}: {places}") from None


def _wrong(model: type[BaseModel], error: ErrorDetails) -> str:
    """What is wrong at a place; of a key that nobody knows, which was probably meant."""
    if error["type"] != "extra_forbidden":
        return error["msg"]
    *above, key = error["loc"]
    return f"there is no such key{did_you_mean(str(key), keys_at(model, above))}"


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{name}: {error}") from error


def load_settings(environment: Mapping[str, str] | None = None, home: Path | None = None) -> Settings:
    """Read the environment and the files of ``home``.

    Raises:
        ConfigurationError: with the file and place.
    """
    env = os.environ if environment is None else environment
    home = home or Path(env.get("ORDAIN_HOME") or Path.home() / ".ordain").expanduser()
    config = home / "ordain.toml"
    given = FileSettings()
    if os.path.lexists(config):
        given = _validated(FileSettings, read_owned(config), str(config))
    _check_root(home, given.verbs.files_root)
    policy_file = _policy_file(home, given, config)
    policy = read_policy(policy_file if given.policy is not None or policy_file.is_file() else None)
    profiles = _profiles(env, given)
    lanes = policy.lanes
    if not lanes.profiles:
        first = DEFAULT_PROFILE if DEFAULT_PROFILE in profiles else next(iter(profiles))
        lanes = lanes.model_copy(update={"profiles": {lane: [first] for lane in Lane}})
    lanes = routed(lanes, env)
    if DEFAULT_PROFILE not in profiles and any(DEFAULT_PROFILE in names for names in lanes.profiles.values()) and _key(env):
        made = ModelProfile(provider="openai", model=env.get("PLANNER_MODEL") or PLANNER_MODEL, base_url=OPENAI_URL)
        profiles[DEFAULT_PROFILE] = _at_list_price(made)
    check_lanes(lanes, profiles)
    local = next((profiles[name].provider for name in lanes.profiles.get(Lane.LOCAL, ())), None)
    return Settings(
        home=home,
        files=(config, policy_file, *_other_files(env, profiles, home)),
        policy=policy.model_copy(
            update={
                "lanes": lanes,
                "attach": policy.attach.where(real=local not in (None, *NO_MODELS)),
                "council": council_from(policy.council, env),
            }
        ),
        profiles=profiles,
        assistant=given.assistant,
        verbs=given.verbs,
        workflows=given.workflows,
        node=given.node,
        server=_server(env, given.server),
        access=given.access,
        port=_port(env),
        secrets=_secrets(env, profiles, home),
        verb_secrets={name: _secret(env, f"verbs.secrets.{name}", source, home) for name, source in given.verbs.secrets.items()},
        mail=given.mail,
        embedder=given.embedder,
        embedder_key="" if given.embedder is None else _own_key(env, given.embedder, home),
        mail_password="" if given.mail is None or given.mail.password is None else _secret(env, "mail.password", given.mail.password, home),
    )


def _policy_file(home: Path, given: FileSettings, config: Path) -> Path:
    """The policy's file, which need not be there where none is named."""
    if given.policy is None:
        return home / "policy.toml"
    if not (named := home / given.policy).exists():
        message = f"{config}: policy names {named}, which is not there: put it there, or take the line out"
        raise ConfigurationError(message, code="no_policy_file")
    return named


def _other_files(env: Mapping[str, str], profiles: Mapping[str, ModelProfile], home: Path) -> list[Path]:
    """What settings are read from besides the folder's own two: keys, and what the environment names."""
    named = (env.get("LLM_PROFILES_CONFIG_PATH"), env.get("OPENAI_API_KEY_FILE"))
    keys = [home / Path(profile.key_file).expanduser() for profile in profiles.values() if profile.key_file is not None]
    return [*keys, *(Path(file).expanduser() for file in named if file)]


def _server(env: Mapping[str, str], given: ServerSettings) -> ServerSettings:
    """The file's, with the host of the environment where that names one.

    Raises:
        ConfigurationError: a rate is more than anybody can ask, or a name is none.
    """
    host = env.get("PLANNER_HOST", "").strip()
    if len(host) > HOST_CHARS:
        raise ConfigurationError("PLANNER_HOST is not a host")
    for key, rate in (("rate", given.rate), ("failed_rate", given.failed_rate)):
        try:
            parse_rate(rate)
        except InvalidRequest as error:
            raise ConfigurationError(f"server.{key}: {error.message}") from None
    for name in given.allowed_hosts:
        if not HOST_NAME.fullmatch(name):
            raise ConfigurationError(f"server.allowed_hosts: {name[:100]!r} is no host name in lower case, without port")
    for proxy in given.trusted_proxies:
        try:
            ip_network(proxy)
        except ValueError as error:
            raise ConfigurationError(f"server.trusted_proxies: {str(error)[:200]}") from None
    return given.model_copy(update={"host": host}) if host else given


def _port(env: Mapping[str, str]) -> int:
    text = env.get("PLANNER_PORT") or str(DEFAULT_PORT)
    if not (text.isascii() and text.isdigit() and len(text) <= 5) or not 0 <= int(text) < 65536:
        raise ConfigurationError(f"PLANNER_PORT is not a port: {text[:20]!r}")
    return int(text)


def _key(env: Mapping[str, str]) -> str:
    """The API key of the environment, itself or in the file it names; "" where there is none."""
    key = env.get("OPENAI_API_KEY", "")
    if not key and (file := env.get("OPENAI_API_KEY_FILE")):
        key = read_owned(Path(file)).strip()
    return key


def _secrets(env: Mapping[str, str], profiles: Mapping[str, ModelProfile], home: Path) -> dict[str, str]:
    """API keys by profile name: a profile's own, by its reference; else the one of ``OPENAI_API_KEY``.

    That one goes to ``openai`` profiles of one endpoint, to no other: the default profile's where that is one of them, else OpenAI's own.
    """
    _check_key_files(profiles, home)
    own = {name: key for name, profile in profiles.items() if (key := _own_key(env, profile, home))}
    if not (key := _key(env)):
        return own
    openai = {name: endpoint_of(profile) for name, profile in profiles.items() if profile.provider == "openai"}
    its = openai.get(DEFAULT_PROFILE, endpoint_of(None))
    return {name: key for name, endpoint in openai.items() if endpoint == its} | own


def _own_key(env: Mapping[str, str], profile: ModelProfile | EmbedderProfile, home: Path) -> str:
    """The key that a profile refers to; "" where it refers to none, or to a variable that is not set: its calls then say so."""
    if profile.key_file is not None:
        return read_owned(home / Path(profile.key_file).expanduser()).strip()
    name = profile.key_env or (DEFAULT_KEY_ENV.get(profile.provider, "") if isinstance(profile, ModelProfile) else "")
    return env.get(name, "").strip() if name else ""


def _secret(env: Mapping[str, str], place: str, source: SecretSource, home: Path) -> str:
    """The value; "" where the variable is not set or the file is not there: calls that need it then say so."""
    if source.file is None:
        value = env.get(source.env or "", "").strip()
    else:
        file = home / Path(source.file).expanduser()
        value = read_owned(file).strip() if file.exists() else ""
    if value and not (SECRET_MIN <= len(value) <= SECRET_MAX and value.isascii() and value.isprintable()):
        raise ConfigurationError(f"{place}: a secret is one line of {SECRET_MIN} to {SECRET_MAX} printable ASCII characters")
    return value


def _profiles(env: Mapping[str, str], given: FileSettings) -> dict[str, ModelProfile]:
    """The environment wins over ``[models.default]``; without either the default is the offline provider.

    A key alone makes a default here only where no profile is written and no backend is named. Otherwise it is only a key, unless a lane names
    ``default`` and nothing else makes it (``load_settings``).
    """
    profiles = {**profiles_file(env), **given.models}
    script, url, model = env.get("ORDAIN_SCRIPT"), env.get("OPENAI_BASE_URL"), env.get("PLANNER_MODEL")
    backend = env.get("LLM_DEFAULT_BACKEND")
    base = profiles.get(DEFAULT_PROFILE)
    known = base if base is not None and base.provider == "openai" else None
    if script:
        profiles[DEFAULT_PROFILE] = ModelProfile(provider="scripted", model="scripted", script=script)
    elif url or known is not None or (not profiles and not backend and _key(env)):
        base = known or ModelProfile(provider="openai", model=PLANNER_MODEL)
        made = base.model_copy(update={"base_url": url or base.base_url or OPENAI_URL, "model": model or base.model})
        profiles[DEFAULT_PROFILE] = made if known is not None and made.model == known.model else _at_list_price(made)
    if backend and DEFAULT_PROFILE not in profiles:
        named = {"provider": PROVIDERS.get(backend, backend), "model": env.get("LLM_DEFAULT_MODEL") or model or PLANNER_MODEL}
        profiles[DEFAULT_PROFILE] = _at_list_price(_checked(ModelProfile, named, "LLM_DEFAULT_BACKEND"))
    if not profiles:
        profiles[DEFAULT_PROFILE] = ModelProfile(provider="offline", model="offline")
    return profiles


def _check_key_files(profiles: Mapping[str, ModelProfile], home: Path) -> None:
    """Whether each file that a profile has its key in is there.

    Raises:
        ConfigurationError: ``key_missing``; the message says what to do.
    """
    for name, profile in profiles.items():
        if profile.key_file is not None and not (file := home / Path(profile.key_file).expanduser()).exists():
            message = f"models.{name}: cannot read {file}, where its key should be: put the key there"
            raise ConfigurationError(f"{message}, or take the profile away: ordain models remove {name}", code="key_missing")


def _at_list_price(profile: ModelProfile) -> ModelProfile:
    """A profile that the environment makes, at the price and with the window that a written one is given when it is set up.

    A price that was written for another model does not hold for this one.
    """
    if not is_listed(profile):
        return profile
    from ordain.models.prices import priced  # lazy: reading the list takes a fifth of a second

    return priced(profile)


PROVIDERS = {"vllm": "openai", "llamacpp": "openai", "ollama": "openai", "lmstudio": "openai", "google": "gemini"}
"""Names by which a profiles file may call a provider (B-35): servers that speak another one's wire."""


def profiles_file(env: Mapping[str, str]) -> dict[str, ModelProfile]:
    """The model profiles of the file that ``LLM_PROFILES_CONFIG_PATH`` names (LLM-07), by name; empty where it names none.

    TOML (``[profiles.NAME]``) or, with the suffix ``.yaml`` or ``.yml``, YAML (``profiles: {NAME: ...}``).

    Raises:
        ConfigurationError: with file and place.
    """
    named = env.get("LLM_PROFILES_CONFIG_PATH")
    if not named:
        return {}
    path = Path(named).expanduser()
    text = read_owned(path)
    tree: Any = _yaml(text, named) if path.suffix in {".yaml", ".yml"} else _toml(text, named)
    top = cast("dict[Any, Any]", tree) if isinstance(tree, dict) else {}
    found = top.get("profiles")
    if not isinstance(found, dict) or set(top) != {"profiles"}:
        raise ConfigurationError(f"{named}: it holds `profiles`, by name, and nothing else")
    return {
        str(name): _checked(ModelProfile, _native(fields), f"{named}: profiles.{name}")
        for name, fields in cast("dict[Any, Any]", found).items()
    }


def _native(fields: Any) -> Any:
    """A profile's fields with the provider by its own name."""
    if not isinstance(fields, dict):
        return fields
    given = cast("dict[str, Any]", fields)
    provider = given.get("provider")
    return {**given, "provider": PROVIDERS.get(provider, provider)} if isinstance(provider, str) else given


def _yaml(text: str, name: str) -> Any:
    import yaml  # lazy: only a profiles file in YAML needs it

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        raise ConfigurationError(f"{name}{'' if place is None else f':{place.line + 1}'}: not YAML") from None


def routed(lanes: LanesPolicy, env: Mapping[str, str]) -> LanesPolicy:
    """The lanes as ``LLM_ROUTE_*`` changes them (LLM-07).

    ``LLM_ROUTE_LOCAL``, ``_WORKER``, ``_BRAIN``: the profiles behind the lane, by name, with commas between. ``LLM_ROUTE_PLANNER``, ``_VERB``
    and so on: the lane of that purpose, which is held to the kinds of the build as policy is. An empty value is as good as none.

    Raises:
        ConfigurationError: a value that is no lane, one of commas only, or what is a key of ``lanes`` and no purpose.
    """
    profiles, purposes = dict(lanes.profiles), dict[str, Lane]()
    for name, value in sorted(env.items()):
        if not name.startswith(ROUTE_PREFIX) or not value.strip():
            continue
        what = name.removeprefix(ROUTE_PREFIX).lower()
        if what in set(Lane):
            profiles[Lane(what)] = named = [part.strip() for part in value.split(",") if part.strip()]
            if not named:
                raise ConfigurationError(f"{name} names no profile")
        elif what in NO_PURPOSES:
            raise ConfigurationError(f"{name} is not known: routes are of a lane ({', '.join(Lane)}) or of what models are asked for")
        elif value.strip() in set(Lane):
            purposes[what] = Lane(value.strip())
        else:
            raise ConfigurationError(f"{name[:60]}: {value[:40]!r} is no lane; lanes are {', '.join(Lane)}")
    return lanes.model_copy(update={**purposes, "profiles": profiles})


def council_from(policy: CouncilPolicy, env: Mapping[str, str]) -> CouncilPolicy:
    """The council's policy as the environment changes it (CNC-03). An empty value is as good as none.

    Raises:
        ConfigurationError: a value that policy would not take either.
    """
    said = {
        "COUNCIL_MAX_ROUNDS": ("max_rounds", env.get("COUNCIL_MAX_ROUNDS", "")),
        "COUNCIL_ROUND_TIMEOUT_SEC": ("round_timeout_seconds", env.get("COUNCIL_ROUND_TIMEOUT_SEC", "")),
        "COUNCIL_LLM_TIMEOUT_SEC": ("llm_timeout_seconds", env.get("COUNCIL_LLM_TIMEOUT_SEC", "")),
    }
    for name, (key, text) in said.items():
        if text.strip():
            policy = policy.model_copy(update=_checked(CouncilPolicy, {key: text.strip()}, name).model_dump(include={key}))
    return policy


def _check_root(home: Path, root: str | None) -> None:
    """The data folder, with its journal and keys, is never what ``files.read`` may read."""
    if root is not None and home.resolve().is_relative_to((home / root).resolve()):
        raise ConfigurationError(f"verbs.files_root {root!r} contains the data folder {home}")
