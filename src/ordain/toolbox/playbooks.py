"""Playbooks: Markdown files with a small front matter, read strictly, found by words, their steps
given back as they stand.

A file::

    ---
    title: Service incident
    when: something that users depend on is down or slow
    keywords: [outage, incident, down]
    ---
    Free text, for people.

    1. First step.
       More of the first step.
    2. Second step.

Front matter needs ``title`` and one of ``when`` and ``keywords``. The steps are the top-level items
of the first list; a list with ``-`` does as well. Files are an operator's and may still be hostile:
sizes are bounded, links are not followed, an error names file and line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Protocol, cast

from ordain.errors import ConfigurationError

FILE_BYTES_MAX = 65_536
FILES_MAX = 200
STEPS_MAX = 100
STEP_CHARS_MAX = 2000
TITLE_MAX = 200
WHEN_MAX = 1000
KEYWORDS_MAX = 50
KEYWORD_MAX = 60
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")

_FENCE = "---"
_ITEM = re.compile(r"(?P<indent> {0,3})(?P<mark>\d{1,4}[.)]|[-*+])(?:[ \t]+(?P<text>.*)|[ \t]*)\Z")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)


class FrontMatter(Protocol):
    """A YAML text as data, and the line of each place in it."""

    @property
    def value(self) -> object:
        """The data."""
        ...

    def line(self, path: tuple[str, ...]) -> int:
        """Line (from 1) of a place."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookAids:
    """What reading an operator's files takes: a YAML reader that raises ``ConfigurationError``
    (text, name of the file), why a file may be somebody else's ("": it is not), and words that tell
    nothing.
    """

    parse: Callable[[str, str], FrontMatter]
    not_owned: Callable[[Path], str]
    common_words: Set[str]


@dataclass(frozen=True, slots=True)
class StepInFile:
    """One step as it stands in the file, without its number or mark; ``line`` is where it
    begins.
    """

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Playbook:
    """One playbook. ``name`` is the file's name without ``.md``."""

    name: str
    title: str
    when: str
    keywords: tuple[str, ...]
    steps: tuple[StepInFile, ...]


