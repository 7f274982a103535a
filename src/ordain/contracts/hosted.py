"""Providers' own endpoints, and what holds of a profile that no file holds: which model it names,
what that costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from ordain.contracts.model_policy import LanesPolicy
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError

PLANNER_MODEL = "llama-3-8b-instruct-q4_k_m"
"""The sources' own default (PLN-40); no provider has it, servers of one's own mostly take any
name.
"""
OPENAI_HOST = "api.openai.com"
OPENAI_URL = f"https://{OPENAI_HOST}/v1"
ASKED_PATHS = ("/chat/completions", "/responses")
"""What is asked below a base; of an address that ends so the base is what stands before."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""This machine's own, which no proxy can reach."""
HOSTED = frozenset({"anthropic", "gemini"})
"""Providers whose models nobody else has."""
_PRICED = frozenset({"usd_micros_per_1k_input", "usd_micros_per_1k_output"})


def one_spelling(base_url: str) -> str:
    """The base of an address: ``http://host``, ``http://host/v1/`` and
    ``http://host/v1/chat/completions`` are ``http://host/v1``.

    Whatever path it has otherwise stays.
    """
    given = base_url.strip().rstrip("/")
    base = given
    for end in ASKED_PATHS:
        base = base.removesuffix(end)
    return base if base != given or "/" in base.partition("://")[2] else f"{base}/v1"


def endpoint_of(profile: ModelProfile | None) -> str:
    """Where an ``openai`` profile asks, in one spelling; without a profile or URL that is OpenAI
    itself.
    """
    return one_spelling(OPENAI_URL if profile is None or not profile.base_url else profile.base_url)


def is_listed(profile: ModelProfile) -> bool:
    """Whether a price list could know its model: none knows those of this machine's own servers,
    unless somebody named a price.
    """
    return (
        profile.provider in HOSTED
        or _host(profile) not in LOOPBACK
        or bool(_PRICED & profile.model_fields_set)
    )


def is_named(profile: ModelProfile) -> bool:
    """Whether anybody named its model: no provider has the one that servers of one's own are asked
    for.
    """
    own = profile.provider in HOSTED or (
        profile.provider == "openai" and _host(profile) == OPENAI_HOST
    )
    return not own or profile.model != PLANNER_MODEL


def is_assumed(profiles: Mapping[str, ModelProfile], used: Iterable[str]) -> bool:
    """Whether any of these is an endpoint of one's own that is asked for the model that nobody
    named.
    """
    return any(
        profiles[name].provider == "openai" and profiles[name].model == PLANNER_MODEL
        for name in used
    )


def check_named(profiles: Mapping[str, ModelProfile], used: Iterable[str]) -> None:
    """Whether each of these models was named: a key alone names none.

    Raises:
        ConfigurationError: one was not (``model_missing``); the message says what to do.
    """
    for name in used:
        profile = profiles[name]
        if not is_named(profile):
            asked = OPENAI_HOST if profile.provider == "openai" else profile.provider
            message = (
                f"{asked} is to be asked (profile {name}), and no model is named: set "
                "PLANNER_MODEL to one of its models, or run: ordain init"
            )
            raise ConfigurationError(message, code="model_missing")


def check_lanes(lanes: LanesPolicy, profiles: Mapping[str, ModelProfile]) -> None:
    """Whether every profile that a lane names is there.

    Raises:
        ConfigurationError: ``unknown_profile``; the message says what to do.
    """
    for lane, names in lanes.profiles.items():
        if missing := [name for name in names if name not in profiles]:
            message = (
                f"policy: lane {lane} names unknown model profiles: {', '.join(missing)}; known: "
                f"{', '.join(sorted(profiles))}"
            )
            mend = (
                f"set it up: ordain models add {shell_word(missing[0])}, or: ordain init --replace"
            )
            raise ConfigurationError(f"{message}; {mend}", code="unknown_profile")


def _host(profile: ModelProfile) -> str:
    try:
        return urlsplit(endpoint_of(profile)).hostname or ""
    except ValueError:
        return ""
