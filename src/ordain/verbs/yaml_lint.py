"""Lint of the files of a ``YamlFolder``: every problem with its line, those that keep one from
being loaded first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ordain.contracts.faults import FieldPath, placed
from ordain.contracts.nearest import as_given
from ordain.errors import ConfigurationError, NotFound
from ordain.verbs.lint import Finding, Linted
from ordain.verbs.template_lint import ERROR
from ordain.verbs.yaml_folder import SUFFIX, SUFFIXES, M, YamlFolder

ToSay = tuple[str, FieldPath, str, str]
"""Severity, place, message, and what to do."""


def lint_named(
    folder: YamlFolder[M],
    path: Path,
    what: Sequence[str],
    more: Callable[[M], Iterable[ToSay]],
    *,
    unknown: str,
) -> list[Linted]:
    """Lint what is named, files and names, shipped ones as well; else every file of the folder at
    ``path``, and whether they go together.

    Raises:
        NotFound: there is no such file; by code ``unknown``.
    """
    if what:
        return [_lint_one(folder, path, name, more, unknown) for name in what]
    every = [lint_yaml(folder, file, more) for file in folder.files(path)]
    lint_folder(folder, path, every)
    return every


def _lint_one(
    folder: YamlFolder[M], path: Path, name: str, more: Callable[[M], Iterable[ToSay]], unknown: str
) -> Linted:
    file = Path(name) if "/" in name or name.endswith(SUFFIXES) else path / f"{name}{SUFFIX}"
    if file.exists():
        return lint_yaml(folder, file, more)
    if (shipped := folder.shipped().get(name)) is None:
        raise NotFound(f"there is no {folder.noun} {as_given(name)}", code=unknown)
    linted = Linted(f"shipped: {name}")
    for found in more(shipped):
        linted.add(*found)
    return linted


def lint_yaml(folder: YamlFolder[M], path: Path, more: Callable[[M], Iterable[ToSay]]) -> Linted:
    """Everything that is to be said about one file; ``more`` of what can be loaded."""
    linted = Linted(str(path))
    root, stem = path.parent.resolve(), path.name.removesuffix(SUFFIX)
    if not path.name.endswith(SUFFIX):
        linted.add(ERROR, (), folder.named, "rename it")
        return linted
    try:
        linted.document = folder.document(root, path.name)
    except ConfigurationError as error:
        line = error.details.get("line")
        message = error.message.partition(": ")[2] or error.message
        linted.put(
            Finding(
                file=str(path),
                line=line if isinstance(line, int) else 1,
                severity=ERROR,
                message=message,
            )
        )
        return linted
    if not isinstance(linted.document.value, dict):
        linted.add(ERROR, (), folder.mapping, f"begin with `{folder.key}: {stem}`")
        return linted
    for place, message in folder.faults(linted.document, stem):
        linted.add(ERROR, place, placed(place, message, f"the {folder.noun}"))
    if stem in folder.shipped():
        linted.add(
            ERROR,
            (folder.key,),
            f"{stem} is a shipped {folder.noun}",
            f"give it another {folder.key}",
        )
    if not linted.findings:
        for found in more(folder.load_file(root, path.name)):
            linted.add(*found)
    return linted


def lint_folder(folder: YamlFolder[Any], path: Path, linted: Sequence[Linted]) -> None:
    """Add to its files' findings what the loader refuses the folder for though no file of it is
    wrong by itself: a lint without errors is taken up.
    """
    try:
        folder.of(path)
    except ConfigurationError as error:
        whole = error.details.get("file") == str(path.resolve())
        if linted and (whole or not any(one.errors for one in linted)):
            line, message = (
                error.details.get("line"),
                error.message.partition(": ")[2] or error.message,
            )
            file = str(path) if whole else str(error.details.get("file", path))
            linted[-1].put(
                Finding(
                    file=file,
                    line=line if isinstance(line, int) else 1,
                    severity=ERROR,
                    message=message,
                )
            )
