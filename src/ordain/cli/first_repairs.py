"""What ``ordain init --replace`` clears out of the way of a new choice: files that cannot be used
are set aside, never thrown away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from ordain.cli.profile_files import (
    NAMED_POLICY,
    POLICY,
    SettingsFiles,
    defined,
    drop_key,
    drop_profile,
    named_policy,
)
from ordain.errors import ConfigurationError
from ordain.owned_files import check_owned, read_owned
from ordain.settings import read_policy
from ordain.settings_file import FileSettings, validated
from ordain.settings_profiles import ROUTE_PREFIX, missing_key

EMBEDDER = "embedder"
"""The table of ``ordain.toml`` that names one."""


def clear(files: SettingsFiles) -> list[str]:
    """Make the folder one that loads, and say what was done for it, a line each.

    Raises:
        ConfigurationError: somebody else may write a file, which is for people to look at.
    """
    return [*_clear_config(files), *_clear_policy(files), *_clear_profiles(files)]


def take_out(files: SettingsFiles, names: Collection[str]) -> list[str]:
    """Take out profiles of these names that the new choice replaces. Those that policy or
    ``LLM_ROUTE_*`` names stay, and so do keys' files.
    """
    policy = files.policy.read_text(encoding="utf-8") if files.policy.exists() else ""
    routes = {
        part.strip()
        for key, value in os.environ.items()
        if key.startswith(ROUTE_PREFIX)
        for part in value.split(",")
    }
    gone = [
        name
        for name in defined(files.home)
        if name in names
        and name not in routes
        and not re.search(rf"""["']{re.escape(name)}["']""", policy)
    ]
    for name in gone:
        files.change(files.config, lambda document, name=name: drop_profile(document, name))
    return [f"taken out: profile {name}, whose place this takes" for name in gone]


def _clear_config(files: SettingsFiles) -> list[str]:
    if not os.path.lexists(files.config):
        return []
    check_owned(files.config)
    try:
        validated(FileSettings, read_owned(files.config), files.config.name)
    except ConfigurationError as error:
        return [_aside(files, files.config, error.message)]
    return []


def _clear_policy(files: SettingsFiles) -> list[str]:
    named, file = named_policy(files.config), files.policy
    said: list[str] = []
    if os.path.lexists(file):
        check_owned(file)
        try:
            read_policy(file)
        except ConfigurationError as error:
            said.append(_aside(files, file, error.message))
    if named is not None and not file.exists():
        files.change(files.config, lambda document: drop_key(document, NAMED_POLICY))
        said.append(
            f"policy named {file}, which is not there: the line is taken out, {POLICY} or the "
            "shipped policy holds"
        )
    return said


def _clear_profiles(files: SettingsFiles) -> list[str]:
    if not files.config.exists():
        return []
    given = validated(FileSettings, read_owned(files.config), files.config.name)
    said: list[str] = []
    if given.embedder is not None and (missing := missing_key(given.embedder, files.home)):
        files.change(files.config, lambda document: drop_key(document, EMBEDDER))
        said.append(
            f"taken out: [{EMBEDDER}], {missing}; what is remembered is found by words, or by the "
            "extra's own embedder"
        )
    for name, profile in given.models.items():
        if missing := missing_key(profile, files.home):
            files.change(files.config, lambda document, name=name: drop_profile(document, name))
            said.append(f"taken out: profile {name}, {missing}")
    return said


def _aside(files: SettingsFiles, file: Path, why: str) -> str:
    return f"{file} could not be used and is now {files.set_aside(file).name} ({why[:300]})"
