"""The operator's own Python verbs: ``*.py`` files of the verbs folder, run in this process where
settings say so.

Such a file is code with all rights of this process, so it counts only where the operator asked for
it (``[verbs] python = true``) and where nobody else can have written it: file and folder belong to
this user or root, and to nobody else's pen. Each file is a module of its own under a private name.
What is broken in one is a problem of that file.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG
from types import CodeType, ModuleType
from typing import cast

from msgspec import Struct

from ordain.contracts.verbs import TrustClass
from ordain.errors import ConfigurationError
from ordain.owned_files import not_owned
from ordain.verbs.confirmed import declaration_digest
from ordain.verbs.functions import AnyFunctionVerb, FunctionVerb

LOAD_S = 10.0
"""Longest that running a file may take, in seconds."""

BYTES_MAX = 1_048_576
PREFIX = "ordain_operator_verbs"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\.py\Z")
_NO_NAME = re.compile(r"cannot import name '([A-Za-z_][A-Za-z0-9_]{0,99})' from")
_log = logging.getLogger("ordain.verbs")


class _Loaded(Struct, frozen=True):
    digest: str
    module: str
    verbs: tuple[AnyFunctionVerb, ...]

    @property
    def declarations(self) -> Mapping[str, str]:
        """What is to be confirmed of each verb: all of its file, for whatever stands there may be
        part of what it does.
        """
        return {
            verb.spec.name: declaration_digest({"name": verb.spec.name}, {"code": self.digest})
            for verb in self.verbs
        }


class PythonFiles:
    """The Python files of one folder; a file is run again only after its text has changed. Used by
    one thread at a time.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing is read before ``load``."""
        self._folder = folder
        self._loaded: dict[str, _Loaded] = {}

    def names(self) -> list[str]:
        """The files that there are."""
        try:
            return sorted(
                entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".py")
            )
        except OSError:
            return []

    def load(self, name: str) -> tuple[AnyFunctionVerb, ...]:
        """The verbs of a file, in the order in which it defines them.

        Raises:
            ConfigurationError: it is not safe to run, or running it failed; names file and line.
        """
        path = self._folder / name
        source = _read(path)
        digest = hashlib.sha256(source).hexdigest()
        known = self._loaded.get(name)
        if known is not None and known.digest == digest:
            return known.verbs
        module = _run(path, source, f"{PREFIX}.{path.stem}_{digest[:16]}")
        defined = [
            cast(AnyFunctionVerb, value)
            for value in vars(module).values()
            if isinstance(value, FunctionVerb)
        ]
        # not those that it imports
        verbs = tuple(
            _skill(verb) for verb in defined if verb.function.__module__ == module.__name__
        )
        if not verbs:
            sys.modules.pop(module.__name__, None)
            raise _refused(path, "defines no verb: decorate a function with @verb(effect=...)")
        self.forget(name)
        self._loaded[name] = _Loaded(digest, module.__name__, verbs)
        return verbs

    def declarations(self, name: str) -> Mapping[str, str]:
        """The digests of what an operator is to confirm, by id, of the verbs of a file that was
        loaded.
        """
        return self._loaded[name].declarations

    def forget(self, name: str) -> None:
        """The file is gone or has changed: its module goes; calls under way keep what they hold."""
        known = self._loaded.pop(name, None)
        if known is not None:
            sys.modules.pop(known.module, None)

    def forget_others(self, names: list[str]) -> None:
        """Forget every file that is not among these."""
        for name in [name for name in self._loaded if name not in names]:
            self.forget(name)


def _skill(verb: AnyFunctionVerb) -> AnyFunctionVerb:
    return replace(verb, spec=verb.spec.model_copy(update={"trust_class": TrustClass.SKILL}))


def _read(path: Path) -> bytes:
    """The text of a file that only this user or root can have written."""
    if not _NAME.match(path.name):
        raise _refused(path, "a Python file of verbs is named in lower case: letters, digits, _")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode):
                raise _refused(path, "not a regular file")
            if fault := not_owned(path):
                raise _refused(path, f"not run: {fault}")
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}; links are not followed") from error
    if len(content) > BYTES_MAX:
        raise _refused(path, f"larger than {BYTES_MAX} bytes")
    return content


class _FromText(importlib.machinery.SourceFileLoader):
    """Runs the bytes that were checked, and writes no cache beside them."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The compiled text."""
        return self._code


def _run(path: Path, source: bytes, name: str) -> ModuleType:
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise _refused(
            path,
            f"not Python: {error.msg if isinstance(error, SyntaxError) else 'a null byte'}",
            line,
        ) from error
    spec = importlib.util.spec_from_loader(name, _FromText(name, str(path), code))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            exec(code, module.__dict__)  # noqa: S102 - the operator's own code is what is asked for here
        except BaseException as error:
            # foreign code: whatever it raises, exit() included, is its failure
            failed.append(error)

    sys.modules[name] = module
    thread = threading.Thread(target=run, name=f"ordain-load-{path.stem}", daemon=True)
    with contextlib.redirect_stdout(sys.stderr):
        # what it prints must not stand in somebody's JSON; ended here, should it never end
        thread.start()
        thread.join(LOAD_S)
    if thread.is_alive() or failed:
        sys.modules.pop(name, None)
        raise (
            _failed(path, failed[0])
            if failed
            else _refused(path, f"did not end within {LOAD_S:g} s: a module of verbs only defines")
        )
    return module


def _failed(path: Path, error: BaseException) -> ConfigurationError:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    line = lines[-1] if lines else None
    if isinstance(error, ConfigurationError):
        return _refused(path, error.message, line)
    _log.debug("running %s failed", path, exc_info=error)
    return _refused(path, f"raised {type(error).__name__}{_named(error)}", line)


def _named(error: BaseException) -> str:
    """What is missing, where it is that; any other text may hold a value."""
    if isinstance(error, ModuleNotFoundError):
        return f": no module named {error.name}"
    if isinstance(error, ImportError) and (missing := _NO_NAME.match(str(error))) is not None:
        return f": {error.name} has no {missing[1]}"
    return ""


def _refused(path: Path, what: str, line: int | None = None) -> ConfigurationError:
    place = str(path) if line is None else f"{path}:{line}"
    return ConfigurationError(
        f"{place}: {what}", code="invalid_verb", details={"file": str(path), "line": line}
    )
