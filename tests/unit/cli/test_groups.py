"""Groups of commands are known by name, and stand where their name says."""

from pathlib import Path

import pytest

import ordain.cli
from ordain.cli.commands import tree
from ordain.cli.groups import GROUPS


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
