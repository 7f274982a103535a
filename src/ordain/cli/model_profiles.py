"""``ordain models list`` and ``test``: the profiles as configured here, and one call to each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import print_json, print_table, show, with_places
from ordain.cli.places import home_of
from ordain.cli.profile_files import CONFIG, PLAYED, defined
from ordain.contracts.hosted import check_named, is_named
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.nearest import no_such
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError, NotFound
from ordain.models.providers import build_models
from ordain.models.trial import NO_MODELS, SCHEMA_IGNORED, Verdict, try_once
from ordain.models.ways_file import WaysFile
from ordain.runtime.ways import Ways
from ordain.settings import DEFAULT_KEY_ENV, Settings, load_settings
from ordain.settings_profiles import DEFAULT_PROFILE, env_value, profiles_file

FREE = NO_MODELS | {"local"}
"""Providers that cost nothing by the token."""
MISSING = "missing"
PROFILES_PATH = "LLM_PROFILES_CONFIG_PATH"
NO_PRICE = "no price: costs count as $0"


def print_models(data_dir: Path | None, *, as_json: bool) -> int:
    """Every profile: what it is, which lanes it serves, what it costs, whether its key is found,
    how its answers are held. No key is shown.
    """
    home = home_of(data_dir)
    settings = load_settings(home=home)
    own, ways = defined(home), Ways(WaysFile(home))
    found = [
        {
            **profile_view(settings, name, name in own),
            **held_view(ways, name, settings.profiles[name]),
        }
        for name in settings.profiles
    ]
    if as_json:
        print_json({"home": str(home), "models": found})
        return OK
    rows = [
        (
            m["name"],
            m["provider"],
            m["model"] if m["model_named"] else "none named: set PLANNER_MODEL",
            ", ".join(m["lanes"]),
            _price(m),
            m["key"],
            _held(m),
            m["defined"],
        )
        for m in found
    ]
    print_table(
        (
            "profile",
            "provider",
            "model",
            "lanes",
            "price per million tokens",
            "key",
            "structured",
            "defined in",
        ),
        rows,
    )
    return OK


def profile_view(settings: Settings, name: str, in_file: bool) -> dict[str, Any]:
    """One profile as ``--json`` shows it."""
    profile = settings.profiles[name]
    lanes = [str(lane) for lane, names in settings.policy.lanes.profiles.items() if name in names]
    free = profile.provider in FREE
    priced = bool(profile.usd_micros_per_1k_input or profile.usd_micros_per_1k_output)
    return {
        "name": name,
        "provider": profile.provider,
        "model": profile.model,
        "model_named": is_named(profile),
        "base_url": profile.base_url,
        "lanes": lanes,
        "usd_micros_per_1k_input": profile.usd_micros_per_1k_input,
        "usd_micros_per_1k_output": profile.usd_micros_per_1k_output,
        "usd_micros_per_1k_cached": profile.usd_micros_per_1k_cached,
        "usd_micros_per_1k_cache_write": profile.usd_micros_per_1k_cache_write,
        "tiers": [tier.model_dump() for tier in profile.tiers],
        "priced_on": profile.priced_on,
        "counts_as_free": not (priced or free),
        "key_found": name in settings.secrets,
        "key": "none needed" if free else _key(profile, found=name in settings.secrets),
        "structured": None if profile.provider in NO_MODELS else str(profile.held_by),
        "vision": profile.vision,
        "max_tokens": profile.max_tokens,
        "context_tokens": profile.context_tokens,
        "defined": _origin(name, in_file=in_file),
    }


def held_view(ways: Ways, name: str, profile: ModelProfile) -> dict[str, Any]:
    """How a profile's answers are held to their schema now, and what was learnt of its endpoint."""
    if profile.provider in NO_MODELS:
        return {"held": None, "learnt": {}}
    learnt = {str(way): str(why) for way, why in ways.learnt(name, profile).items()}
    return {
        "held": str(ways.way(name, profile)),
        "learnt": {**learnt, **dict.fromkeys(sorted(ways.left(name, profile)), "left out")},
    }


def _held(view: dict[str, Any]) -> str | None:
    """The way, and behind it why it is not the declared one."""
    learnt = ", ".join(f"{way} {why}" for way, why in view["learnt"].items())
    return f"{view['held']} ({learnt})" if learnt else view["structured"]


def _price(view: dict[str, Any]) -> str:
    if view["counts_as_free"]:
        return NO_PRICE
    if (
        view["provider"] in FREE
        and not view["usd_micros_per_1k_input"]
        and not view["usd_micros_per_1k_output"]
    ):
        return "free"
    price = (
        f"{usd(view['usd_micros_per_1k_input'] * 1000)} in, "
        f"{usd(view['usd_micros_per_1k_output'] * 1000)} out"
    )
    more = "".join(
        f"; above {tier['above_tokens']}: {usd(tier['usd_micros_per_1k_input'] * 1000)} in"
        for tier in view["tiers"]
    )
    return f"{price}{more} ({view['priced_on'] or 'undated'})"


