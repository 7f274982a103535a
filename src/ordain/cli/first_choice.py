"""What is to answer, chosen: by what the command line says and what is found here, or by asking
(``ordain init``).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ordain.cli.commands_models import NOTHING_GIVEN
from ordain.cli.endpoint_words import models_said, starting, unlisted
from ordain.cli.first_questions import asked_choice, asked_key, asked_model, asked_url
from ordain.cli.model_setup import OPENAI_KEY
from ordain.cli.options import FirstRun, Setup
from ordain.cli.output import show
from ordain.cli.typed_keys import check_model, check_variable, looks_like_key
from ordain.contracts.hosted import one_spelling
from ordain.contracts.nearest import did_you_mean
from ordain.errors import ConfigurationError
from ordain.models.discovery import USUAL, Endpoint, Presence, listed, usual_places
from ordain.models.exchange import checked_url
from ordain.owned_files import read_owned
from ordain.settings import DEFAULT_KEY_ENV
from ordain.settings_profiles import env_value

ENDPOINT, LOCAL, OFFLINE = "endpoint", "local", "offline"
HOSTED: Mapping[str, tuple[str, str]] = {
    "openai": ("OpenAI", OPENAI_KEY),
    "anthropic": ("Anthropic", DEFAULT_KEY_ENV["anthropic"]),
    "gemini": ("Gemini", DEFAULT_KEY_ENV["gemini"]),
}
"""Providers: what people call them, and the variable where their key usually is."""
USES = (*USUAL, *HOSTED, ENDPOINT, LOCAL, OFFLINE)
NAMES: Mapping[str, str] = {LOCAL: "smollm2"}
"""The profile's name, where it is not that of what is used."""
PATIENCE_MS = 120_000
"""Time for an attempt at a model on this machine, which may have to be loaded first."""
OWN_URL = "OPENAI_BASE_URL"


class FirstChoice(Struct, frozen=True, kw_only=True):
    """What is to answer: its profile's name and fields; ``key`` is one that was typed, and goes
    into a file.
    """

    use: str
    setup: Setup = NOTHING_GIVEN
    key: str = ""

    @property
    def name(self) -> str:
        """The profile's."""
        return NAMES.get(self.use, self.use)


def told(first: FirstRun, found: list[Endpoint], home: Path | None = None) -> FirstChoice:
    """By what the command line says and, with ``--yes``, by what is here; nobody is asked."""
    use = first.use or (ENDPOINT if first.base_url else None)
    if use is None:
        use = _best(found)
        if not first.yes:
            raise ConfigurationError(
                f"say what to use: --use {'|'.join(USES)}; or --yes, which here means --use {use}",
                code="missing_option",
            )
    if use in (LOCAL, OFFLINE):
        return FirstChoice(use=use)
    base_url = _address(use, first.base_url or _url(use, found))
    if use == ENDPOINT and not base_url:
        raise ConfigurationError("--use endpoint needs --base-url", code="missing_option")
    key_env = first.key_env or (
        _own_key() if use == ENDPOINT and not first.base_url and first.key_file is None else None
    )
    model = (
        first.model
        or (
            env_value(os.environ, "PLANNER_MODEL") if use == ENDPOINT and not first.base_url else ""
        )
        or None
    )
    endpoint = next((one for one in found if one.base_url == base_url), None)
    if use not in HOSTED:
        key = _key_there(key_env, first.key_file, home)
        if endpoint is None or key:
            endpoint = _looked(use, base_url or "", key)
        if (
            endpoint is not None
            and endpoint.heard is Presence.WANTS_KEY
            and not key
            and (named := key_env or first.key_file)
        ):
            raise ConfigurationError(
                f"{endpoint.title} at {base_url} wants a key, and there is none in {named[:100]}",
                code="key_missing",
            )
        model = _model(use, base_url or "", model, endpoint, key_env or first.key_file)
    elif model is None:
        raise ConfigurationError(
            f"--use {use} needs --model, the model as {HOSTED[use][0]} calls it",
            code="model_missing",
        )
    return FirstChoice(
        use=use,
        setup=_setup(use, model, base_url, endpoint).with_changes(
            key_env=key_env, key_file=first.key_file
        ),
    )


def check_references(first: FirstRun, home: Path | None) -> None:
    """Where the key is said to be, and the model, are no key themselves, which is told and stored
    nowhere.

    Raises:
        ConfigurationError: it is, or seems to be (``key_not_stored``).
    """
    if first.model is not None:
        check_model(first.model)
    if first.key_env is not None:
        check_variable(first.key_env)
    if first.key_file is not None and looks_like_key(first.key_file):
        places = (
            Path(first.key_file).expanduser(),
            (home or Path()) / Path(first.key_file).expanduser(),
        )
        if not any(place.exists() for place in places):
            message = (
                "--key-file takes the path of a file that holds the key, never a key; what was "
                "given is no such file and was not stored"
            )
            raise ConfigurationError(message, code="key_not_stored")


def _address(use: str, url: str | None) -> str | None:
    """The address in one spelling, judged before anything else is asked for.

    Raises:
        ConfigurationError: it is none.
    """
    if not url:
        return None
    checked_url(url.strip())
    return url if use in HOSTED else one_spelling(url)


def _key_there(key_env: str | None, key_file: str | None, home: Path | None) -> str:
    """The key that is referred to, where it can be had already."""
    if key_file is not None:
        file = (home or Path()) / Path(key_file).expanduser()
        file = file if file.exists() else Path(key_file)
        return read_owned(file).strip() if file.is_file() else ""
    return os.environ.get(key_env or "", "").strip()


