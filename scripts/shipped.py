"""Write down what ships as a start reads it, without parsing YAML, TOML or a function's signature:
``python -m scripts.shipped`` compares, ``--write`` writes.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordain.shipped_verbs import shipped_makers
from ordain.verbs.builtin.names import no_library
from ordain.verbs.folder import with_own_template
from ordain.verbs.shipped_file import SHIPPED
from ordain.verbs.yaml_document import parse_document
from ordain.wording.engine_1.phrases import folded_keys, is_plain
from ordain.wording.languages import shipped_languages, table_of
from ordain.wording.packaged import KEYS

ORDAIN = Path(__file__).resolve().parent.parent / "src" / "ordain"
VERBS = ORDAIN / "verbs"


def functions() -> list[dict[str, Any]]:
    """Each verb that is always there and has code: where its function stands, and its
    declaration.
    """
    made = [make() for make in shipped_makers(no_library).values()]
    return [
        {"origin": one.origin, "spec": one.spec.model_dump(mode="json", exclude_unset=True)}
        for one in made
    ]


def plans() -> dict[str, Any]:
    """The prompt plans and the verbs that are flows, by id."""
    folder = VERBS / "builtin"
    return {
        name: with_own_template(fields, folder, name) for name, fields in documents(folder).items()
    }


def documents(folder: Path) -> dict[str, Any]:
    """A folder's YAML files, by name."""
    return {file.stem: read(file) for file in sorted(folder.glob("*.yaml"))}


def read(file: Path) -> Any:
    """A YAML file as plain data."""
    return parse_document(file.read_text(encoding="utf-8"), str(file)).value


def seats() -> dict[str, Any]:
    """The rows of the council's file, by name."""
    return {row["name"]: row for row in read(VERBS / "council" / "seats.yaml")}


def policy() -> dict[str, Any]:
    """The shipped policy."""
    return tomllib.loads((ORDAIN / "policy.toml").read_text(encoding="utf-8"))


def table() -> Any:
    """The phrases of all languages."""
    return msgspec.to_builtins(table_of(shipped_languages()))


def keys() -> dict[str, list[tuple[str, ...]]]:
    """What the phrases of all languages are compared by, where that is not plain to see."""
    read = table_of(shipped_languages())
    said = (phrases for _, phrases in read.phrases)
    every = {phrase for phrases in (*said, *read.lists.values()) for phrase in phrases}
    found = {phrase: sorted(folded_keys(phrase)) for phrase in every if not is_plain(phrase)}
    return {phrase: found[phrase] for phrase in sorted(found) if found[phrase]}


BY_LINE = ORDAIN / "wording" / "tables" / f"{KEYS}.json"
"""Has thousands of entries, each a line."""
WRITTEN: Mapping[Path, Callable[[], Any]] = {
    ORDAIN / "shipped_verbs.json": functions,
    VERBS / "builtin" / SHIPPED: plans,
    VERBS / "cards" / SHIPPED: lambda: documents(VERBS / "cards" / "shipped"),
    VERBS / "workflow" / SHIPPED: lambda: documents(VERBS / "workflow" / "shipped"),
    VERBS / "council" / SHIPPED: seats,
    ORDAIN / "wording" / "tables" / SHIPPED: table,
    BY_LINE: keys,
    ORDAIN / "policy.json": policy,
}
"""What makes each file."""


def rendered(file: Path) -> str:
    """What is to stand in a file."""
    found = WRITTEN[file]()
    if file != BY_LINE:
        return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    entries = (json.dumps({name: one}, ensure_ascii=False)[1:-1] for name, one in found.items())
    return "{\n" + ",\n".join(entries) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Compare or write."""
    texts = {file: rendered(file) for file in WRITTEN}
    if arguments == ["--write"]:
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
    stale = [
        str(file.relative_to(ORDAIN))
        for file, text in texts.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    if stale:
        print(f"{', '.join(stale)}: not current; run: .venv/bin/python -m scripts.shipped --write")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
