"""What a typed line means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.slash import (
    ABOUT,
    MODES,
    Command,
    Slash,
    SlashWords,
    Unclear,
    help_lines,
    meaning,
    mode_called,
)
from ordain.contracts.conversation import ExecMode


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", None),
        ("   ", None),
        ("hello /stop", SlashWords(text="hello /stop")),
        (" //etc/hosts is what? ", SlashWords(text="/etc/hosts is what?")),
        ("/stop", Command(name=Slash.STOP)),
        ("/h", Command(name=Slash.HELP)),
        ("/mode agent", Command(name=Slash.MODE, words=("agent",))),
        ("/mode chat", Command(name=Slash.MODE, words=("chat",))),
        ("/mode brain", Command(name=Slash.MODE, words=("chat",))),
        ("/verb a b", Command(name=Slash.VERB, words=("a", "b"))),
        ("/session", Command(name=Slash.SESSION)),
    ],
)
def test_meaning(line: str, meant: object) -> None:
    """A slash begins a command, which may be shortened; two begin a text."""
    assert meaning(line) == meant


@pytest.mark.parametrize(
    "line",
    [
        "/",
        "/st",
        "/s",
        "/nothing",
        "/stop now",
        "/mode cortex",
        "/mode agent brain",
        "/session a b",
        "/etc/hosts",
    ],
)
def test_what_is_unclear_is_not_said(line: str) -> None:
    """What is no command is never sent to a model by mistake."""
    assert isinstance(meaning(line), Unclear)


@given(st.text(max_size=60))
def test_meaning_is_total(line: str) -> None:
    """Every line means something or nothing; a text keeps its words."""
    meant = meaning(line)
    if isinstance(meant, SlashWords) and not line.strip().startswith("/"):
        assert meant.text == line.strip()


def test_help_names_every_command() -> None:
    """The list has a line for each."""
    assert len(help_lines()) == len(ABOUT) == len(Slash)


def test_every_mode_has_a_word_for_people() -> None:
    """Each mode of a message has one word; a message's own names it as well, and is shown where it
    is a word that people know.
    """
    assert set(MODES.values()) == set(ExecMode)
    assert [mode_called(mode) for mode in ExecMode] == list(MODES)
    assert "brain" not in " ".join((*MODES, *help_lines()))