def _best(found: list[Endpoint]) -> str:
    """What ``--yes`` takes: the environment's endpoint, the first on this machine that has a model,
    a provider whose key is set, else nothing.
    """
    if env_value(os.environ, OWN_URL):
        return ENDPOINT
    if here := [one.use for one in found if one.talkers]:
        return here[0]
    return next(
        (use for use, (_, variable) in HOSTED.items() if env_value(os.environ, variable)), OFFLINE
    )


def _url(use: str, found: list[Endpoint]) -> str | None:
    """Where it is asked, unless that is its provider's own address."""
    if use == ENDPOINT:
        return env_value(os.environ, OWN_URL)
    return next((one.base_url for one in found if one.use == use), usual_places().get(use))


def _own_key() -> str | None:
    return OPENAI_KEY if env_value(os.environ, OPENAI_KEY) else None


def _looked(use: str, base_url: str, key: str) -> Endpoint | None:
    return asyncio.run(listed(use, base_url, key))


def _model(
    use: str, base_url: str, named: str | None, endpoint: Endpoint | None, key: str | None = None
) -> str:
    """The model: as named, if the endpoint has it or cannot be asked; else the first that it has.
    ``key`` is what the key is referred to by.

    Raises:
        ConfigurationError: it has no such one, or none at all, or does not answer with any.
    """
    if endpoint is None:
        if named is not None:
            return named  # it may be started later; the test call tells
        raise ConfigurationError(
            f"nothing lists its models at {base_url}/models: {starting(use)}, or say --model",
            code="no_endpoint",
        )
    if endpoint.heard is not Presence.MODELS:
        if named is not None and (key is not None or endpoint.heard is not Presence.WANTS_KEY):
            return named
        raise unlisted(endpoint, key)
    if not endpoint.models and named is None:
        pull = "; run: ollama pull MODEL" if use == "ollama" else ""
        raise ConfigurationError(
            f"{endpoint.title} at {base_url} has no model{pull}", code="no_model_there"
        )
    if named is not None and endpoint.models and named not in endpoint.models:
        has = ", ".join(endpoint.models[:20])
        message = (
            f"{endpoint.title} at {base_url} has no {named[:100]!r}; it has "
            f"{has}{did_you_mean(named, endpoint.models)}"
        )
        raise ConfigurationError(message, code="unknown_model")
    return named or (endpoint.talkers or endpoint.models)[0]


def _setup(use: str, model: str, base_url: str | None, endpoint: Endpoint | None) -> Setup:
    provider = use if use in HOSTED else "openai"
    window = None if endpoint is None else endpoint.context_tokens.get(model)
    slow = PATIENCE_MS if use in USUAL else None
    return Setup(
        provider=provider, model=model, base_url=base_url, context_tokens=window, timeout_ms=slow
    )


def asked(first: FirstRun, found: list[Endpoint], home: Path) -> FirstChoice:
    """As ``told``, and whatever was not said is asked for."""
    for one in found:
        if one.heard in (Presence.FOREIGN, Presence.SILENT) and first.use is None:
            show(f"where {one.title} usually is, {one.base_url}, {models_said(one)}")
    use = (
        first.use
        or (ENDPOINT if first.base_url else None)
        or asked_choice(_offers(found), _best(found))
    )
    if use in (LOCAL, OFFLINE):
        return FirstChoice(use=use)
    base_url = _address(
        use,
        first.base_url
        or (asked_url(env_value(os.environ, OWN_URL)) if use == ENDPOINT else _url(use, found)),
    )
    endpoint = next((one for one in found if one.base_url == base_url), None)
    key_env, key_file, key = first.key_env, first.key_file, ""
    locked = endpoint is not None and endpoint.heard is Presence.WANTS_KEY
    if key_env is None and key_file is None and (locked or use not in USUAL):
        key_env, key = asked_key(
            use, HOSTED[use][1] if use in HOSTED else _own_key() if use == ENDPOINT else None
        )
    sent = key or _key_there(key_env, key_file, home)
    if use not in HOSTED and base_url and (endpoint is None or sent):
        endpoint = _looked(use, base_url, sent)
    if use in USUAL and endpoint is None:
        raise ConfigurationError(
            f"nothing answers at {base_url}: {starting(use)}, then: ordain init", code="no_endpoint"
        )
    named_key = "what was typed" if key else key_env or key_file
    if (
        endpoint is not None
        and endpoint.heard is not Presence.MODELS
        and first.model is None
        and (locked or use in USUAL)
    ):
        raise unlisted(endpoint, named_key)

    def had(model: str) -> str:
        return (
            model if endpoint is None else _model(use, base_url or "", model, endpoint, named_key)
        )

    model = had(first.model or asked_model(() if endpoint is None else endpoint.talkers, had))
    return FirstChoice(
        use=use,
        setup=_setup(use, model, base_url, endpoint).with_changes(
            key_env=key_env, key_file=key_file
        ),
        key=key,
    )


def _offers(found: list[Endpoint]) -> dict[str, str]:
    """What can be chosen, and what people are told of it."""
    usable = [one for one in found if one.heard in (Presence.MODELS, Presence.WANTS_KEY)]
    here = {
        one.use: f"{one.title} on this machine, {one.base_url}: {models_said(one)}"
        for one in usable
    }
    hosted = {
        use: f"{title}{', the key of ' + variable if env_value(os.environ, variable) else ''}"
        for use, (title, variable) in HOSTED.items()
    }
    more = {
        ENDPOINT: "another endpoint that speaks like OpenAI, by its address"
        + (f" ({OWN_URL} is set)" if env_value(os.environ, OWN_URL) else ""),
        LOCAL: (
            "a small model in this process's care (98 MB are fetched): talks, and is wrong about "
            "most things"
        ),
        OFFLINE: "no model: rules, which quote and calculate, and say so",
    }
    return {**here, **hosted, **more}