def usd(micros: int) -> str:
    """Micro-dollars as dollars: to the cent where that is exact, else to the last digit that
    counts.
    """
    text = f"{micros // 1_000_000}.{micros % 1_000_000:06d}".rstrip("0")
    whole, _, rest = text.partition(".")
    return f"${whole}.{rest.ljust(2, '0')}"


def _key(profile: ModelProfile, *, found: bool) -> str:
    if profile.key_file is not None:
        return f"{'found' if found else 'empty'} (file {profile.key_file})"
    name = profile.key_env or DEFAULT_KEY_ENV.get(profile.provider) or "OPENAI_API_KEY"
    if found:
        return f"found ({name})"
    return f"{MISSING} (set {name})" if profile.key_env or profile.base_url is None else "none"


def _origin(name: str, *, in_file: bool) -> str:
    played = [name for name in PLAYED if env_value(os.environ, name)]
    if name == DEFAULT_PROFILE and played:
        return "environment" + (f", {CONFIG}" if in_file else "")
    if in_file:
        return CONFIG
    if name in profiles_file(os.environ):
        return PROFILES_PATH
    return "built in"


def try_profiles_once(data_dir: Path | None, names: Sequence[str], *, as_json: bool) -> int:
    """Ask each profile once and print a verdict; exit code 1 where one of them cannot be used.

    Raises:
        NotFound: no profile of such a name.
    """
    settings = load_settings(home=home_of(data_dir))
    verdicts = asyncio.run(try_profiles(settings, names or list(settings.profiles)))
    if as_json:
        print_json({"verdicts": [verdict.as_dict() for verdict in verdicts]})
    else:
        for verdict in verdicts:
            print_verdict(verdict)
    return OK if all(verdict.ok for verdict in verdicts) else FAILED


def print_verdict(verdict: Verdict) -> None:
    """A verdict for people."""
    said = (
        f"{verdict.message} ({verdict.duration_ms} ms)"
        if verdict.ok
        else f"{verdict.code}: {verdict.message}"
    )
    show(
        f"{'✓' if verdict.ok else '✗'} {verdict.profile} ({verdict.provider}: "
        f"{verdict.answering_model or verdict.model}): {with_places(said)}"
    )
    if verdict.advice:
        show(in_folder(f"  → {verdict.advice}"))


def as_talker(verdict: Verdict) -> Verdict:
    """The same, of a model that answers and keeps to no schema."""
    advice = (
        "conversations work with it; agents and plans will often fail: see what it does with "
        "ordain doctor"
    )
    return replace(verdict, code="", message="talks, and keeps to no schema", advice=advice)


async def try_profiles(settings: Settings, names: Sequence[str]) -> list[Verdict]:
    """A verdict on each of these profiles, the same whoever asks; one that cannot be built is one
    too. A model that talks can be used, whether or not it keeps to a schema, and that is said.

    Raises:
        NotFound: no profile of such a name.
    """
    for name in names:
        if name not in settings.profiles:
            raise NotFound(
                no_such("model profile", name, settings.profiles), code="unknown_profile"
            )
    return list(await asyncio.gather(*(_judged(settings, name) for name in dict.fromkeys(names))))


async def _judged(settings: Settings, name: str) -> Verdict:
    verdict = await _tried(settings, name, None)
    if verdict.code == ModelErrorCode.REJECTED:
        # perhaps of the schema alone: asked as runs do that step down
        said = await _tried(settings, name, Structured.TEXT)
        verdict = said if said.ok else verdict
    talks = verdict.code == SCHEMA_IGNORED or (verdict.ok and bool(verdict.advice))
    return as_talker(verdict) if talks else verdict


def _again(name: str, profile: ModelProfile) -> str:
    """The command that sets a profile up anew with another key."""
    place = "" if profile.base_url is None else f" --base-url {shell_word(profile.base_url)}"
    return (
        f"ordain models add {shell_word(name)} --provider {profile.provider} --model "
        f"{shell_word(profile.model)}{place} --key-env VARIABLE --replace"
    )


async def _tried(settings: Settings, name: str, way: Structured | None) -> Verdict:
    profile = settings.profiles[name]
    key = "" if profile.provider in FREE else _key(profile, found=name in settings.secrets)
    if key.startswith(MISSING):
        advice = (
            f"{key.removeprefix(MISSING).strip(' ()')}, or refer to another variable or file: "
            f"{_again(name, profile)}"
        )
        message = "no key was found, and nothing was sent"
        return Verdict(
            profile=name,
            provider=profile.provider,
            model=profile.model,
            code="no_key",
            message=message,
            advice=advice,
        )
    try:
        check_named(settings.profiles, [name])
        model = build_models({name: profile}, settings.secrets, settings.home)[name]
    except ConfigurationError as error:
        return Verdict(
            profile=name,
            provider=profile.provider,
            model=profile.model,
            code=error.code,
            message=error.message,
        )
    try:
        return await try_once(
            name, profile, model, way or Ways(WaysFile(settings.home)).way(name, profile)
        )
    finally:
        await model.close()
