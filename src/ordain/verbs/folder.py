"""A folder of ``<verb>.yaml`` files with the prompt templates beside them (VRB-06, C3).

Files are data from an operator and may still be hostile: sizes are limited, links that leave the
folder are refused, a file's name is its verb's id. Every error names the file and, where it has
one, the line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import Any, TypeGuard

from msgspec import Struct, field
from pydantic import ValidationError

from ordain.contracts.faults import faults_of, placed
from ordain.contracts.verbs import TrustClass, VerbSpec
from ordain.errors import ConfigurationError
from ordain.owned_files import not_owned
from ordain.prompts.verb_step import VerbPrompt
from ordain.verbs.confirmed import declaration_digest
from ordain.verbs.yaml_value import YamlDocument

FILE_BYTES_MAX = 262_144
"""Largest verb file or template."""

FILES_MAX = 1000
"""Most verb files in one folder."""

TEMPLATE_NAMES = frozenset(VerbPrompt.__struct_fields__)
"""All that a verb's template may refer to: the fields of ``prompts.verb_step.VerbPrompt``."""

SAID_BY_ORDAIN = frozenset({"trust_class", "source", "declared_effect"})
"""What no file says of itself."""
NOT_WRITTEN = "what Ordain itself finds of a verb, which no file says"

_TEMPLATE_FILE = re.compile(r"[a-z][a-z0-9_.]{0,120}\.j2\Z")


class VerbFolder(Struct, frozen=True, kw_only=True):
    """What a folder declares: specs by verb id, template sources by file name, and the file each
    spec came from.

    ``declarations`` are the digests of what an operator is to confirm, by verb id.
    """

    specs: Mapping[str, VerbSpec]
    templates: Mapping[str, str]
    origins: Mapping[str, str]
    declarations: Mapping[str, str] = field(default_factory=dict[str, str])


def load_folder(folder: Path) -> VerbFolder:
    """Read every ``*.yaml`` file of the folder (not of folders below it) and the templates they
    name.

    Raises:
        ConfigurationError: the folder or a file cannot be read, a file is not a verb, a template is
            missing or invalid.
    """
    try:
        root = folder.resolve(strict=True)
        names = sorted(entry.name for entry in root.iterdir())
    except OSError as error:
        raise _invalid(str(folder), f"cannot be read: {error.strerror}") from error
    if misnamed := [name for name in names if name.endswith(".yml")]:
        raise _invalid(str(root / misnamed[0]), "a verb file is named <verb>.yaml")
    files = [name for name in names if name.endswith(".yaml")]
    if len(files) > FILES_MAX:
        raise _invalid(str(root), f"more than {FILES_MAX} verb files")
    specs: dict[str, VerbSpec] = {}
    templates: dict[str, str] = {}
    origins: dict[str, str] = {}
    declarations: dict[str, str] = {}
    for name in files:
        fields, spec = _load_verb(root, name)
        if spec.flow is not None:
            raise _invalid(str(root / name), "flow: only shipped verbs are flows of Ordain itself")
        specs[spec.name] = spec
        origins[spec.name] = str(root / name)
        for template in templates_of(spec):
            if template not in templates:
                templates[template] = _load_template(root, template, str(root / name))
        declarations[spec.name] = declaration_digest(
            fields, {one: templates[one] for one in templates_of(spec)}
        )
    return VerbFolder(
        specs=MappingProxyType(specs),
        templates=MappingProxyType(templates),
        origins=MappingProxyType(origins),
        declarations=MappingProxyType(declarations),
    )


def _load_verb(root: Path, name: str) -> tuple[dict[str, Any], VerbSpec]:
    """A declaration as it is written, and the verb that it makes."""
    from ordain.verbs.yaml_document import (
        parse_document,
    )  # lazy: the parser, which a start without foreign files does without

    source, stem = str(root / name), name.removesuffix(".yaml")
    document = parse_document(read_file(root, name), source)
    fields = document.value
    if not _is_mapping(fields):
        raise _invalid(source, "a verb file is a mapping", document.line(()))
    if fields.get("name") != stem:
        raise _invalid(
            source, f"name must be {stem!r}, as the file is named", document.line(("name",))
        )
    if said := sorted(SAID_BY_ORDAIN & fields.keys()):
        raise _invalid(source, f"{said[0]}: {NOT_WRITTEN}", document.line((said[0],)))
    whole = with_own_template(fields, root, stem)
    try:
        return whole, VerbSpec.model_validate_json(
            json.dumps({**whole, "trust_class": TrustClass.SKILL}, allow_nan=False)
        )
    except ValidationError as error:
        raise _unlike_a_verb(source, document, error) from error


