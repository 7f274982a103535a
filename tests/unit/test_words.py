"""The pages that name the house's parts, held to the code: what `words.md` and `architecture.md`
call a module, a class or a field is one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from tests.parsed import HOUSE, ROOT, SOURCES

ROOMS = {
    path.stem for path in HOUSE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
}
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
DEFINED = re.compile(r"^(?:class )?([A-Z_]\w*)(?=\(|\[.*[:=]|:| =)", re.MULTILINE)
"""A class or a constant, at the beginning of a line of a module."""


def quoted(page: str) -> list[str]:
    """The identifiers, dotted or not, that a page quotes as code outside its blocks and its
    diagrams.
    """
    text = re.sub(
        r"```.*?```", "", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )
    return sorted({code for code in re.findall(r"`([^`\n]+)`", text) if NAME.fullmatch(code)})


@cache
def class_homes() -> dict[str, list[str]]:
    """The modules that each public class and constant of the house stands in."""
    homes: dict[str, list[str]] = {}
    for source in SOURCES:
        path = source.path.relative_to(HOUSE).with_suffix("")
        module = ".".join(("ordain", *path.parts)).removesuffix(".__init__")
        for name in DEFINED.findall(source.text):
            homes.setdefault(name, []).append(module)
    return homes


def has(owner: Any, name: str) -> bool:
    """Whether a module has a name, or a class a field, a method, a member, or an attribute that it
    gives itself.
    """
    if hasattr(owner, name) or any(
        name in getattr(one, "__annotations__", ()) for one in getattr(owner, "__mro__", ())
    ):
        return True
    return (
        inspect.isclass(owner)
        and re.search(rf"\bself\.{name}(:| =|,)", inspect.getsource(owner)) is not None
    )


def resolves(code: str) -> bool:
    """Whether a dotted name below `ordain`, or a class or constant of it with perhaps one field, is
    there.
    """
    first, *rest = code.removeprefix("ordain.").split(".")
    homes = class_homes()
    if first in homes and first not in ROOMS:
        return any(
            not rest or has(getattr(import_module(module), first), rest[0])
            for module in homes[first]
        )
    owner: Any = import_module("ordain")
    path = "ordain"
    for part in (first, *rest):
        try:
            path, owner = f"{path}.{part}", import_module(f"{path}.{part}")
        except ModuleNotFoundError:
            if not has(owner, part):
                return False
            owner = getattr(owner, part, None)
    return True


def named_in_words() -> Iterator[str]:
    """What the column *In the code* of `words.md` names."""
    for line in (ROOT / "docs" / "words.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| **"):
            yield from re.findall(r"`([^`]+)`", line.rstrip("| ").rpartition(" | ")[2])


def means_a_part(code: str) -> bool:
    """Whether a quoted name in running text can only be meant as a part of the house: a module
    below its room, or a class.
    """
    first, *rest = code.split(".")
    return (first in ROOMS and bool(rest)) or bool(re.match(r"[A-Z][a-z]\w*[a-z]", first))


@pytest.mark.parametrize("code", sorted(set(named_in_words()) - {"turn"}))  # a kind's name
def test_what_words_names_is_there(code: str) -> None:
    """Each name in the last column of the list of words is a module, a class, a constant or a field
    of one.
    """
    assert resolves(code), code


@pytest.mark.parametrize("page", ["architecture.md", "words.md"])
def test_what_pages_name_is_there(page: str) -> None:
    """Each module below its room and each class that a page quotes is in the code."""
    named = [code for code in quoted(page) if means_a_part(code)]
    assert len(named) > 20
    assert [code for code in named if not resolves(code)] == []


def test_the_map_of_the_house_is_the_house() -> None:
    """The architecture's picture of the folders shows every room, and no other."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = re.search(r"```\nsrc/ordain/\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    rooms = set(re.findall(r"^  ([a-z_]+)(?:/|\.py) ", shown[1], re.MULTILINE))
    assert rooms == ROOMS - {"__init__", "__main__"}


@pytest.mark.parametrize(
    "code",
    ["runtime.received", "flows.kind.Sort", "Kind.nothing", "WatchProfile", "ports.store.Store"],
)
def test_what_is_not_there_is_found_out(code: str) -> None:
    """A module, class or field that the house has not does not pass for one."""
    assert not resolves(code)


def test_a_stranger_reads_the_architecture_in_twenty_minutes() -> None:
    """At 175 words a minute, pictures and diagrams counted; what is longer belongs into a guide or
    a reference page.
    """
    assert len((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()) <= 20 * 175


def test_a_guide_is_read_in_nine_minutes() -> None:
    """A guide says how one does something, in at most 1,500 words; what is looked up stands in a
    page whose name ends in `-reference`.
    """
    pages = [
        path
        for path in sorted((ROOT / "docs" / "guides").glob("*.md"))
        if not path.stem.endswith("-reference")
    ]
    words = {path.name: len(path.read_text(encoding="utf-8").split()) for path in pages}
    assert len(words) > 25
    assert {name: count for name, count in words.items() if count > 1_500} == {}


def test_every_guide_is_listed() -> None:
    """The index links each guide, and each reference beside one."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [
        path.name
        for path in sorted((ROOT / "docs" / "guides").glob("*.md"))
        if f"](guides/{path.name})" not in index
    ] == []


def test_every_decision_is_listed() -> None:
    """The index names each by its number and title, and none that there is not."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\d{4})\]\((decisions/[^)]+)\) \| (.+) \|$", index, re.MULTILINE)
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    titles = [
        path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for path in decisions
    ]
    assert [(f"{number} {title}", where) for number, where, title in listed] == [
        (title, f"decisions/{path.name}") for title, path in zip(titles, decisions, strict=True)
    ]
