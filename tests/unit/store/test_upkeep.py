"""SqliteUpkeep: readiness is a write that needs room, seldom enough that nobody can make it a
load.
"""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import StorageUnavailable
from ordain.store.folder import FILE, WAL
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import PROBE_BYTES, SqliteUpkeep


def opened(folder: Path | None) -> tuple[SqliteStore, SqliteUpkeep]:
    store = SqliteStore(folder, StoreOptions(holder="engine", threaded=False))
    return store, SqliteUpkeep(store)


@pytest.mark.parametrize("memory", [False, True])
async def test_many_who_ask_at_once_are_one_write(tmp_path: Path, memory: bool) -> None:
    """However many ask, one row is written, and later another one; nothing is left in the
    folder.
    """
    store, upkeep = opened(None if memory else tmp_path)
    before = store.writer.commits
    await asyncio.gather(*(upkeep.probe() for _ in range(100)))
    assert store.writer.commits == before + 1
    await upkeep.probe()
    assert store.writer.commits == before + 2
    assert not [entry for entry in os.scandir(tmp_path) if entry.name.startswith(".probe")]
    store.close()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "no room"),
        (errno.EMFILE, "no file can be opened"),
        (errno.EROFS, "Read-only"),
    ],
)
async def test_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """What the system refuses the probe's own file with is what the error says; without it the
    storage is well again.
    """
    store, upkeep = opened(tmp_path)
    really = os.open

    def refusing(path: Any, *rest: Any) -> int:
        if ".probe" in str(path):
            raise OSError(number, os.strerror(number))
        return really(path, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refusing)
        with pytest.raises(StorageUnavailable, match=said):
            await upkeep.probe()
    await upkeep.probe()
    store.close()


async def test_a_limit_on_the_size_of_files_is_met(tmp_path: Path) -> None:
    """Where database or log could not grow by a commit or two nothing is ready, though a small
    write still finds its place within.
    """
    store, upkeep = opened(tmp_path)
    await upkeep.probe()
    size = max((tmp_path / name).stat().st_size for name in (FILE, WAL))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + PROBE_BYTES - 1, hard))
    try:
        with pytest.raises(StorageUnavailable, match="no file may grow"):
            await upkeep.probe()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await upkeep.probe()
    store.close()


async def test_a_folder_whose_log_is_gone_is_not_ready(tmp_path: Path) -> None:
    """The probe looks before it writes."""
    store, upkeep = opened(tmp_path)
    await upkeep.probe()
    (tmp_path / WAL).unlink()
    with pytest.raises(StorageUnavailable, match="taken away"):
        await upkeep.probe()
    store.close()


async def test_a_folder_that_is_gone_is_not_ready(tmp_path: Path) -> None:
    """Whatever else is open still, a folder without its files keeps nothing."""
    store, upkeep = opened(tmp_path / "data")
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(StorageUnavailable):
        await upkeep.probe()
    store.close()
