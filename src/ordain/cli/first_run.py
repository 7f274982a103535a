"""``ordain init``: what is to answer, from what is found here and what is said, into
``ordain.toml``; then it is asked once, and talked to.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.first_choice import (
    LOCAL,
    NAMES,
    OFFLINE,
    USES,
    FirstChoice,
    asked,
    check_references,
    told,
)
from ordain.cli.first_questions import TALK, another_key, kept, sure
from ordain.cli.first_repairs import clear, take_out
from ordain.cli.hints import in_folder
from ordain.cli.local_model import FIELDS, fetch_model, has_extra
from ordain.cli.model_profiles import print_verdict, profile_view, try_profiles
from ordain.cli.model_setup import (
    check_private,
    checked_profile,
    placed,
    profile_fields,
    write_profile,
    written_lanes,
)
from ordain.cli.model_told import tell
from ordain.cli.options import ChatAsked, FirstRun
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
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.policy import Lane
from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError, Conflict
from ordain.models.discovery import Endpoint, Presence, on_this_machine, usual_places
from ordain.models.prices import ListPrice
from ordain.models.trial import Verdict
from ordain.settings import Settings, load_settings

INIT_NAMES = frozenset(NAMES.get(use, use) for use in USES)
"""Profiles that ``init`` writes; others are people's own."""
NO_MODEL: Mapping[str, object] = {"provider": OFFLINE, "model": OFFLINE}
UNSET = {OFFLINE: NO_MODEL}
"""What stands in the file where no model was chosen so far."""


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
    check_references(first, home)
    replace = first.replace or (asking and sure(home / "ordain.toml", _there(home)))
    if not replace:
        _check_unused(home)
    found = asyncio.run(on_this_machine(usual_places()))
    chosen = asked(first, found, home) if asking else told(first, found, home)
    settings, price, files = _written(
        home, chosen, replace=replace, quiet=as_json or not sys.stderr.isatty()
    )
    verdict = _verdict(settings, chosen.name) if first.test else None
    while asking and verdict is not None and (key := another_key(chosen.use, verdict)):
        chosen = structs.replace(chosen, key=key)
        settings, price, files = _written(home, chosen, replace=True, quiet=False)
        verdict = _verdict(settings, chosen.name)
    server = tell_server(home)
    if as_json:
        verdict_said = None if verdict is None else verdict.as_dict()
        print_json(
            {
                **_as_json(settings, chosen, files, found),
                "server": server.state,
                "verdict": verdict_said,
            }
        )
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


def _verdict(settings: Settings, name: str) -> Verdict:
    return asyncio.run(try_profiles(settings, [name]))[0]


def _as_json(
    settings: Settings, chosen: FirstChoice, files: SettingsFiles, found: list[Endpoint]
) -> dict[str, object]:
    return {
        "use": chosen.use,
        "file": str(files.config),
        "profile": profile_view(settings, chosen.name, in_file=True),
        "found": {one.use: list(one.models) for one in found if one.heard is Presence.MODELS},
        "want_key": [one.use for one in found if one.heard is Presence.WANTS_KEY],
    }


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
