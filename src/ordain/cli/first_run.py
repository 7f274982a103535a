"""``ordain init``: what is to answer, from what is found here and what is said, into
``ordain.toml``; then it is asked once, and talked to.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, structs

from ordain.cli.commands_models import NOTHING_GIVEN
from ordain.cli.endpoint_words import models_said, starting, unlisted
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.first_questions import (
    TALK,
    another_key,
    asked_choice,
    asked_key,
    asked_model,
    asked_url,
    kept,
    sure,
)
from ordain.cli.first_repairs import clear, take_out
from ordain.cli.hints import in_folder
from ordain.cli.local_model import FIELDS, fetch_model, has_extra
from ordain.cli.model_profiles import print_verdict, profile_view, tried_for_use
from ordain.cli.model_setup import (
    OPENAI_KEY,
    check_private,
    check_variable,
    checked_profile,
    looks_like_key,
    placed,
    profile_fields,
    tell,
    write_profile,
    written_lanes,
)
from ordain.cli.options import ChatAsked, FirstRun, Setup
from ordain.cli.output import print_json, show, warn
from ordain.cli.places import home_of
from ordain.cli.profile_files import (
    SettingsFiles,
    cannot_write,
    changing,
    defined,
    drop_profile,
    make_home,
    put_lanes,
    shipped_policy,
)
from ordain.cli.server_told import show_told, tell_server
from ordain.contracts.hosted import one_spelling
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.policy import Lane
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError, Conflict
from ordain.models.discovery import USUAL, Endpoint, Presence, listed, on_this_machine, usual_places
from ordain.models.exchange import checked_url
from ordain.models.prices import ListPrice
from ordain.owned_files import read_owned
from ordain.settings import DEFAULT_KEY_ENV, Settings, load_settings
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
INIT_NAMES = frozenset(NAMES.get(use, use) for use in USES)
"""Profiles that ``init`` writes; others are people's own."""
NO_MODEL: Mapping[str, object] = {"provider": OFFLINE, "model": OFFLINE}
UNSET = {OFFLINE: NO_MODEL}
"""What stands in the file where no model was chosen so far."""
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


def set_up(data_dir: Path | None, first: FirstRun, *, as_json: bool) -> int:
    """Choose, write, ask once, and go on into a conversation where that is wanted. Exit code 1: the
    model cannot be used as it is set up.

    Raises:
        ConfigurationError: something is missing or wrong; nothing was changed.
        Conflict: something is set up already, and ``--replace`` was not said.
    """
    home = home_of(data_dir)
    asking = not as_json and not first.yes and sys.stdin.isatty() and sys.stdout.isatty()
    if first.use is not None and first.use not in USES:
        raise ConfigurationError(
            f"--use is one of {', '.join(USES)}{did_you_mean(first.use, USES)}", code="unknown_use"
        )
    _check_references(first, home)
    replace = first.replace or (asking and sure(home / "ordain.toml", _there(home)))
    if not replace:
        _check_unused(home)
    found = asyncio.run(on_this_machine(usual_places()))
    chosen = _asked(first, found, home) if asking else told(first, found, home)
    settings, price, files = _written(
        home, chosen, replace=replace, quiet=as_json or not sys.stderr.isatty()
    )
    verdict = tried_for_use(settings, chosen.name) if first.test else None
    while asking and verdict is not None and (key := another_key(chosen.use, verdict)):
        chosen = structs.replace(chosen, key=key)
        settings, price, files = _written(home, chosen, replace=True, quiet=False)
        verdict = tried_for_use(settings, chosen.name)
    server = tell_server(home)
    if as_json:
        view = profile_view(settings, chosen.name, in_file=True)
        said = {
            "use": chosen.use,
            "file": str(files.config),
            "profile": view,
            "found": {one.use: list(one.models) for one in found if one.heard is Presence.MODELS},
            "want_key": [one.use for one in found if one.heard is Presence.WANTS_KEY],
            "server": server.state,
        }
        print_json({**said, "verdict": None if verdict is None else verdict.as_dict()})
    else:
        _tell(settings, chosen, files, price)
        show_told(server)
        if verdict is not None:
            print_verdict(verdict)
    if verdict is not None and not verdict.ok:
        if not as_json:
            show(
                in_folder(
                    f"mend it and try again: ordain models test {shell_word(chosen.name)}; or "
                    "choose anew: ordain init --replace"
                )
            )
        return FAILED
    if first.chat or (asking and kept(TALK)):
        from ordain.cli.chat import chat  # lazy: as all commands

        return chat(home, ChatAsked(as_json=as_json))
    if not as_json:
        show(in_folder("talk to it: ordain chat"))
    return OK


def _check_unused(home: Path) -> None:
    if there := _there(home):
        names = ", ".join(there)[:200]
        hint = (
            "ordain models list shows what is set up, ordain models add NAME adds to it; ordain "
            "init --replace puts what you choose in its place"
        )
        raise Conflict(
            f"{home / 'ordain.toml'} has profiles already: {names}; {hint}", code="already_set_up"
        )


