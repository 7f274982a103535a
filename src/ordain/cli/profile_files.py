"""Changing ``ordain.toml`` and the policy file: comments and order stay, a change counts whole or
not at all.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, TextIO, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from ordain.errors import ConfigurationError, Conflict
from ordain.owned_files import read_owned
from ordain.settings import Settings, load_settings
from ordain.settings_file import toml_tree
from ordain.settings_profiles import ROUTE_PREFIX

CONFIG = "ordain.toml"
POLICY = "policy.toml"
NAMED_POLICY = "policy"
"""The key of ``ordain.toml`` that names another file."""
LOCK = ".settings.lock"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
PLAYED = (
    "ORDAIN_SCRIPT",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_API_KEY_FILE",
    "PLANNER_MODEL",
    "LLM_DEFAULT_BACKEND",
)
"""Variables that make or change the default profile for as long as they are set: no file may come
to depend on them.
"""

Tables = Any
"""A parsed document: nested mappings that remember how they were written."""


class SettingsFiles:
    """The settings' files of one data folder while they are being changed."""

    def __init__(self, home: Path) -> None:
        """Nothing is read yet."""
        self.home = home
        self.config = _real(home / CONFIG)
        self._before: dict[Path, bytes | None] = {}
        self._aside: list[tuple[Path, Path]] = []

    @property
    def policy(self) -> Path:
        """The policy's file: the one that ``ordain.toml`` names, else ``policy.toml``; it need not
        exist.
        """
        return _real(self.home / (named_policy(self.config) or POLICY))

    def change(self, file: Path, edit: Callable[[Tables], None], otherwise: str = "") -> None:
        """Edit a file, or a new one that begins as ``otherwise``.

        Raises:
            ConfigurationError: it is no TOML, or is written in a way in which it cannot be edited.
        """
        text = _text(file)
        source = otherwise if text is None else text
        tree = toml_tree(source, str(file))
        if (changed := _edited(source, tree, edit)) is None:
            raise ConfigurationError(
                f"{file} is written in a way that cannot be edited safely (one table in several "
                "places, or on one line); nothing was changed: edit it by hand, or write the "
                "table in one place first",
                code="edit_by_hand",
            )
        self._before.setdefault(file, None if text is None else text.encode())
        _replace(file, changed.encode())

    def settings(self) -> Settings:
        """What the files say by themselves, without what the environment adds for now."""
        told = {
            name: value
            for name, value in os.environ.items()
            if name not in PLAYED and not name.startswith(ROUTE_PREFIX)
        }
        return load_settings(told, self.home)

    def set_aside(self, file: Path) -> Path:
        """Give a file another name beside it, which none has yet; the new name."""
        number = 1
        while os.path.lexists(other := file.with_name(f"{file.name}.old-{number}")):
            number += 1
        file.rename(other)
        self._aside.append((file, other))
        return other

    def restore(self) -> None:
        """Put every changed file back."""
        for file, content in self._before.items():
            if content is None:
                file.unlink(missing_ok=True)
            else:
                _replace(file, content)
        for file, other in reversed(self._aside):
            other.rename(file)


def named_policy(config: Path) -> str | None:
    """The policy's file as ``ordain.toml`` names it; None where it names none."""
    named = toml_tree(_text(config) or "", str(config)).get(NAMED_POLICY)
    return named if isinstance(named, str) else None


@contextmanager
def changing(home: Path) -> Generator[SettingsFiles]:
    """Change the files; they are put back where the block fails, or where the settings could not be
    loaded with them.

    Raises:
        Conflict: another process is changing them.
        ConfigurationError: as ``load_settings``; or nothing can be written there
            (``cannot_write``).
    """
    make_home(home)
    with _opened_lock(home) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"another process is changing the settings in {home}", code="settings_busy"
            ) from None
        changed = SettingsFiles(home)
        try:
            yield changed
            load_settings(home=home)
        except OSError as error:
            changed.restore()
            raise cannot_write(home, error) from error
        except BaseException:  # whatever it was, an interrupt too: nothing half-changed stays
            changed.restore()
            raise


