"""Settings: where Ordain keeps its data, which models and verbs it has, under which policy.
Environment over file over default.

``$ORDAIN_HOME`` (default ``~/.ordain``) holds the data and, optionally, ``ordain.toml``,
``policy.toml`` and ``verbs/``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from ipaddress import ip_network
from pathlib import Path

import msgspec
from pydantic import Field

from ordain.contracts.access import parse_rate
from ordain.contracts.assistant import Assistant
from ordain.contracts.council import CouncilPolicy
from ordain.contracts.hosted import OPENAI_URL, PLANNER_MODEL, check_lanes, endpoint_of
from ordain.contracts.planner import Strict
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.profiles import NO_MODELS, EmbedderProfile, ModelProfile
from ordain.contracts.read_only import read_only
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
    checked,
    toml_tree,
    validated,
)
from ordain.settings_profiles import (
    DEFAULT_PROFILE,
    api_key,
    at_list_price,
    check_key_file,
    check_key_files,
    env_value,
    model_profiles,
    routed,
)

DEFAULT_PORT = 8090
HOST_NAME = re.compile(r"[a-z0-9.:_-]{1,253}")
DEFAULT_KEY_ENV = {"anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
"""Where a profile's key is looked for when it names neither ``key_env`` nor ``key_file``."""
CONFIG_FILE, POLICY_FILE = "ordain.toml", "policy.toml"


class Settings(Strict):
    """Everything composition needs. ``secrets`` never leave this value: they are in no repr and no
    catalog. ``files`` are those it was read from, or would be.
    """

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
        return tuple(
            dict.fromkeys(name for names in self.policy.lanes.profiles.values() for name in names)
        )

    @property
    def every_secret(self) -> tuple[str, ...]:
        """Whatever must not leave, for whoever strikes it out."""
        return (
            *self.secrets.values(),
            *self.verb_secrets.values(),
            *filter(None, (self.mail_password, self.embedder_key)),
        )


def read_policy(file: Path | None) -> Policy:
    """The policy in a TOML file, or the shipped default.

    Raises:
        ConfigurationError: not TOML, or not a policy; the message names the key, or what to do
            where it says no version.
    """
    if file is None:
        return _shipped_policy()
    text, name = read_owned(file), str(file)
    if "version" not in toml_tree(text, name):
        raise ConfigurationError(
            f"{file}: version: begin it with `version = 1`, or remove the file: then the shipped "
            "policy holds"
        )
    return validated(Policy, text, name, (CONFIG_FILE, FileSettings))


@cache
def _shipped_policy() -> Policy:
    """``policy.toml``, as ``python -m scripts.shipped --write`` wrote it down; nobody can write to
    it.
    """
    tree = msgspec.json.decode(files("ordain").joinpath("policy.json").read_bytes())
    return read_only(checked(Policy, tree, "the shipped policy"))


def named_folder(home: Path | str | None) -> Path | None:
    """The data folder that somebody names, ``~`` as a shell has it; None: none is named.

    Raises:
        ConfigurationError: an empty name, which would be wherever the process happens to be.
    """
    if home is None:
        return None
    if isinstance(home, str) and not home.strip():
        raise ConfigurationError(
            "the data folder's name is empty: name one, or leave it out for $ORDAIN_HOME"
        )
    try:
        return Path(home).expanduser()
    except RuntimeError as error:  # nobody of that name has a home here
        raise ConfigurationError(f"the data folder {home}: {error}") from error


def load_settings(
    environment: Mapping[str, str] | None = None, home: Path | None = None
) -> Settings:
    """Read the environment and the files of ``home``.

    Raises:
        ConfigurationError: with the file and place.
    """
    env = os.environ if environment is None else environment
    home = home or Path(env.get("ORDAIN_HOME") or Path.home() / ".ordain").expanduser()
    config = home / CONFIG_FILE
    given = FileSettings()
    if os.path.lexists(config):
        given = validated(FileSettings, read_owned(config), str(config), (POLICY_FILE, Policy))
    _check_root(home, given.verbs.files_root)
    policy_file = _policy_file(home, given, config)
    policy = read_policy(
        policy_file if given.policy is not None or os.path.lexists(policy_file) else None
    )
    profiles = model_profiles(env, given)
    lanes = policy.lanes
    if not lanes.profiles:
        first = DEFAULT_PROFILE if DEFAULT_PROFILE in profiles else next(iter(profiles))
        lanes = lanes.model_copy(update={"profiles": {lane: [first] for lane in Lane}})
    lanes = routed(lanes, env)
    if (
        DEFAULT_PROFILE not in profiles
        and any(DEFAULT_PROFILE in names for names in lanes.profiles.values())
        and api_key(env)
    ):
        made = ModelProfile(
            provider="openai",
            model=env_value(env, "PLANNER_MODEL") or PLANNER_MODEL,
            base_url=OPENAI_URL,
        )
        profiles[DEFAULT_PROFILE] = at_list_price(made)
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
        verb_secrets={
            name: _secret(env, f"verbs.secrets.{name}", source, home)
            for name, source in given.verbs.secrets.items()
        },
        mail=given.mail,
        embedder=given.embedder,
        embedder_key=_embedder_key(env, given.embedder, home),
        mail_password=""
        if given.mail is None or given.mail.password is None
        else _secret(env, "mail.password", given.mail.password, home),
    )


