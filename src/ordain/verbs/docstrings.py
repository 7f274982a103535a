"""Google-style docstrings read as data: what a tool is for, and what each argument means."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

from msgspec import Struct

_SECTION = re.compile(r"(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):\s*\Z")
_ARGUMENT = re.compile(r"\s+(?P<name>\w+)\s*(\([^)]*\))?:\s*(?P<text>.*)")


class Documented(Struct, frozen=True):
    """The words before the first section, and the meaning of each argument of the ``Args``
    section.
    """

    description: str
    arguments: Mapping[str, str]


def read_docstring(docstring: str | None) -> Documented:
    """Split a docstring; both parts are empty where there is none."""
    prose: list[str] = []
    arguments: dict[str, str] = {}
    section, name = "", ""
    for line in inspect.cleandoc(docstring or "").splitlines():
        if header := _SECTION.match(line):
            section, name = header[1], ""
        elif not section:
            prose.append(line)
        elif section.startswith("Arg"):
            if found := _ARGUMENT.match(line):
                name = found["name"]
                arguments[name] = found["text"].strip()
            elif name and line.strip():
                arguments[name] += " " + line.strip()
    return Documented(" ".join("\n".join(prose).split()), arguments)
