"""The shape of ``ordain.toml``: what its keys are, what they may be, and how a text is held to it.
Reading files is ``settings``'.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from ordain.contracts.access import DEFAULT_FAILED_RATE, DEFAULT_RATE, RateText
from ordain.contracts.assistant import Assistant
from ordain.contracts.mail import ADDRESS_CHARS, MailSecurity, plain_address
from ordain.contracts.model_keys import UNKNOWN_KEY, fitting_table, keys_at, misfit_words
from ordain.contracts.planner import Strict
from ordain.contracts.profiles import EmbedderProfile, ModelProfile
from ordain.contracts.toml_text import toml_values
from ordain.contracts.verbs import VerbId
from ordain.contracts.workflow import SettingName
from ordain.errors import ConfigurationError, InvalidRequest

M = TypeVar("M", bound=Strict)
DEFAULT_HOST = "127.0.0.1"
HOST_CHARS = 253
SECRET_MIN, SECRET_MAX = 8, 4096
"""Fewest and most characters of a verb's secret: a shorter one could not be blanked without
blanking words.
"""


class SecretSource(Strict):
    """Where a secret comes from: a variable of the environment, or a file; ``hosts`` are all that
    it may be sent to, one at least.
    """

    env: str | None = Field(default=None, min_length=1, max_length=200)
    file: str | None = Field(default=None, min_length=1)
    hosts: list[str] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("a secret has env or file")
        return self


class VerbSettings(Strict):
    """What verbs may reach.

    ``secrets`` are those of HTTP verbs, by the name that a verb file uses. ``python``: the folder's
    ``*.py`` files are run in this process. ``watch_ms``: how often a server looks for changed verb
    files; 0 is never.
    """

    files_root: str | None = None
    urls: list[str] = []
    private_hosts: list[str] = []
    threads: int = Field(default=8, ge=1, le=256)
    python: bool = False
    watch_ms: int = Field(default=1000, ge=0, le=3_600_000)
    secrets: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")], SecretSource
    ] = {}


class WorkflowSettings(Strict):
    """What workflows need of this house: the verbs of steps that templates leave to it, by the name
    that they have there.
    """

    verbs: dict[SettingName, VerbId] = Field(
        default={},
        max_length=100,
        description=(
            "Verbs by the name that templates have for them: `search` for `search_web`, `weather` "
            "for `lookup_weather`."
        ),
    )


class LogLevel(StrEnum):
    """How much goes to stderr."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


WebOrigin = Annotated[str, StringConstraints(pattern=r"^https?://[a-z0-9.\[\]:-]{1,253}$")]
"""As browsers send it: scheme, host in small letters, port where it is not the scheme's own."""


class ServerSettings(Strict):
    """Where `ordain serve` listens, and who may talk to it."""

    host: str = Field(
        default=DEFAULT_HOST,
        min_length=1,
        max_length=HOST_CHARS,
        description="Address or name to listen on. Beyond loopback a token is demanded.",
    )
    require_token: bool = Field(
        default=False,
        description='Demand a token on loopback too, as `[access] loopback = "token"` does.',
    )
    allowed_hosts: list[str] = Field(
        default=[],
        max_length=100,
        description=(
            "Names, without port, that requests may be addressed to where a token is demanded, "
            "besides loopback's; empty: any."
        ),
    )
    origins: list[WebOrigin] = Field(
        default=[],
        max_length=100,
        description=(
            "Web origins (`https://chat.example`) whose pages may ask, each with a token, also on "
            "this machine; nobody else's may (CORS)."
        ),
    )
    trusted_proxies: list[str] = Field(
        default=[],
        max_length=100,
        description=(
            "Addresses or networks (`10.0.0.0/8`) of reverse proxies, whose `X-Forwarded-For` "
            "says where a request comes from; nobody else's is read."
        ),
    )
    rate: RateText = Field(
        default=str(DEFAULT_RATE),
        description="How often a token may ask that has no rate of its own: N/s, N/min or N/h.",
    )
    failed_rate: RateText = Field(
        default=str(DEFAULT_FAILED_RATE),
        description=(
            "How often one address may send tokens that are not good, before it has to wait."
        ),
    )
    body_bytes: int = Field(
        default=262_144,
        ge=4096,
        le=16_777_216,
        description="Most bytes of a JSON body, or of a WebSocket's frame.",
    )
    body_values: int = Field(
        default=10_000,
        ge=100,
        le=1_000_000,
        description="Most values in either; all wait while they are read.",
    )
    log_level: LogLevel = Field(
        default=LogLevel.INFO,
        strict=False,
        description=(
            "debug, info, warning or error: how much goes to stderr. At debug every library "
            "speaks, secrets struck out."
        ),
    )


class AccessSettings(Strict):
    """Who needs a token on this machine. Beyond it everybody does."""

    loopback: Literal["owner", "token"] = Field(
        default="owner",
        description=(
            "`owner`: a process of the server's own user speaks as the owner, one of another user "
            "needs a token. `token`: each needs one."
        ),
    )


