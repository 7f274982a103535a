"""Which declarations an operator has confirmed: digests, and the file that keeps them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import ConfigurationError
from ordain.verbs.confirmed import (
    FILE,
    FILE_BYTES,
    Confirmation,
    declaration_digest,
    read_confirmed,
    write_confirmed,
)
from ordain.verbs.folder import load_folder
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.own_verbs import OwnVerbs
from ordain.verbs.registry import Registry

VERB = """\
name: tell
description: Says what it is told.
effect: read
services: [LLMGatewayService]
plan:
  - name: ask
    order: 0
"""
CODE = '''\
from ordain import verb

WORDS = {words}


@verb(effect="read", name="count.{name}")
def count(text: str) -> int:
    """Count."""
    return WORDS
'''
KEPT = Confirmation(digest="a" * 64, by="local:ada", at="2026-01-01T00:00:00+00:00")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
)
fields = st.dictionaries(st.text(max_size=6), json_values, max_size=4)


@given(fields, fields)
def test_a_digest_tells_declarations_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Equal declarations have equal digests in whatever order their keys stand; others have others;
    a template counts.
    """
    turned = dict(reversed(one.items()))
    assert declaration_digest(turned, {}) == declaration_digest(one, {})
    assert (declaration_digest(one, {}) == declaration_digest(other, {})) == (
        repr(sorted(one.items())) == repr(sorted(other.items()))
    )
    assert declaration_digest(one, {"x.j2": "a"}) != declaration_digest(one, {"x.j2": "b"})


def digest(folder: Path, text: str = VERB, template: str = "{{ input.text | json }}") -> str:
    (folder / "tell.yaml").write_text(text, encoding="utf-8")
    (folder / "tell_prompt.j2").write_text(template, encoding="utf-8")
    return load_folder(folder).declarations["tell"]


def test_what_a_verb_is_made_of_is_in_its_digest(tmp_path: Path) -> None:
    """A key, a value and a word of the template change it; a comment and the order of keys do
    not.
    """
    first = digest(tmp_path)
    assert digest(tmp_path, "# about\n" + VERB) == first
    lines = VERB.splitlines(keepends=True)
    assert digest(tmp_path, "".join([*lines[1:], lines[0]])) == first
    assert (
        len(
            {
                first,
                digest(tmp_path, VERB + "timeout_ms: 5\n"),
                digest(tmp_path, template="{{ input.text | cut(9) | json }}"),
            }
        )
        == 3
    )


def test_a_python_verb_is_all_of_its_file(tmp_path: Path) -> None:
    """Whatever changes in the file asks again, for each of its verbs; what is unconfirmed is the
    operator's own alone.
    """
    own = OwnVerbs(tmp_path, HttpAccess(), python=True)
    (tmp_path / "a.py").write_text(CODE.format(name="a", words=1), encoding="utf-8")
    registry = own.added_to(Registry())[0]
    assert registry.unconfirmed == ("count.a",)
    assert registry.specs["count.a"].trust_class == "skill"
    confirmed = registry.confirmed_by(registry.declarations)
    assert confirmed.unconfirmed == ()
    (tmp_path / "a.py").write_text(CODE.format(name="a", words=2), encoding="utf-8")
    again = own.added_to(Registry())[0].confirmed_by(registry.declarations)
    assert again.unconfirmed == ("count.a",)
    own.files.forget_others([])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The file gives back what was put into it, and is its owner's alone; without one nothing is
    confirmed.
    """
    file = tmp_path / FILE
    assert read_confirmed(file) == {}
    write_confirmed(file, {"a.b": KEPT})
    write_confirmed(file, {"a.b": KEPT, "c": KEPT})
    assert read_confirmed(file) == {"a.b": KEPT, "c": KEPT}
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 2, "verbs": {}}',
        b'{"version": 1, "verbs": {"a": {"digest": "A", "by": "", "at": ""}}}',
        b'{"version": 1, "verbs": {"a\\nb": {"digest": "' + b"a" * 64 + b'", "by": "", "at": ""}}}',
        b'{"version": 1, "verbs": {"a\\n": {"digest": "' + b"a" * 64 + b'", "by": "", "at": ""}}}',
        b'{"version": 1, "verbs": {"a": {"digest": "' + b"a" * 64 + b'\\n", "by": "", "at": ""}}}',
        b'{"version": 1, "verbs": {}, "more": 1}',
        b" " * (FILE_BYTES + 1),
    ],
    ids=[
        "empty",
        "cut",
        "no text",
        "deep",
        "newer",
        "no digest",
        "line end",
        "last line end",
        "line end in a digest",
        "unknown",
        "huge",
    ],
)
def test_a_file_that_is_none_confirms_nothing(tmp_path: Path, content: bytes) -> None:
    """Whatever stands there is refused with the file's name, and never half read."""
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ConfigurationError, match=FILE) as refused:
        read_confirmed(tmp_path / FILE)
    assert refused.value.code == "invalid_confirmations"


def test_a_file_that_others_could_have_written_confirms_nothing(tmp_path: Path) -> None:
    """Neither one that others may write, nor a link, a folder or a pipe."""
    file = tmp_path / FILE
    write_confirmed(file, {"a": KEPT})
    file.chmod(0o666)
    with pytest.raises(ConfigurationError, match="can be written by others"):
        read_confirmed(file)
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_confirmed(file)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        read_confirmed(file)
