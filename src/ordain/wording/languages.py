"""Files of phrases, one per language: their form, their bounds, and the table that they come to.
What stands in a file is handed over.

A file is TOML: ``language``, a table ``phrases`` of texts by sign, their phrases separated by ``|``
or line ends, and a table ``lists`` of words in the same form. The shipped ones stand in ``tables``;
an operator's own have the same form, and what they say of a phrase comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from ordain.contracts.toml_text import toml_values
from ordain.errors import ConfigurationError
from ordain.wording.engines import ENGINES, NEWEST, WordingEngine
from ordain.wording.packaged import packaged_files, packaged_table
from ordain.wording.table import Table

SUFFIX: Final = ".toml"
FILE_BYTES: Final = 512 * 1024
PHRASES_MAX: Final = 20_000
"""Most phrases of an operator's own, all files together."""
WORDS_MAX: Final = 200
"""Most words of an operator's own lists: they stand side by side in one pattern, which is looked
for at every word of a message.
"""
PHRASE_CHARS: Final = 120
PHRASE_TOKENS: Final = 16
"""A phrase of many words is looked for at every place where its first one stands."""
WORDS_BEYOND: Final = 0x2000
"""From here on symbols are words: arrows, emoji."""
_LINE: Final = re.compile(r"\(at line (\d+)")
_KEY: Final = re.compile(r"\s*(?:\[|\"?[a-z_]+\"?\s*=)")
_SEPARATOR: Final = re.compile(r"[|\n]")


class Language(Struct, frozen=True, kw_only=True):
    """One file: its phrases by sign and its words by list, as written, and where they stand."""

    file: str
    name: str
    phrases: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, tuple[str, ...]]
    source: str

    @property
    def count(self) -> int:
        """How many phrases it has."""
        return sum(map(len, self.phrases.values()))

    @property
    def words(self) -> int:
        """How many words its lists have."""
        return sum(map(len, self.lists.values()))

    def line(self, name: str, phrase: str) -> int:
        """The line of a phrase under a sign or list; the first one, where it is written twice. 0:
        it is written in another spelling of TOML.
        """
        whole = re.compile(rf"(?:^|[|'\"=])\s*{re.escape(phrase)}\s*(?:$|[|'\"])")
        under = re.compile(rf"\s*\"?{re.escape(name)}\"?\s*=(.*)", re.DOTALL)
        inside = False
        for number, line in enumerate(self.source.split("\n"), start=1):
            if (begins := under.match(line)) is not None:
                inside, line = True, begins[1]  # noqa: PLW2901 - what stands behind the key
            elif _KEY.match(line) is not None:
                inside = False
            if inside and whole.search(line) is not None:
                return number
        return 0


def read_language(file: str, encoded: bytes) -> Language:
    """A file's phrases.

    Raises:
        ConfigurationError: it is no TOML, too large, or has a sign, list or phrase that the newest
            engine cannot use. Names file and line.
    """
    if len(encoded) > FILE_BYTES:
        raise wrong_file(file, f"more than {FILE_BYTES // 1024} KB")
    try:
        source = encoded.decode()
        content: dict[str, Any] = toml_values(source)
    except UnicodeDecodeError as error:
        raise wrong_file(
            file, "this is not UTF-8", encoded[: error.start].count(b"\n") + 1
        ) from None
    except ValueError as error:
        at = _LINE.search(str(error))
        raise wrong_file(
            file, f"this is no TOML: {str(error)[:200]}", int(at[1]) if at else 0
        ) from None
    source = source.replace("\r\n", "\n")
    for name, value in content.items():
        if name not in ("language", "phrases", "lists") or isinstance(value, dict) is (
            name == "language"
        ):
            raise wrong_file(
                file,
                f"{name}: a file has `language`, [phrases] and [lists], nothing else",
                _line_of(source, name),
            )
    language = content.get("language", file.rpartition("/")[2].removesuffix(SUFFIX))
    if not isinstance(language, str) or not 0 < len(language) <= PHRASE_CHARS:
        raise wrong_file(file, "language: a name", _line_of(source, "language"))
    engine = ENGINES[NEWEST]
    return Language(
        file=file,
        name=language,
        phrases=_texts(file, source, content.get("phrases", {}), engine.signs),
        lists=_texts(file, source, content.get("lists", {}), engine.lists),
        source=source,
    )