@dataclass(frozen=True, slots=True)
class PlaybookProblem:
    """A file that is no playbook, with file, line and what is wrong."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Match:
    """A playbook that fits a situation: which words of it, and how well (higher is better)."""

    playbook: Playbook
    score: int
    words: tuple[str, ...]


def parse_playbook(
    name: str, text: str, source: str, parse: Callable[[str, str], FrontMatter]
) -> Playbook:
    """The playbook in a file's text; ``source`` names the file in errors, ``parse`` reads its front
    matter.

    Raises:
        ConfigurationError: the text is no playbook; the message names file and line.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        raise _wrong(source, 1, "a playbook begins with a line --- and its front matter")
    end = next(
        (number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None
    )
    if end is None:
        raise _wrong(source, 1, "the front matter has no closing line ---")
    title, when, keywords = _front(parse("\n".join(["", *lines[1:end]]), source), source)
    return Playbook(name, title, when, keywords, _steps(lines, end + 1, source))


def _front(document: FrontMatter, source: str) -> tuple[str, str, tuple[str, ...]]:
    value = document.value
    if not isinstance(value, dict):
        raise _wrong(source, 2, "the front matter is a mapping: title, when, keywords")
    fields = cast("dict[str, object]", value)
    if unknown := sorted(set(fields) - {"title", "when", "keywords"}):
        raise _wrong(
            source,
            document.line((unknown[0],)),
            f"unknown key {unknown[0][:60]}; known are title, when, keywords",
        )
    title = _text(fields, "title", TITLE_MAX, document, source)
    when = _text(fields, "when", WHEN_MAX, document, source)
    keywords = fields.get("keywords", [])
    line = document.line(("keywords",))
    if not isinstance(keywords, list) or len(cast("list[object]", keywords)) > KEYWORDS_MAX:
        raise _wrong(source, line, f"keywords is a list of at most {KEYWORDS_MAX} texts")
    words = [
        word.strip() if isinstance(word, str) else "" for word in cast("list[object]", keywords)
    ]
    if any(not 0 < len(word) <= KEYWORD_MAX for word in words):
        raise _wrong(source, line, f"a keyword is a text of at most {KEYWORD_MAX} characters")
    if not title:
        raise _wrong(source, 2, "title is missing")
    if not when and not words:
        raise _wrong(source, 2, "when or keywords is missing: nobody would find it")
    return title, when, tuple(words)


def _text(
    fields: dict[str, object], name: str, most: int, document: FrontMatter, source: str
) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise _wrong(
            source, document.line((name,)), f"{name} is a text of at most {most} characters"
        )
    return " ".join(value.split())


def _steps(lines: Sequence[str], start: int, source: str) -> tuple[StepInFile, ...]:
    """The top-level items of the first list, each with the lines that belong to it."""
    steps: list[tuple[int, list[str]]] = []
    indent, fenced = 0, False
    for number in range(start, len(lines)):
        line = lines[number]
        found = None if fenced else _ITEM.match(line)
        if line.lstrip().startswith(("```", "~~~")) and not found:
            fenced = not fenced
        if found and (not steps or len(found["indent"]) <= indent):
            indent = len(found["indent"])
            steps.append((number + 1, [found["text"] or ""]))
        elif steps and (not line.strip() or line[:1] in " \t" or fenced):
            steps[-1][1].append(line)
        elif (
            steps and not line.lstrip().startswith("#") and lines[number - 1].strip() and not fenced
        ):
            steps[-1][1].append(line)  # a lazy continuation, as Markdown has it
        elif steps:
            break
    if not steps:
        raise _wrong(
            source, start + 1, "there is no list: the steps of a playbook are the items of a list"
        )
    if len(steps) > STEPS_MAX:
        raise _wrong(source, steps[STEPS_MAX][0], f"more than {STEPS_MAX} steps")
    made: list[StepInFile] = []
    for line_number, parts in steps:
        text = _dedented(parts)
        if not text:
            raise _wrong(source, line_number, "an empty step")
        if len(text) > STEP_CHARS_MAX:
            raise _wrong(source, line_number, f"a step is longer than {STEP_CHARS_MAX} characters")
        made.append(StepInFile(text, line_number))
    return tuple(made)


def _dedented(parts: Sequence[str]) -> str:
    rest = [line for line in parts[1:] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in rest), default=0)
    return "\n".join([parts[0].strip(), *(line[margin:].rstrip() for line in parts[1:])]).strip()


def find_playbooks(
    playbooks: Sequence[Playbook], situation: str, common_words: Set[str]
) -> list[Match]:
    """The playbooks that share words with the situation, the best first: keywords count 3, the
    title 2, ``when`` 1; by name where equal.
    """
    said = [_stem(word) for word in _WORD.findall(situation.casefold())]
    phrase = f" {' '.join(said)} "
    matches: list[Match] = []
    for book in playbooks:
        worth: dict[str, int] = {}
        for text, value in [(book.when, 1), (book.title, 2)]:
            for word in _WORD.findall(text.casefold()):
                if word not in common_words and _stem(word) in said:
                    worth[_stem(word)] = max(worth.get(_stem(word), 0), value)
        for keyword in book.keywords:
            stems = " ".join(_stem(word) for word in _WORD.findall(keyword.casefold()))
            if stems and f" {stems} " in phrase:
                worth[stems] = 3 * (1 + stems.count(" "))
        if worth:
            matches.append(Match(book, sum(worth.values()), tuple(sorted(worth))))
    return sorted(matches, key=lambda match: (-match.score, match.playbook.name))


def _stem(word: str) -> str:
    """English endings cut off, so that outages finds outage; both sides go through it."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a folder holds: playbooks by name, problems by file. ``own``: the operator's folder,
    else the shipped examples.
    """

    playbooks: tuple[Playbook, ...]
    problems: tuple[PlaybookProblem, ...]
    own: bool


