"""Names that a copy of a database may have, and how it gets one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ordain.catalogs import DECLARED
from ordain.cli.copy_target import check_target, house_names, place
from ordain.cli.wording import FOLDER as WORDING
from ordain.errors import ConfigurationError
from ordain.models.local import FOLDER as LOCAL
from ordain.models.ways_file import FILE as WAYS
from ordain.settings import CONFIG_FILE, POLICY_FILE
from ordain.store.folder import FILE, LOCK, RESTS
from ordain.verbs.confirmed import FILE as CONFIRMED


def refused(file: Path, home: Path) -> str:
    with pytest.raises(ConfigurationError) as refusal:
        check_target(file, home)
    assert file.name[:40] in refusal.value.message
    return refusal.value.code


def test_what_a_data_folder_has_is_no_backup_s_name() -> None:
    """Every file and folder that some part of the house reads there by a name of its own."""
    assert {CONFIG_FILE, POLICY_FILE, CONFIRMED, WAYS, LOCAL, WORDING, *DECLARED} <= house_names()


@pytest.mark.parametrize(
    "name",
    [*sorted(house_names()), "Policy.TOML", ".fsync", ".probe-7", "verbs/a.py", "local/.lock"],
)
@pytest.mark.parametrize("of", ["home", "another", "link"])
def test_a_name_in_a_data_folder_is_refused(tmp_path: Path, name: str, of: str) -> None:
    """In the one that is backed up, in another, by whatever way: nothing is written."""
    folder = tmp_path / of
    (folder if of != "link" else tmp_path / "far").mkdir()
    if of == "link":
        folder.symlink_to(tmp_path / "far")
    if of == "another":
        (folder / LOCK).touch()
    home = tmp_path / {"another": "home", "link": "far"}.get(of, of)
    file = folder / name
    if of == "another" and name == LOCK:
        return  # it exists
    assert refused(file, home) == "house_name"
    assert not file.exists()


@pytest.mark.parametrize("rest", RESTS)
def test_a_log_s_name_is_refused_everywhere(tmp_path: Path, rest: str) -> None:
    """Also where there is no database that it would be the log of, yet."""
    assert refused(tmp_path / f"b.db{rest}", tmp_path / "home") == "house_name"


def test_other_names_are_taken(tmp_path: Path) -> None:
    """Elsewhere any, in a data folder any that says nothing to Ordain."""
    (home := tmp_path / "home").mkdir()
    for name in ("b.db", "home/b.db", "home/backups/b.db", FILE, "policy.toml", ".hidden"):
        check_target(tmp_path / name, home)


@pytest.mark.parametrize("rest", RESTS)
def test_what_lies_beside_is_named(tmp_path: Path, rest: str) -> None:
    """What SQLite would play into the copy, a link that leads nowhere too."""
    (tmp_path / f"b.db{rest}").symlink_to(tmp_path / "none")
    with pytest.raises(ConfigurationError, match=f"b.db{rest} exists") as refusal:
        check_target(tmp_path / "b.db", tmp_path / "home")
    assert refusal.value.code == "file_exists"


@pytest.mark.parametrize("name", ["b" * 300, "b\0c"])
def test_a_name_that_no_file_can_have_is_named(tmp_path: Path, name: str) -> None:
    """Before anything is copied, and not by the copy's own name."""
    assert refused(tmp_path / name, tmp_path / "home") == "cannot_write"


@pytest.fixture
def unlinked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links."""

    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)


@pytest.mark.usefixtures("unlinked")
def test_without_hard_links_it_gets_its_name_too(tmp_path: Path) -> None:
    """And overwrites nothing."""
    (made := tmp_path / "made").write_bytes(b"rows")
    place(made, tmp_path / "b.db", "file_exists")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("b.db", b"rows")]
    made.write_bytes(b"others")
    with pytest.raises(ConfigurationError) as refusal:
        place(made, tmp_path / "b.db", "file_exists")
    assert refusal.value.code == "file_exists"
    assert (tmp_path / "b.db").read_bytes() == b"rows"


@pytest.mark.usefixtures("unlinked")
def test_a_name_that_cannot_be_given_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal names the target; the empty file that held its name is gone."""

    def replace(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (made := tmp_path / "made").write_bytes(b"rows")
    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(ConfigurationError, match=r"cannot write .*b\.db") as refusal:
        place(made, tmp_path / "b.db", "file_exists")
    assert refusal.value.code == "cannot_write"
    assert [file.name for file in tmp_path.iterdir()] == ["made"]