def _texts(
    file: str, source: str, content: Mapping[str, Any], known: Iterable[str]
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, text in content.items():
        if name not in known:
            raise wrong_file(
                file,
                f"{name[:40]}: there is no such sign or list; there are {', '.join(sorted(known))}",
                _line_of(source, name),
            )
        if not isinstance(text, str):
            raise wrong_file(
                file, f"{name}: a text with phrases, separated by |", _line_of(source, name)
            )
        found[name] = tuple(phrase for part in _SEPARATOR.split(text) if (phrase := part.strip()))
    return found


def check_phrases(language: Language) -> None:
    """Hold what somebody else wrote against what the newest engine can look for.

    Raises:
        ConfigurationError: a phrase is too long, or holds no word and would be found between words.
            Names file and line.
    """
    engine = ENGINES[NEWEST]
    for name, phrases in (*language.phrases.items(), *language.lists.items()):
        for phrase in phrases:
            why = _unusable(phrase, engine)
            if why:
                raise wrong_file(
                    language.file, f"{name}: {phrase[:60]!r} {why}", language.line(name, phrase)
                )


def _unusable(phrase: str, engine: WordingEngine) -> str:
    if len(phrase) > PHRASE_CHARS:
        return f"has more than {PHRASE_CHARS} characters"
    if not phrase.isprintable():
        return "holds a character that cannot be seen"
    found = engine.keys(phrase)
    if not found or not all(key[0][0].isalnum() or ord(key[0][0]) > WORDS_BEYOND for key in found):
        return "does not begin with a word"
    return (
        f"has more than {PHRASE_TOKENS} words"
        if any(len(key) > PHRASE_TOKENS for key in found)
        else ""
    )


def check_sizes(folder: str, languages: Sequence[Language]) -> None:
    """Hold what somebody else wrote against the bounds of a table that is still quick.

    Raises:
        ConfigurationError: there are too many phrases or words.
    """
    if sum(language.count for language in languages) > PHRASES_MAX:
        raise wrong_file(folder, f"more than {PHRASES_MAX} phrases")
    if sum(language.words for language in languages) > WORDS_MAX:
        raise wrong_file(folder, f"more than {WORDS_MAX} words in [lists]")


@lru_cache(maxsize=1)
def shipped_languages() -> tuple[Language, ...]:
    """The files that are part of the package; read when they are first asked for."""
    return tuple(read_language(file, encoded) for file, encoded in packaged_files(SUFFIX))


@lru_cache(maxsize=1)
def shipped_table() -> Table:
    """The table of the shipped files alone, as ``python -m scripts.shipped --write`` made it of
    them: a start reads no TOML.
    """
    return Table.from_bytes(packaged_table("shipped"))


def table_of(shipped: Sequence[Language], own: Sequence[Language] = ()) -> Table:
    """The table of these files. Where two of them, or two signs, claim a phrase: own files come
    before the shipped ones, then the newest engine's precedence.
    """
    engine = ENGINES[NEWEST]
    claims = [
        (sign, [phrase for language in group for phrase in language.phrases.get(sign, ())])
        for group in (own, shipped)
        for sign in engine.signs
    ]
    every = (*own, *shipped)
    return Table.of(
        claims,
        {
            name: [word for language in every for word in language.lists.get(name, ())]
            for name in engine.lists
        },
    )


def table_with(own: Sequence[Language]) -> Table:
    """The shipped table with an operator's own files."""
    return (
        table_of(shipped_languages(), own)
        if any(language.phrases or language.lists for language in own)
        else shipped_table()
    )


def _line_of(source: str, name: str) -> int:
    """The line on which a key or a section is named; 0 where it is spelled otherwise."""
    named = re.compile(rf"\s*\[?\s*\"?{re.escape(name)}\"?\s*[\]=.]")
    return next(
        (
            number
            for number, line in enumerate(source.split("\n"), start=1)
            if named.match(line) is not None
        ),
        0,
    )


def wrong_file(file: str, message: str, line: int = 0) -> ConfigurationError:
    """What is wrong with a file of phrases, or with a folder of them."""
    place = f"{file}:{line}" if line else file
    return ConfigurationError(
        f"{place}: {message}", code="invalid_wording", details={"file": file, "line": line or None}
    )