def with_own_template(fields: dict[str, Any], folder: Path, stem: str) -> dict[str, Any]:
    """A declaration with the template that a plan has where it names none: ``<verb>_prompt.j2``
    beside it, where that is there.
    """
    default = f"{stem}_prompt.j2"
    if fields.get("plan") and "prompt_template" not in fields and (folder / default).exists():
        return {**fields, "prompt_template": default}
    return fields


def _is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _unlike_a_verb(
    source: str, document: YamlDocument, error: ValidationError
) -> ConfigurationError:
    (where, what), *others = faults_of(VerbSpec, error)
    more = f" (and {len(others)} more)" if others else ""
    return _invalid(source, placed(where, what, "the verb") + more, document.line(where))


def templates_of(spec: VerbSpec) -> list[str]:
    """The templates that a verb names."""
    named = [spec.prompt_template, *(step.prompt_template for step in spec.plan)]
    return [name for name in named if name is not None]


def read_template(root: Path, name: str, source: str, *, shipped: bool = False) -> str:
    """The text of a template that the verb file ``source`` names.

    Raises:
        ConfigurationError: it is not the name of one beside it, or cannot be read.
    """
    if not _TEMPLATE_FILE.match(name):
        raise _invalid(
            source, f"prompt_template {name[:60]!r} is not the name of a .j2 file beside it"
        )
    return read_file(root, name, shipped=shipped)


def _load_template(root: Path, name: str, source: str) -> str:
    text = read_template(root, name, source)
    for line, what in template_errors(text):
        raise _invalid(str(root / name), what, line or None)
    return text


def template_errors(text: str) -> Iterator[tuple[int, str]]:
    """Everything that keeps a text from being a verb's template, with its line (0: of no line)."""
    from jinja2 import (
        nodes,
    )  # lazy: the template engine, which a start without foreign templates does without

    from ordain.prompts.renderer import check_template, template_tree  # lazy: see above

    problem: ConfigurationError | None = None
    try:
        check_template(text)
    except ConfigurationError as error:
        problem = error
    try:
        tree = template_tree(text)
    except ConfigurationError as error:
        tree, problem = nodes.Template([]), problem or error
    if problem is not None:
        line = problem.details.get("line")
        yield (
            (line if isinstance(line, int) else 0),
            problem.message.removeprefix("prompt template: "),
        )
    uses = list(tree.find_all(nodes.Name))
    looping = {"loop"} if tree.find(nodes.For) is not None else set[str]()
    known = TEMPLATE_NAMES.union(looping, (use.name for use in uses if use.ctx != "load"))
    for use in uses:
        if use.name not in known:
            yield (
                use.lineno,
                f"unknown name {use.name!r}; known: {', '.join(sorted(TEMPLATE_NAMES))}",
            )


def read_file(root: Path, name: str, *, shipped: bool = False) -> str:
    """The text of a regular file that, links followed, lies in the folder. Whose a ``shipped`` one
    is its installation says.

    Raises:
        ConfigurationError: it is not there, not regular, too large, not UTF-8, a link that leaves
            the folder, or somebody else may have written it.
    """
    place = str(root / name)
    try:
        path = (root / name).resolve(strict=True)
        if not path.is_relative_to(root):
            raise _invalid(place, "a link that leaves the folder is refused")
        if not shipped and (fault := not_owned(root / name)):
            raise _invalid(place, f"not read: {fault}")
        # Not blocking: opening a FIFO must not hang. No link: the path was resolved, what is one
        # now was swapped in.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _invalid(place, "not a regular file")
            content = file.read(FILE_BYTES_MAX + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise _invalid(
            place,
            (
                "cannot be read: "
                f"{error.strerror if isinstance(error, OSError) else 'a loop of links'}"
            ),
        ) from error
    if len(content) > FILE_BYTES_MAX:
        raise _invalid(place, f"larger than {FILE_BYTES_MAX} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _invalid(place, "not UTF-8", content.count(b"\n", 0, error.start) + 1) from error


def _invalid(source: str, what: str, line: int | None = None) -> ConfigurationError:
    place = source if line is None else f"{source}:{line}"
    return ConfigurationError(
        f"{place}: {what}", code="invalid_verb", details={"file": source, "line": line}
    )