class PlaybookFolder:
    """The playbooks of a folder, or the shipped ones where it has none; files that changed are read
    again at the next look.
    """

    def __init__(self, aids: PlaybookAids, folder: Path | None, shipped: Path) -> None:
        """Nothing is read before the first look. ``folder`` need not exist."""
        self._aids = aids
        self._folder = folder
        self._shipped = shipped
        self._read: dict[Path, tuple[tuple[int, int, int], Playbook | PlaybookProblem]] = {}

    def look(self) -> Shelf:
        """What is there now."""
        own = [] if self._folder is None else self._files(self._folder)
        if self._folder is not None and own:
            return self._shelf(self._folder, own, own=True)
        return self._shelf(self._shipped, self._files(self._shipped), own=False)

    def _files(self, folder: Path) -> list[str]:
        try:
            return sorted(
                entry.name
                for entry in folder.iterdir()
                if entry.name.endswith(".md") and not entry.name.startswith(".")
            )
        except OSError:  # not there, or not to be read: there are no playbooks in it
            return []

    def _shelf(self, folder: Path, names: list[str], *, own: bool) -> Shelf:
        found = [self._one(folder / name, own=own) for name in names[:FILES_MAX]]
        problems = [one for one in found if isinstance(one, PlaybookProblem)]
        if len(names) > FILES_MAX:
            problems.append(
                PlaybookProblem(
                    "", f"more than {FILES_MAX} files: {len(names) - FILES_MAX} were not read"
                )
            )
        self._read = {
            path: kept
            for path, kept in self._read.items()
            if path.parent == folder and path.name in names
        }
        return Shelf(tuple(one for one in found if isinstance(one, Playbook)), tuple(problems), own)

    def _one(self, path: Path, *, own: bool) -> Playbook | PlaybookProblem:
        name = path.name.removesuffix(".md")
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            return PlaybookProblem(
                name,
                f"{path.name}: cannot be read: {'a link' if path.is_symlink() else error.strerror}",
            )
        try:
            if own and (fault := self._aids.not_owned(path)):
                return PlaybookProblem(name, f"{path.name}: not read: {fault}")
            status = os.fstat(descriptor)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            kept = self._read.get(path)
            if kept is not None and kept[0] == stamp:
                return kept[1]
            made = self._made(
                name, path.name, _content(descriptor) if S_ISREG(status.st_mode) else None
            )
        except OSError as error:
            return PlaybookProblem(name, f"{path.name}: cannot be read: {error.strerror}")
        finally:
            os.close(descriptor)
        self._read[path] = (stamp, made)
        return made

    def _made(self, name: str, file: str, content: bytes | None) -> Playbook | PlaybookProblem:
        if content is None:
            return PlaybookProblem(name, f"{file}: not a regular file")
        if not NAME.match(name):
            return PlaybookProblem(
                name, f"{file}: a playbook's file is named with a to z, 0 to 9, - and _"
            )
        if len(content) > FILE_BYTES_MAX:
            return PlaybookProblem(name, f"{file}: larger than {FILE_BYTES_MAX} bytes")
        try:
            return parse_playbook(name, content.decode(), file, self._aids.parse)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            return PlaybookProblem(name, f"{file}:{line}: not UTF-8")
        except ConfigurationError as error:
            return PlaybookProblem(name, error.message)


def _content(descriptor: int) -> bytes:
    """The file's bytes, one more than it may have at most."""
    parts: list[bytes] = []
    while (left := FILE_BYTES_MAX + 1 - sum(map(len, parts))) > 0 and (
        part := os.read(descriptor, left)
    ):
        parts.append(part)
    return b"".join(parts)


def _wrong(source: str, line: int, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{source}:{line}: {what}", code="invalid_playbook", details={"file": source, "line": line}
    )
