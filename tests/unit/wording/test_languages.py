"""Files of phrases that somebody wrote: what is wrong with one is said with file and line, and a
hostile one costs nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import ConfigurationError
from ordain.wording.languages import (
    FILE_BYTES,
    PHRASE_TOKENS,
    PHRASES_MAX,
    WORDS_MAX,
    check_phrases,
    read_language,
    shipped_languages,
    shipped_table,
    table_with,
)
from ordain.wording.wording import compiled
from ordain.wording_files import FILES_MAX, read_folder


def own(text: str) -> tuple[object, ...]:
    """A file of one's own, read and checked."""
    language = read_language("own.toml", text.encode())
    check_phrases(language)
    return (language,)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[phrases\n", 1, "no TOML"),
        ("[phrases]\nstop = 'halt'\nstopp = 'halt'\n", 3, "no such sign"),
        ("[phrases]\nown = 'halt'\n", 2, "no such sign"),
        ("[phrases]\nstop = 5\n", 2, "a text with phrases"),
        ("[phrases]\nstop = ['halt']\n", 2, "a text with phrases"),
        ("[lists]\nyears = 'halt'\n", 2, "no such sign or list"),
        ("stop = 'halt'\n", 1, "nothing else"),
        ("phrases = 'halt'\n", 1, "nothing else"),
        ("language = 5\n", 1, "a name"),
        ("[phrases]\nstop = '''\nhalt\n? | halt now\n'''\n", 4, "does not begin with a word"),
        ("[phrases]\nstop = '''\nhalt\n, halt\n'''\n", 4, "does not begin with a word"),
        (f"[phrases]\nstop = '{'x' * 121}'\n", 2, "more than 120 characters"),
        (f"[phrases]\nstop = '{'x ' * (PHRASE_TOKENS + 1)}'\n", 2, "words"),
        ('[phrases]\nstop = "a\\u202eb"\n', 0, "cannot be seen"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, says: str) -> None:
    """Unknown signs and lists, phrases that could not be found, other values: an error with file
    and line.
    """
    with pytest.raises(ConfigurationError, match=says) as caught:
        own(text)
    assert caught.value.code == "invalid_wording"
    assert caught.value.details["file"] == "own.toml"
    assert (caught.value.details["line"] or 0) == line


@pytest.mark.parametrize(
    "encoded",
    [b"\xff", b"[phrases]\nstop = '\xff'", b"x" * (FILE_BYTES + 1), b"a = " + b"[" * 5000],
)
def test_a_hostile_file_is_refused(encoded: bytes) -> None:
    """No UTF-8, too much of it, or too deep."""
    with pytest.raises(ConfigurationError):
        read_language("own.toml", encoded)


def test_too_many_are_refused(tmp_path: Path) -> None:
    """A folder's phrases, words and files are bounded."""
    for section, many in (
        ("[phrases]\nstop", PHRASES_MAX // 2 + 1),
        ("[lists]\nmonths", WORDS_MAX // 2 + 1),
    ):
        for name in ("a.toml", "b.toml"):
            text = f"{section} = '" + "|".join(f"x{number}" for number in range(many)) + "'"
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(
            ConfigurationError, match=f"more than ({PHRASES_MAX} phrases|{WORDS_MAX} words)"
        ):
            read_folder(tmp_path, checked=True)
    for number in range(FILES_MAX + 1):
        (tmp_path / f"{number}.toml").touch()
    with pytest.raises(ConfigurationError, match=f"more than {FILES_MAX} files"):
        read_folder(tmp_path)


def test_only_what_is_meant_as_a_file_of_phrases_is_read(tmp_path: Path) -> None:
    """Notes and what an editor leaves behind are passed over; another format is refused by name; no
    folder is no file.
    """
    assert read_folder(tmp_path / "nowhere") == ()
    (tmp_path / ".own.toml").write_text("[", encoding="utf-8")
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    assert read_folder(tmp_path) == ()
    (tmp_path / "own.yaml").write_text("stop: halt", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is named"):
        read_folder(tmp_path)


def test_ones_own_phrases_come_first() -> None:
    """What an operator says of a phrase holds against what was shipped; everything else stays."""
    languages = own("[phrases]\nstop = 'weiter'\n[lists]\nmonths = 'heuert'\n")
    wording = compiled(table_with(languages))  # type: ignore[arg-type]
    assert wording.cues("weiter").stop == 2
    assert wording.cues("5 heuert").date_time
    assert wording.cues("stop").stop == 2
    assert compiled(shipped_table()).cues("weiter").stop == 0


def test_a_file_that_says_nothing_changes_nothing() -> None:
    """An empty file leaves the shipped table as it is."""
    assert table_with(own("language = 'mine'\n")) is shipped_table()  # type: ignore[arg-type]


@given(st.text(st.characters(codec="utf-8", exclude_characters="'|\n\r"), max_size=40))
def test_any_phrase_is_usable_or_refused(phrase: str) -> None:
    """Whatever stands for a phrase, it is refused with a reason, or a message that is that phrase
    is read without an error.
    """
    try:
        languages = own(f"[phrases]\nstop = '{phrase}'\n")
    except ConfigurationError:
        return
    from_file = languages[0].phrases.get("stop", ())  # type: ignore[attr-defined]
    assert from_file in ((phrase.strip(),), ())


def test_the_line_of_every_shipped_phrase_is_found() -> None:
    """A phrase is found on the line where it stands, under its own sign."""
    for language in shipped_languages():
        lines = language.source.split("\n")
        for sign, phrases in language.phrases.items():
            for phrase in phrases[:: max(1, len(phrases) // 3)]:
                assert phrase in lines[language.line(sign, phrase) - 1]


def test_the_shipped_files_pass_their_own_check() -> None:
    """What operators are held to holds for the shipped files as well."""
    for language in shipped_languages():
        check_phrases(language)
