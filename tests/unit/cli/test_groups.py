"""Groups of commands are known by name, and stand where their name says."""

from pathlib import Path

import pytest

import ordain.cli
from ordain.cli import main
from ordain.cli.commands import app, tree
from ordain.cli.groups import BEGIN, GROUPS, HOUSE, KNOWN, MEANS, RUNS, shown_default
from ordain.errors import CallerError


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_stands_where_it_is_looked_for(name: str) -> None:
    """Its module has it, under the same name, with the line of help that the tree tells without it,
    and with commands.
    """
    group = tree[name]
    assert group.name == (name,)
    assert group.help == GROUPS[name][1]
    assert set(group) - {"--help", "-h"}


def test_every_module_of_commands_is_in_the_tree() -> None:
    """A module that nobody names would have commands that nobody can give."""
    modules = {path.stem for path in Path(ordain.cli.__path__[0]).glob("commands_*.py")}
    assert modules == {module for module, _ in GROUPS.values()}


def test_the_help_begins_with_what_a_newcomer_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command stands under a title that says what it is for, and none under another."""
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    titles = [one.name for one in (BEGIN, RUNS, KNOWN, MEANS, HOUSE)]
    assert [line.split("─")[1].strip() for line in shown.splitlines() if "╭" in line] == titles


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (False, None),
        ("", None),
        ((), None),
        (0, "0"),
        (True, "True"),
        (("default", "shop"), "default, shop"),
        (50, "50"),
    ],
)
def test_a_default_is_shown_where_there_is_one(value: object, shown: str | None) -> None:
    """And in words: the help of a command holds nothing of Python's."""
    assert shown_default(value) == shown


def test_no_help_shows_what_python_calls_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Commands of the tree and those of its groups alike."""
    for words in (["chat"], ["replay"], ["token", "create"], ["runs", "list"], ["models", "add"]):
        assert main([*words, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "--json" in shown
        assert not any(one in shown for one in ("False]", "()]", "('", '""'))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("chat --mod agent", "chat "),
        ("runs lst", "runs "),
        ("verbs list --nope", "verbs list "),
        ("nope", ""),
    ],
)
def test_what_is_wrong_names_the_help_of_its_command(words: str, names: str) -> None:
    """The one that says which options it has."""
    with pytest.raises(CallerError) as refused:
        app(words.split())
    assert refused.value.message.endswith(f"Try: ordain {names}--help")