_PORTS: dict[MailSecurity, int] = {"tls": 465, "starttls": 587, "none": 25}


class MailSettings(Strict):
    """The server through which `mail.send` sends, and as whom."""

    host: str = Field(
        pattern=r"^[A-Za-z0-9.:_-]{1,253}$", description="The mail server's name or address."
    )
    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="Its port; unset: 465 with `tls`, 587 with `starttls`, 25 with `none`.",
    )
    security: MailSecurity = Field(
        default="tls",
        description=(
            "`tls`: encrypted from the beginning. `starttls`: encrypted before anything is said, "
            "or not at all sent. `none`: to this machine only."
        ),
    )
    sender: str = Field(
        alias="from",
        max_length=ADDRESS_CHARS,
        description="The address that mail comes from: a plain one, without a name.",
    )
    user: str = Field(
        default="",
        max_length=320,
        pattern=r"^[ -~]*$",
        description="Whom to log in as; empty: without a login.",
    )
    password_env: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="The environment variable that holds the password.",
    )
    password_file: str | None = Field(
        default=None,
        min_length=1,
        description="The file that holds it, counted from the data folder.",
    )
    timeout_ms: int = Field(
        default=30_000, ge=1000, le=600_000, description="Longest time of one attempt."
    )

    @field_validator("sender")
    @classmethod
    def _one_address(cls, text: str) -> str:
        try:
            return plain_address(text)
        except InvalidRequest as error:
            raise ValueError(f"no plain address: {error.message}") from None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.security == "none" and not _this_machine(self.host):
            raise ValueError(
                'security = "none" is for a server on this machine only: localhost, 127.0.0.1 '
                "or ::1"
            )
        if (self.password_env is not None) + (self.password_file is not None) != bool(self.user):
            raise ValueError("user goes with password_env or password_file, exactly one of them")
        return self

    @property
    def port_used(self) -> int:
        """The port, or the one that goes with the security."""
        return self.port or _PORTS[self.security]

    @property
    def password(self) -> SecretSource | None:
        """Where the password comes from."""
        return (
            SecretSource(env=self.password_env, file=self.password_file, hosts=[self.host])
            if self.user
            else None
        )


def _this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class FileSettings(Strict):
    """The shape of ``ordain.toml``; unknown keys are refused."""

    models: dict[str, ModelProfile] = {}
    server: ServerSettings = Field(
        default=ServerSettings(), description="Where it listens, and who may talk to it."
    )
    access: AccessSettings = Field(
        default=AccessSettings(), description="Who needs a token on this machine."
    )
    assistant: Assistant = Field(
        default=Assistant(), description="Who the assistant is in conversations."
    )
    verbs: VerbSettings = VerbSettings()
    workflows: WorkflowSettings = Field(
        default=WorkflowSettings(), description="What workflow templates leave to this house."
    )
    mail: MailSettings | None = Field(
        default=None,
        description="The server through which `mail.send` sends; without it the verb is inactive.",
    )
    embedder: EmbedderProfile | None = Field(
        default=None,
        description=(
            "An endpoint in place of the extra's own embedder; what is remembered gets its "
            "vectors anew by itself."
        ),
    )
    policy: str | None = None
    node: str = "default"


def validated(
    model: type[M], text: str, name: str, beside: tuple[str, type[BaseModel]] | None = None
) -> M:
    """A contract written in TOML; ``beside`` is the file, with its contract, that a key which this
    one has not may belong into.

    Raises:
        ConfigurationError: it is none; the message names the key.
    """
    return checked(model, toml_tree(text, name), name, beside)


def checked(
    model: type[M], tree: Any, name: str, beside: tuple[str, type[BaseModel]] | None = None
) -> M:
    """A contract made of what was read from ``name``. Raises as ``validated``."""
    try:
        return model.model_validate(tree, strict=False)
    except ValidationError as error:
        places = "; ".join(
            f"{'.'.join(str(part) for part in e['loc'])}: {_wrong(model, e, beside)}"
            for e in error.errors()[:5]
        )
        raise ConfigurationError(f"{name}: {places}") from None


def _wrong(
    model: type[BaseModel], error: ErrorDetails, beside: tuple[str, type[BaseModel]] | None
) -> str:
    if beside is not None and error["type"] == UNKNOWN_KEY:
        *above, key = error["loc"]
        file, other = beside
        if str(key) in keys_at(other, above):
            return f"there is no such key here: it stands in {file}"
    if error["type"] != UNKNOWN_KEY and (
        table := fitting_table(model, error["loc"], error["input"])
    ):
        return f"with such a value it stands in [{table}]"
    return misfit_words(model, error)


def toml_tree(text: str, name: str) -> dict[str, Any]:
    """What a TOML text holds.

    Raises:
        ConfigurationError: it is none, with the place.
    """
    try:
        return toml_values(text)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from error
