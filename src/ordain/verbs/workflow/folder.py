"""A folder of ``<id>.yaml`` templates (WFL-03). Files are data from an operator and may still be hostile: whole or not at all, by file and line.

What a verb file is held to holds here: its owner, its size, no link that leaves the folder, and nothing but plain data in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from ordain.contracts.catalog import Schema
from ordain.contracts.workflow import WorkflowTemplate
from ordain.errors import ConfigurationError
from ordain.verbs.folder import faults_of, read_file
from ordain.verbs.yaml_document import YamlDocument, parse_document

CODE = "invalid_workflow"
FILES_MAX = 200
"""Most templates in one folder."""
SUFFIX = ".yaml"
SUFFIXES = (SUFFIX, ".yml")
"""What is looked at in a folder: a template, and what somebody may have meant as one."""


@cache
def shipped_workflows() -> Mapping[str, WorkflowTemplate]:
    """The templates beside this file, by id; read once, they are part of the build."""
    return load_workflows(Path(__file__).parent / "shipped", shipped=True)


def workflows_of(folder: Path) -> dict[str, WorkflowTemplate]:
    """The shipped templates and those of a folder, which need not exist, by id.

    Raises:
        ConfigurationError: one of the folder cannot be used, or has a shipped one's id.
    """
    own: Mapping[str, WorkflowTemplate] = load_workflows(folder) if folder.is_dir() else {}
    if taken := sorted(own.keys() & shipped_workflows().keys()):
        raise _invalid(str(folder / f"{taken[0]}{SUFFIX}"), f"{taken[0]} is a shipped template: give it another id")
    return {**shipped_workflows(), **own}


def load_workflows(folder: Path, *, shipped: bool = False) -> Mapping[str, WorkflowTemplate]:
    """Every template of a folder (not of folders below it), by id.

    Raises:
        ConfigurationError: the folder or a file cannot be read, or a file is no template.
    """
    try:
        root = folder.resolve(strict=True)
        names = sorted(entry.name for entry in root.iterdir() if entry.name.endswith(SUFFIXES))
    except OSError as error:
        raise _invalid(str(folder), f"cannot be read: {error.strerror}") from error
    if len(names) > FILES_MAX:
        raise _invalid(str(root), f"more than {FILES_MAX} templates")
    found = (load_workflow(root, name, shipped=shipped) for name in names)
    return MappingProxyType({template.id: template for template in found})


def load_workflow(root: Path, name: str, *, shipped: bool = False) -> WorkflowTemplate:
    """One template; ``root`` is its folder, links followed.

    Raises:
        ConfigurationError: it cannot be read, or is no template; the message names file and line.
    """
    source, stem = str(root / name), name.removesuffix(SUFFIX)
    if not name.endswith(SUFFIX):
        raise _invalid(source, f"a template is named <id>{SUFFIX}")
    document = read_document(root, name, shipped=shipped)
    fields = document.value
    if not isinstance(fields, dict):
        raise _invalid(source, "a template is a mapping", document.line(()))
    faults = faults_in(document, stem)
    if faults:
        (where, what), more = faults[0], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        place = ".".join(str(part) for part in where) or "the template"
        raise _invalid(source, f"{place}: {what}{more}", document.line(where))
    return WorkflowTemplate.model_validate_json(json.dumps(fields, allow_nan=False))


def read_document(root: Path, name: str, *, shipped: bool = False) -> YamlDocument:
    """The file as plain data.

    Raises:
        ConfigurationError: it cannot be read, or is more than plain data.
    """
    try:
        return parse_document(read_file(root, name, shipped=shipped), str(root / name))
    except ConfigurationError as error:
        raise ConfigurationError(error.message, code=CODE, details=error.details) from error


def faults_in(document: YamlDocument, stem: str) -> list[tuple[tuple[str | int, ...], str]]:
    """Everything that keeps a document from being the template ``stem``, with its place."""
    fields: Any = document.value
    if fields.get("id") != stem:
        return [(("id",), f"id must be {stem!r}, as the file is named")]
    try:
        template = WorkflowTemplate.model_validate_json(json.dumps(fields, allow_nan=False))
    except ValidationError as error:
        return faults_of(error)
    try:
        Schema(template.input_schema)
    except ConfigurationError as error:
        return [(("schema",), error.message)]
    return []


def _invalid(source: str, what: str, line: int | None = None) -> ConfigurationError:
    place = source if line is None else f"{source}:{line}"
    return ConfigurationError(f"{place}: {what}", code=CODE, details={"file": source, "line": line})
