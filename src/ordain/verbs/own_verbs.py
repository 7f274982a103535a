"""The operator's verbs folder as a whole: YAML verbs, and Python ones where they are switched
on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ordain.errors import ConfigurationError
from ordain.verbs.folder import load_folder
from ordain.verbs.functions import AnyFunctionVerb
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.python_files import PythonFiles
from ordain.verbs.registry import Registry

SUFFIXES = (".yaml", ".yml", ".j2", ".py")
WATCHED_MAX = 5000


class OwnVerbs:
    """One folder; it need not exist. Used by one thread at a time."""

    def __init__(self, folder: Path, http: HttpAccess, *, python: bool) -> None:
        """``http`` is what its HTTP verbs are given; ``python``: run its Python files."""
        self.folder, self.http = folder, http
        self.files = PythonFiles(folder)
        self._python = python

    def fingerprint(self) -> object:
        """Of every file that may be part of a verb."""
        return files_of(self.folder, SUFFIXES)

    def added_to(
        self, registry: Registry, functions: Sequence[AnyFunctionVerb] = (), *, strict: bool = False
    ) -> tuple[Registry, tuple[ConfigurationError, ...]]:
        """The registry with the folder's verbs and ``functions``; and which Python files were left
        out of it.

        Raises:
            ConfigurationError: a YAML verb or a function cannot be used; where ``strict``, also a
                Python file.
        """
        folders = [load_folder(self.folder)] if self.folder.is_dir() else []
        found = registry.extended(folders=folders, functions=functions, http=self.http)
        names = self.files.names()
        if not self._python:
            return found, tuple(_off(self.folder / name) for name in names)
        self.files.forget_others(names)
        left_out: list[ConfigurationError] = []
        for name in names:
            try:
                found = found.extended(
                    functions=self.files.load(name), declarations=self.files.declarations(name)
                )
            except ConfigurationError as error:
                if strict:
                    raise
                left_out.append(error)
        return found, tuple(left_out)


def files_of(folder: Path, suffixes: tuple[str, ...]) -> object:
    """Name, identity, time and size of every file with one of these endings; None where the folder
    cannot be read.
    """
    found: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffixes) and len(found) < WATCHED_MAX:
                    found.append((entry.name, *_state(entry)))
    except OSError:
        return None
    return tuple(sorted(found))


def _state(entry: os.DirEntry[str]) -> tuple[int, int, int]:
    try:
        stat = entry.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _off(path: Path) -> ConfigurationError:
    what = "not run: Python verbs are off; [verbs] python = true in ordain.toml switches them on"
    return ConfigurationError(
        f"{path}: {what}", code="python_off", details={"file": str(path), "line": None}
    )