def make_home(home: Path) -> None:
    """The data folder, its owner's alone where it is new.

    Raises:
        ConfigurationError: there can be none (``cannot_write``).
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise cannot_write(home, error) from error


def _opened_lock(home: Path) -> TextIO:
    try:
        return (home / LOCK).open("w")
    except OSError as error:
        raise cannot_write(home, error) from error


def cannot_write(home: Path, error: OSError) -> ConfigurationError:
    """What is said where the data folder cannot be written."""
    message = (
        f"cannot write in {home}: {error.strerror or error}; make it a folder that you may write, "
        "or name another: --data-dir FOLDER"
    )
    return ConfigurationError(message, code="cannot_write")


def shipped_policy() -> str:
    """The text of the policy that holds where there is no policy file."""
    return files("ordain").joinpath(POLICY).read_text(encoding="utf-8")


def defined(home: Path) -> Mapping[str, Mapping[str, Any]]:
    """The profiles in ``ordain.toml``, as written.

    Raises:
        ConfigurationError: it cannot be read.
    """
    found: Any = toml_tree(_text(home / CONFIG) or "", str(home / CONFIG)).get("models", {})
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def check_name(name: str) -> None:
    """Whether this can be a profile's name.

    Raises:
        ConfigurationError: it cannot.
    """
    if NAME.fullmatch(name) is None:
        raise ConfigurationError(
            "a profile's name has letters, digits, _ and -, 64 at most", code="bad_name"
        )


def check_new(home: Path, name: str, hint: str = "") -> None:
    """Whether ``ordain.toml`` has no profile of this name yet.

    Raises:
        Conflict: it has; the message ends with the hint.
        ConfigurationError: it cannot be read.
    """
    if name in defined(home):
        raise Conflict(
            f"there is a profile {name} already in {_real(home / CONFIG)}{hint}",
            code="profile_exists",
        )


def put_profile(
    document: Tables, name: str, fields: Mapping[str, object], comment: str = ""
) -> None:
    """Write ``[models.NAME]``, in place of one that is there."""
    table = tomlkit.table()
    if comment:
        table.add(tomlkit.comment(comment))
    for field, value in fields.items():
        table.add(field, value)
    if "models" not in document:
        document.add("models", tomlkit.table(is_super_table=True))
    models: Tables = document["models"]
    # by item: what stands in several places of a file is read as one table, and has no ``add``
    models[name] = table


def drop_profile(document: Tables, name: str) -> None:
    """Take ``[models.NAME]`` away, and ``[models]`` with its last one."""
    del document["models"][name]
    if not document["models"]:
        del document["models"]


def drop_key(document: Tables, key: str) -> None:
    """Take a key of the top away."""
    del document[key]


def put_lanes(document: Tables, lanes: Mapping[str, list[str]]) -> None:
    """Write the profiles behind lanes into ``[lanes.profiles]``; lanes that are not named stay."""
    if "lanes" not in document:
        document.add("lanes", tomlkit.table())
    table: Tables = document["lanes"]
    if "profiles" not in table:
        table["profiles"] = tomlkit.table()
    for lane, names in lanes.items():
        table["profiles"][lane] = names


def _edited(source: str, tree: Mapping[str, Any], edit: Callable[[Tables], None]) -> str | None:
    """The text with the edit; None where it would not say what the same edit says of the same
    values written in order. What stands in several places of a file is edited in one of them
    alone, and by itself the document that was edited does not show what that lost.
    """
    try:
        in_order: Tables = tomlkit.parse(tomlkit.dumps(tree))
        edit(in_order)
        document: Tables = tomlkit.parse(source)
        edit(document)
        changed = tomlkit.dumps(document)
        return changed if tomllib.loads(changed) == in_order.unwrap() else None
    except (TOMLKitError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def _real(file: Path) -> Path:
    """The file itself where the name is a link: a link stays one."""
    return file.resolve() if file.is_symlink() else file


def _text(file: Path) -> str | None:
    return read_owned(file) if os.path.lexists(file) else None


def _replace(file: Path, content: bytes) -> None:
    """Give the file this content, whole or not at all; its mode stays, a new one is its owner's
    only.
    """
    descriptor, name = tempfile.mkstemp(prefix=".ordain-", dir=file.parent)
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        if file.exists():
            partial.chmod(file.stat().st_mode & 0o7777)
        partial.replace(file)
    except BaseException:  # a full disk, an interrupt: nothing of ours is left behind
        partial.unlink(missing_ok=True)
        raise
