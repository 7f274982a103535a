"""Words of command lines that people copy: a shell reads the name that was meant, and runs
nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.contracts.shell_words import shell_word
from ordain.contracts.visible import visible_line
from ordain.rules.plain_reply import cleaned

BASH, DASH = shutil.which("bash"), shutil.which("dash")
ODD = (
    "x;touch PWNED $(touch PWNED)`touch PWNED`' \"\\!~*?&|<>#\n"
    "\r\t\x1b[2J\u200b\u202e\u00ad\u00a0\u3164\ue000äß東\U000e0041\udcff"
)
NAMES = st.text(st.sampled_from(ODD), min_size=1, max_size=30)


def read_by(shell: str, word: str) -> bytes:
    """The bytes of what a shell makes of a word."""
    line = b"printf %s " + os.fsencode(word)
    return subprocess.run(
        [shell, "-c", line],
        check=True,
        capture_output=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/nowhere"},
    ).stdout


@pytest.mark.skipif(BASH is None, reason="no bash here")
@settings(max_examples=40, deadline=None)
@given(NAMES)
def test_a_shell_reads_the_name(name: str) -> None:
    """Whatever is in it, as the bytes that it has on disk."""
    assert BASH is not None
    assert read_by(BASH, shell_word(name)) == os.fsencode(name)


@given(NAMES)
def test_it_is_told_as_it_is(name: str) -> None:
    """No place that tells foreign text changes a sign of it: what is copied is what was made."""
    word = shell_word(name)
    assert visible_line(word, 10_000) == cleaned(word) == word


@pytest.mark.skipif(DASH is None, reason="no dash here")
@settings(max_examples=40, deadline=None)
@given(NAMES)
def test_a_shell_that_knows_less_runs_nothing(name: str) -> None:
    """Where the quotation with numbers is not known, the word is another name, and still one."""
    assert DASH is not None
    word = shell_word(name)
    read = read_by(DASH, word)
    assert read == (
        os.fsencode(name) if not word.startswith("$") else os.fsencode(f"${word[2:-1]}")
    )


def test_what_a_shell_reads_as_it_is_stays() -> None:
    """No quotation marks where none are needed."""
    assert shell_word("/srv/ordain-2/a.b_c") == "/srv/ordain-2/a.b_c"
    assert shell_word("/srv/a b") == "'/srv/a b'"
    assert shell_word("/x\x1b") == "$'/x\\033'"
