"""The file of what was learnt of models' endpoints: whole or not at all, and read as what anybody
may have written.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.contracts.profiles import Structured
from ordain.models.ways_file import FILE, FILE_BYTES, WaysFile
from ordain.ports.ways import Learnt, LearntWays

ONE = {
    "default": LearntWays(
        endpoint="e" * 32,
        at=1,
        ways={Structured.NATIVE: Learnt.REFUSED, Structured.TOOL: Learnt.IGNORED},
    )
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """By this process and by any other; it is its owner's alone, and nothing lies beside it."""
    WaysFile(tmp_path).write(ONE)
    WaysFile(tmp_path).write({**ONE, "other": ONE["default"]})
    assert WaysFile(tmp_path).read() == {**ONE, "other": ONE["default"]}
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


def test_nothing_is_kept_before_anything_was_learnt(tmp_path: Path) -> None:
    """Reading makes nothing, not even of a folder that is not there."""
    assert WaysFile(tmp_path / "nowhere").read() == {}
    assert not (tmp_path / "nowhere").exists()


def test_what_cannot_be_written_leaves_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the file stays as it was, and no piece of the new one is left."""
    WaysFile(tmp_path).write(ONE)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        WaysFile(tmp_path).write({})
    assert WaysFile(tmp_path).read() == ONE
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


BAD = {
    "empty": b"",
    "no JSON": b"native: refused",
    "another version": b'{"version": 2, "profiles": {}}',
    "another shape": (
        b'{"version": 1, "profiles": {"m": {"endpoint": "e", "at": 1, "ways": {"native": '
        b'"loved"}}}}'
    ),
    "a field more": b'{"version": 1, "profiles": {}, "run": "x"}',
    "deep": b'{"version": 1, "profiles": ' + b"[" * 100_000,
    "no text": b'{"version": 1, "profiles": {"\xff": 1}}',
    "large": b'{"version": 1, "profiles": {}}' + b" " * FILE_BYTES,
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_none_is_learnt_again(tmp_path: Path, content: bytes) -> None:
    """Nothing of it is believed, and nothing fails."""
    (tmp_path / FILE).write_bytes(content)
    assert WaysFile(tmp_path).read() == {}


def test_no_link_is_followed_and_no_pipe_waited_for(tmp_path: Path) -> None:
    """It is a plain file, or it is not read."""
    WaysFile(tmp_path).write(ONE)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / FILE).symlink_to(tmp_path / FILE)
    (tmp_path / "piped").mkdir()
    os.mkfifo(tmp_path / "piped" / FILE)
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    assert [WaysFile(tmp_path / name).read() for name in ("linked", "piped", "folder")] == [
        {},
        {},
        {},
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_reading_is_total(tmp_path: Path, content: bytes) -> None:
    """Whatever stands there."""
    (tmp_path / FILE).write_bytes(content)
    assert isinstance(WaysFile(tmp_path).read(), dict)
