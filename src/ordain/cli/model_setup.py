"""``ordain models add`` and ``remove``: a profile into ``ordain.toml``, its lane into the policy.
The key is only ever referred to.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.model_profiles import print_verdict, profile_view, try_profiles
from ordain.cli.model_told import tell
from ordain.cli.options import Setup
from ordain.cli.output import print_json, show, warn
from ordain.cli.places import home_of
from ordain.cli.profile_files import (
    SettingsFiles,
    changing,
    check_name,
    check_new,
    defined,
    drop_profile,
    put_lanes,
    put_profile,
    shipped_policy,
)
from ordain.cli.questions import ask, refusal_of
from ordain.cli.server_told import show_told, tell_server
from ordain.cli.typed_keys import check_model, check_variable, model_refusal
from ordain.contracts.hosted import OPENAI_HOST
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError, Conflict, NotFound
from ordain.models.exchange import checked_url
from ordain.models.prices import ListPrice, list_price, per_1k
from ordain.models.providers import build_models
from ordain.settings import DEFAULT_KEY_ENV, load_settings, read_policy
from ordain.settings_profiles import missing_key

PROVIDERS = ("openai", "anthropic", "gemini", "local")
OPENAI_KEY = "OPENAI_API_KEY"
MICROS_MAX = 10**9
"""Most micro-dollars per 1,000 tokens that anybody means: a million dollars per million tokens."""


def add(data_dir: Path | None, name: str, setup: Setup, *, as_json: bool) -> int:
    """Write a profile, put it behind its lanes, and ask it once; what is missing is asked for on a
    terminal.

    Raises:
        ConfigurationError: something is missing or wrong; the files are as they were.
        Conflict: there is such a profile already.
    """
    home = home_of(data_dir)
    check_name(name)
    if (
        (setup.provider is None or setup.model is None)
        and not as_json
        and sys.stdin.isatty()
        and sys.stdout.isatty()
    ):
        setup = _asked(setup)
    setup = placed(setup, home)
    fields, price = profile_fields(setup)
    profile = checked_profile(name, fields, home)
    lanes = _lanes(setup.lane)
    with changing(home) as files:
        if not setup.replace:
            check_new(home, name, "; --replace takes its place")
        write_profile(files, name, fields, price)
        if lanes:
            _put_behind(files, name, lanes)
    if profile.key_file is not None:
        check_private(home / Path(profile.key_file).expanduser())
    settings, told = load_settings(home=home), tell_server(home)
    verdict = asyncio.run(try_profiles(settings, [name]))[0] if setup.test else None
    if as_json:
        said = {
            "file": str(files.config),
            "profile": profile_view(settings, name, in_file=True),
            "server": told.state,
        }
        print_json({**said, "verdict": None if verdict is None else verdict.as_dict()})
    else:
        tell(settings, name, files, price)
        show_told(told)
        if verdict is not None:
            print_verdict(verdict)
    return OK if verdict is None or verdict.ok else FAILED


def remove(data_dir: Path | None, name: str, *, as_json: bool) -> int:
    """Take a profile out of ``ordain.toml``.

    Raises:
        NotFound: it is not defined there.
        Conflict: a lane names it.
    """
    home = home_of(data_dir)
    with changing(home) as files:
        if name not in defined(home):
            # what can be removed is removed although its file of a key is gone
            known = load_settings(home=home).profiles
            where = (
                "it comes from elsewhere: see ordain models list"
                if name in known
                else "see ordain models list"
            )
            raise NotFound(
                f"there is no profile {name[:100]} in {files.config}; "
                f"{where}{did_you_mean(name, defined(home))}",
                code="unknown_profile",
            )
        naming = [str(lane) for lane, names in written_lanes(files).items() if name in names]
        if naming:
            message = (
                f"lane {', '.join(naming)} names {name}: take it out of {files.policy} first, or "
                "choose another: ordain init --replace"
            )
            raise Conflict(message, code="in_use")
        files.change(files.config, lambda document: drop_profile(document, name))
    told = tell_server(home)
    if as_json:
        print_json({"file": str(files.config), "removed": name, "server": told.state})
    else:
        show(f"removed: {name}, from {files.config}")
        show_told(told)
    return OK


def placed(setup: Setup, home: Path) -> Setup:
    """The same, with its files as the profile will name them."""
    return setup.with_changes(key_file=_place(setup.key_file, home), gguf=_place(setup.gguf, home))


def write_profile(
    files: SettingsFiles, name: str, fields: Mapping[str, object], price: ListPrice | None
) -> None:
    """The profile into ``ordain.toml``, with where its price is from."""
    comment = f"list price of {price.source}" if price is not None else ""
    files.change(files.config, lambda document: put_profile(document, name, fields, comment))


def profile_fields(setup: Setup) -> tuple[dict[str, object], ListPrice | None]:
    """The profile as it is written, and the list price that it was given."""
    if setup.provider is None or setup.model is None:
        raise ConfigurationError(
            "--provider and --model are needed; on a terminal they are asked for",
            code="missing_option",
        )
    _check_provider(setup.provider)
    check_model(setup.model)
    if setup.key_env is not None:
        check_variable(setup.key_env)
    key_env = setup.key_env
    if (
        key_env is None
        and setup.key_file is None
        and setup.provider == "openai"
        and _is_openai(setup.base_url)
    ):
        # unnamed, the variable's key goes to the endpoint of profile `default`, which may be
        # another
        key_env = OPENAI_KEY
    price, priced = _priced(setup)
    given: dict[str, object | None] = {
        "provider": setup.provider,
        "model": setup.model,
        "base_url": setup.base_url,
        "api": setup.api,
        "key_env": key_env,
        "key_file": setup.key_file,
        "structured": setup.structured,
        "max_tokens": setup.max_tokens,
        "context_tokens": setup.context_tokens or (None if price is None else price.context_tokens),
        "timeout_ms": setup.timeout_ms,
        "gguf": setup.gguf,
        "threads": setup.threads,
        "vision": setup.vision or None,
        **priced,
    }
    return {name: value for name, value in given.items() if value is not None}, price


def _priced(setup: Setup) -> tuple[ListPrice | None, dict[str, object | None]]:
    if (setup.price_input is None) != (setup.price_output is None):
        raise ConfigurationError(
            "--price-input and --price-output go together", code="missing_option"
        )
    if setup.price_input is not None and setup.price_output is not None:
        prices = {
            "usd_micros_per_1k_input": _micros(setup.price_input),
            "usd_micros_per_1k_output": _micros(setup.price_output),
        }
        return None, {**prices, "priced_on": datetime.now(UTC).date().isoformat()}
    found = list_price(setup.provider or "", setup.model or "", setup.base_url)
    if found is None:
        return None, {}
    return found, found.fields


def _micros(dollars: str) -> int:
    try:
        amount = Decimal(dollars)
        micros = per_1k(amount) if amount.is_finite() and 0 <= amount <= MICROS_MAX else -1
    except InvalidOperation:
        micros = -1
    if not 0 <= micros <= MICROS_MAX:
        raise ConfigurationError(
            "a price is dollars per million tokens, like 0.25", code="bad_price"
        )
    return micros


def checked_profile(name: str, fields: Mapping[str, object], home: Path) -> ModelProfile:
    """The profile, and that an adapter for it could be made; nothing of its values stands in an
    error.
    """
    try:
        profile = ModelProfile.model_validate(dict(fields))
    except ValidationError as error:
        places = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
        )
        raise ConfigurationError(f"models.{name}: {places}") from None
    build_models({name: profile}, {}, home)
    if missing := missing_key(profile, home):
        raise ConfigurationError(
            f"{missing}: put the key there first; nothing was changed", code="key_missing"
        )
    return profile


def _place(given: str | None, home: Path) -> str | None:
    """A file as a profile names it: counted from the data folder, unless it is only there from
    where the command was given.
    """
    if given is None or (home / Path(given).expanduser()).exists() or not Path(given).exists():
        return given
    return str(Path(given).absolute())


def check_private(file: Path) -> None:
    """Warn where others on this machine can read the key."""
    if file.stat().st_mode & 0o077:
        warn(
            f"{file} can be read by others on this machine; run: chmod 600 "
            f"{shell_word(file.absolute())}"
        )


def _is_openai(base_url: str | None) -> bool:
    try:
        return base_url is None or urlsplit(base_url).hostname == OPENAI_HOST
    except ValueError:  # it is no address, which the profile's own check says
        return False


def _check_provider(name: str) -> None:
    if name not in PROVIDERS:
        raise ConfigurationError(
            f"--provider is one of {', '.join(PROVIDERS)}{did_you_mean(name, PROVIDERS)}",
            code="unknown_provider",
        )


def _lanes(given: tuple[str, ...]) -> list[Lane]:
    known = {str(lane): lane for lane in Lane}
    if unknown := [name for name in given if name not in known]:
        raise ConfigurationError(
            f"there is no lane {unknown[0][:100]}; lanes are "
            f"{', '.join(known)}{did_you_mean(unknown[0], known)}",
            code="unknown_lane",
        )
    return [known[name] for name in dict.fromkeys(given)]


def written_lanes(files: SettingsFiles) -> Mapping[Lane, list[str]]:
    """The profiles behind lanes as the policy's file says; empty where it leaves them to the
    default.
    """
    return read_policy(files.policy if files.policy.exists() else None).lanes.profiles


def _put_behind(files: SettingsFiles, name: str, lanes: list[Lane]) -> None:
    """The profile first behind these lanes.

    Where no lane was named so far, all of them stood on the default profile: then every lane is
    named, since one that is not would be empty, and the offline provider does not stay behind a
    real model.
    """
    written = written_lanes(files)
    settings = files.settings()
    wanted: dict[str, list[str]] = {}
    for lane in Lane:
        names = list(
            written.get(lane, ()) if written else settings.policy.lanes.profiles.get(lane, ())
        )
        if not written:
            names = [
                other for other in names if settings.profiles[other].provider != "offline"
            ] or [name]
        if lane in lanes:
            wanted[str(lane)] = [name, *(other for other in names if other != name)]
        elif not written:
            wanted[str(lane)] = names
    files.change(
        files.policy, lambda document: put_lanes(document, wanted), otherwise=shipped_policy()
    )


# --- asking ---------------------------------------------------------------------------------------


def _asked(setup: Setup) -> Setup:
    """What was not given, asked for. Never a key: only where it is."""
    changes: dict[str, Any] = {}
    provider = setup.provider or ask(
        f"provider ({', '.join(PROVIDERS)})", "openai", refusal_of(_check_provider)
    )
    changes["provider"] = provider
    local = provider == "local"
    changes["model"] = setup.model or ask(
        "model", "SmolLM2-135M-Instruct.Q4_1" if local else "", model_refusal
    )
    if provider == "openai" and setup.base_url is None:
        changes["base_url"] = ask("base URL", f"https://{OPENAI_HOST}/v1", refusal_of(checked_url))
    if not local and setup.key_env is None and setup.key_file is None:
        usual = DEFAULT_KEY_ENV.get(provider) or (
            OPENAI_KEY if _is_openai(changes.get("base_url", setup.base_url)) else "none"
        )
        variable = ask("environment variable that holds the key", usual, refusal_of(check_variable))
        changes["key_env"] = None if variable == "none" else variable
    if not setup.lane:
        lanes = ask(
            f"lanes ({', '.join(Lane)}; several with commas)",
            "none",
            refusal_of(lambda said: _lanes(_split(said))),
        )
        changes["lane"] = _split(lanes)
    return setup.with_changes(**changes)


def _split(lanes: str) -> tuple[str, ...]:
    if lanes == "none":
        return ()
    return tuple(part.strip() for part in lanes.split(",") if part.strip())