def _there(home: Path) -> list[str]:
    """The profiles that are set up; having chosen no model is none."""
    try:
        profiles = defined(home)
    except ConfigurationError as error:
        message = (
            f"{error.message}; mend it, or have it set aside and choose anew: ordain init --replace"
        )
        raise ConfigurationError(message, code=error.code) from error
    return [] if profiles == UNSET else sorted(profiles)


# --- choosing -------------------------------------------------------------------------------------


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


def _check_references(first: FirstRun, home: Path | None) -> None:
    """Where the key is said to be is no key itself, which is told and stored nowhere.

    Raises:
        ConfigurationError: it is, or seems to be (``key_not_stored``).
    """
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
            f"{endpoint.title} at {base_url} has no {named[:100]}; it has "
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


def _asked(first: FirstRun, found: list[Endpoint], home: Path) -> FirstChoice:
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
    model = first.model or asked_model(() if endpoint is None else endpoint.talkers)
    if endpoint is not None:
        model = _model(use, base_url or "", model, endpoint, named_key)
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


# --- writing --------------------------------------------------------------------------------------


def _written(
    home: Path, chosen: FirstChoice, *, replace: bool, quiet: bool
) -> tuple[Settings, ListPrice | None, SettingsFiles]:
    """The settings with the profile behind every lane, the price that it was given, and the files;
    all as it was where that fails.
    """
    if chosen.use == LOCAL:
        if not has_extra():
            raise ConfigurationError(
                "the local model needs llama.cpp; run: pip install 'ordain[local]'",
                code="extra_missing",
            )
        make_home(home)
        fetch_model(home, quiet=quiet)
    place = home / "keys" / chosen.name
    key_before = place.read_bytes() if chosen.key and place.is_file() else None
    key_file = _put_key(place, home, f"{chosen.key}\n".encode("ascii")) if chosen.key else None
    try:
        fields, price = _fields(chosen, home, key_file)
        profile = checked_profile(chosen.name, fields, home)
        said: list[str] = []
        with changing(home) as files:
            if replace:
                said = [*clear(files), *take_out(files, INIT_NAMES - {chosen.name})]
            if defined(home) == UNSET:
                files.change(files.config, lambda document: drop_profile(document, OFFLINE))
            write_profile(files, chosen.name, fields, price)
            _put_before_all(files, chosen.name)
            if replace:
                said += take_out(files, INIT_NAMES - {chosen.name})  # those that lanes had named
    except BaseException:
        # an interrupt too: no key lies about that no profile refers to, and one that was there is
        # there again
        if key_file is not None:
            key_file.unlink(missing_ok=True)
        if key_before is not None:
            _put_key(place, home, key_before)
        raise
    for line in said:
        warn(line)
    if profile.key_file is not None:
        check_private(home / Path(profile.key_file).expanduser())
    return load_settings(home=home), price, files


def _fields(
    chosen: FirstChoice, home: Path, key_file: Path | None
) -> tuple[Mapping[str, object], ListPrice | None]:
    if chosen.use == LOCAL:
        return FIELDS, None
    if chosen.use == OFFLINE:
        return NO_MODEL, None
    setup = (
        chosen.setup
        if key_file is None
        else chosen.setup.with_changes(key_file=str(key_file.relative_to(home)), key_env=None)
    )
    return profile_fields(placed(setup, home))


def _put_key(file: Path, home: Path, content: bytes) -> Path:
    """A typed key in a file of its own that its owner alone can read; it stands nowhere else."""
    make_home(home)
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(exist_ok=True, mode=0o700)
        with os.fdopen(
            os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as opened:
            opened.write(content)
        partial.replace(file)
    except OSError as error:
        raise cannot_write(home, error) from error
    return file


def _put_before_all(files: SettingsFiles, name: str) -> None:
    """The profile alone behind every lane. Where the policy names none and nothing else would take
    them, that is so by itself.
    """
    wanted = {str(lane): [name] for lane in Lane}
    alone = not written_lanes(files) and all(
        names == [name] for names in load_settings(home=files.home).policy.lanes.profiles.values()
    )
    if not alone:
        files.change(
            files.policy, lambda document: put_lanes(document, wanted), otherwise=shipped_policy()
        )


def _tell(
    settings: Settings, chosen: FirstChoice, files: SettingsFiles, price: ListPrice | None
) -> None:
    if chosen.use == OFFLINE:
        show(
            f"no model, in {files.config}: rules answer, and say so. When there is one: "
            f"{in_folder('ordain init')} --replace"
        )
    else:
        tell(settings, chosen.name, files, price)
    over = {
        str(lane): names[0]
        for lane, names in settings.policy.lanes.profiles.items()
        if names and names[0] != chosen.name
    }
    if over:
        show(
            "the environment puts others first for as long as it says so: "
            f"{', '.join(f'{lane}: {name}' for lane, name in over.items())}"
        )
