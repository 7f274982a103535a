"""The data folder that an embedder names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain import Ordain
from ordain.errors import ConfigurationError
from ordain.settings import named_folder


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_empty_name_is_no_folder(name: str) -> None:
    """A variable that is not set names no folder: it would be wherever the process happens to
    be.
    """
    with pytest.raises(ConfigurationError, match="name is empty"):
        Ordain(home=name)


def test_a_name_means_what_it_means_to_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``~`` is somebody's home and no folder of that name; no name is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Ordain(home="~/kept").settings.home == tmp_path / "kept"
    assert named_folder(Path("~/kept")) == tmp_path / "kept"
    assert named_folder(tmp_path) == tmp_path
    assert named_folder(None) is None