def _policy_file(home: Path, given: FileSettings, config: Path) -> Path:
    """The policy's file, which need not be there where none is named."""
    if given.policy is None:
        return home / POLICY_FILE
    if not (named := home / given.policy).exists():
        message = (
            f"{config}: policy names {named}, which is not there: put it there, or take the "
            "line out"
        )
        raise ConfigurationError(message, code="no_policy_file")
    return named


def _other_files(
    env: Mapping[str, str], profiles: Mapping[str, ModelProfile], home: Path
) -> list[Path]:
    """What settings are read from besides the folder's own two: keys, and what the environment
    names.
    """
    named = (env_value(env, "LLM_PROFILES_CONFIG_PATH"), env_value(env, "OPENAI_API_KEY_FILE"))
    keys = [
        home / Path(profile.key_file).expanduser()
        for profile in profiles.values()
        if profile.key_file is not None
    ]
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
            raise ConfigurationError(
                f"server.allowed_hosts: {name[:100]!r} is no host name in lower case, without port"
            )
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


def _secrets(
    env: Mapping[str, str], profiles: Mapping[str, ModelProfile], home: Path
) -> dict[str, str]:
    """API keys by profile name: a profile's own, by its reference; else the one of
    ``OPENAI_API_KEY``.

    That one goes to ``openai`` profiles of one endpoint, to no other: the default profile's where
    that is one of them, else OpenAI's own.
    """
    check_key_files(profiles, home)
    own = {name: key for name, profile in profiles.items() if (key := _own_key(env, profile, home))}
    if not (key := api_key(env)):
        return own
    openai = {
        name: endpoint_of(profile)
        for name, profile in profiles.items()
        if profile.provider == "openai"
    }
    its = openai.get(DEFAULT_PROFILE, endpoint_of(None))
    return {name: key for name, endpoint in openai.items() if endpoint == its} | own


def _own_key(env: Mapping[str, str], profile: ModelProfile | EmbedderProfile, home: Path) -> str:
    """The key that a profile refers to; "" where it refers to none, or to a variable that is not
    set: its calls then say so.
    """
    if profile.key_file is not None:
        return read_owned(home / Path(profile.key_file).expanduser()).strip()
    name = profile.key_env or (
        DEFAULT_KEY_ENV.get(profile.provider, "") if isinstance(profile, ModelProfile) else ""
    )
    return env.get(name, "").strip() if name else ""


def _embedder_key(env: Mapping[str, str], embedder: EmbedderProfile | None, home: Path) -> str:
    """The embedder's; its file is there, where it names one."""
    if embedder is None:
        return ""
    check_key_file("embedder", embedder, home, "have [embedder] taken out: ordain init --replace")
    return _own_key(env, embedder, home)


def _secret(env: Mapping[str, str], place: str, source: SecretSource, home: Path) -> str:
    """The value; "" where the variable is not set or the file is not there: calls that need it then
    say so.
    """
    if source.file is None:
        value = env.get(source.env or "", "").strip()
    else:
        file = home / Path(source.file).expanduser()
        value = read_owned(file).strip() if file.exists() else ""
    if value and not (
        SECRET_MIN <= len(value) <= SECRET_MAX and value.isascii() and value.isprintable()
    ):
        raise ConfigurationError(
            f"{place}: a secret is one line of {SECRET_MIN} to {SECRET_MAX} printable ASCII "
            "characters"
        )
    return value


def council_from(policy: CouncilPolicy, env: Mapping[str, str]) -> CouncilPolicy:
    """The council's policy as the environment changes it (CNC-03). An empty value is as good as
    none.

    Raises:
        ConfigurationError: a value that policy would not take either.
    """
    said = {
        "COUNCIL_MAX_ROUNDS": ("max_rounds", env.get("COUNCIL_MAX_ROUNDS", "")),
        "COUNCIL_ROUND_TIMEOUT_SEC": (
            "round_timeout_seconds",
            env.get("COUNCIL_ROUND_TIMEOUT_SEC", ""),
        ),
        "COUNCIL_LLM_TIMEOUT_SEC": ("llm_timeout_seconds", env.get("COUNCIL_LLM_TIMEOUT_SEC", "")),
    }
    for name, (key, text) in said.items():
        if text.strip():
            policy = policy.model_copy(
                update=checked(CouncilPolicy, {key: text.strip()}, name).model_dump(include={key})
            )
    return policy


def _check_root(home: Path, root: str | None) -> None:
    """The data folder, with its journal and keys, is never what ``files.read`` may read."""
    if root is not None and home.resolve().is_relative_to((home / root).resolve()):
        raise ConfigurationError(f"verbs.files_root {root!r} contains the data folder {home}")
