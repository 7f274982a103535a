"""Changing ``ordain.toml``: whatever order its tables stand in, an edit says what it means and
loses nothing, or nothing is changed.
"""

import itertools
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.cli.profile_files import SettingsFiles, drop_profile, put_lanes, put_profile
from ordain.errors import ConfigurationError
from tests.lanes import sampled

PARTS = (
    '[models.first]\nprovider = "offline"\nmodel = "a"\n',
    '[models.other]\nprovider = "offline"\nmodel = "b"\n',
    '[embedder]\nmodel = "c"  # kept\n',
    '[lanes.profiles]\nlocal = ["first"]\n',
    '[[lanes.routes]]\nlane = "brain"\n',
    "[models.first.more]\nnumber = 1\n",
    "[models]\n",
)
"""Tables as people write them: each on its own, in any order."""
FIELDS = {"provider": "openai", "model": "m"}


def _put(tree: dict[str, Any]) -> None:
    tree.setdefault("models", {})["new"] = dict(FIELDS)


def _replaced(tree: dict[str, Any]) -> None:
    tree.setdefault("models", {})["first"] = dict(FIELDS)


def _dropped(tree: dict[str, Any]) -> None:
    del tree["models"]["first"]
    if not tree["models"]:
        del tree["models"]


def _laned(tree: dict[str, Any]) -> None:
    lanes = tree.setdefault("lanes", {})
    lanes.setdefault("profiles", {})["brain"] = ["new"]


EDITS: tuple[tuple[Callable[[Any], None], Callable[[dict[str, Any]], None]], ...] = (
    (lambda document: put_profile(document, "new", FIELDS), _put),
    (lambda document: put_profile(document, "first", FIELDS), _replaced),
    (lambda document: drop_profile(document, "first"), _dropped),
    (lambda document: put_lanes(document, {"brain": ["new"]}), _laned),
)


def test_an_edit_loses_nothing_in_whatever_order_the_tables_stand(tmp_path: Path) -> None:
    """After every edit, of tables in every order, the file says what it said before and the edit,
    comments too; the few where that cannot be had are refused as such and stay to the letter.
    """
    file = tmp_path / "ordain.toml"
    edited = refused = 0
    orders = [found for count in (0, 1, 2, 3) for found in itertools.permutations(PARTS, count)]
    orders += itertools.permutations((*PARTS[:3], PARTS[5]))
    for parts in sampled(orders, 5, "tables"):
        for edit, meant in EDITS:
            source = "\n".join(parts)
            wanted = _tree(source)
            if wanted is None or (meant is _dropped and PARTS[0] not in parts):
                continue
            meant(wanted)
            file.write_text(source, encoding="utf-8")
            code = _changed(file, edit)
            written = file.read_text(encoding="utf-8")
            if code:
                refused += 1
                assert (code, written) == ("edit_by_hand", source)
            else:
                edited += 1
                assert tomllib.loads(written) == wanted, source
                assert ("# kept" in source) == ("# kept" in written)
    assert refused < edited / 50, (edited, refused)


@pytest.mark.parametrize(
    "source",
    ['models = {first = {provider = "offline", model = "a"}}\n', "models = 3\n"],
    ids=["on one line", "no table"],
)
def test_what_cannot_be_edited_is_left_as_it_is_and_says_so(tmp_path: Path, source: str) -> None:
    """Profiles on one line, and a key that is no table, are refused in words and stay."""
    file = tmp_path / "ordain.toml"
    file.write_text(source, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="edit it by hand") as refused:
        SettingsFiles(tmp_path).change(file, EDITS[0][0])
    assert refused.value.code == "edit_by_hand"
    assert file.read_text(encoding="utf-8") == source


def _changed(file: Path, edit: Callable[[Any], None]) -> str:
    """The code that the change was refused with; "" where it was made."""
    try:
        SettingsFiles(file.parent).change(file, edit)
    except ConfigurationError as error:
        return error.code
    return ""


def _tree(source: str) -> dict[str, Any] | None:
    try:
        tree: Mapping[str, Any] = tomllib.loads(source)
    except tomllib.TOMLDecodeError:  # an order that TOML itself refuses
        return None
    return dict(tree)
