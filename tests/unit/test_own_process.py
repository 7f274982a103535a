"""What is this process's alone is no copy's, and is closed at its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordain.own_process import own_socket
from ordain.store.folder_lock import served
from ordain.store.sqlite import SqliteStore, StoreOptions

ENGINE = StoreOptions(holder="engine", threaded=False)


@contextmanager
def copied() -> Iterator[None]:
    """A copy of this process lives on, doing nothing."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            time.sleep(600)
        os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_copy_keeps_no_lock(tmp_path: Path) -> None:
    """A folder that was closed can be opened again, though a pool's process lives on that began
    while it was open.
    """
    store = SqliteStore(tmp_path, ENGINE)
    with copied():
        store.close()
        assert not served(tmp_path)
        SqliteStore(tmp_path, ENGINE).close()


def test_a_copy_that_ends_closes_nothing_of_anybody_else(tmp_path: Path) -> None:
    """Whatever it closes: the folder is held as before, and said to be open."""
    store = SqliteStore(tmp_path, ENGINE)
    child = os.fork()
    if not child:
        with suppress(BaseException):
            its = SqliteStore(tmp_path / "own", ENGINE)  # whose lock may have the same number
            store.close()
            os._exit(0 if served(tmp_path / "own") and its else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert served(tmp_path)
    assert (tmp_path / "ordain.lock").read_text().splitlines()[2:] == ["open"]
    assert store.query("SELECT count(*) FROM runs") == [(0,)]
    store.close()
    assert (tmp_path / "ordain.lock").read_text().splitlines()[2:] == ["closed"]


def test_an_address_is_no_copys() -> None:
    """Whoever dies leaves it to the next one."""
    listening = socket.create_server(("127.0.0.1", 0))
    own_socket(listening)
    address = listening.getsockname()
    with copied():
        listening.close()
        for _ in range(50):
            with suppress(OSError):
                socket.create_server(address, reuse_port=False).close()
                return
            time.sleep(0.1)
        raise AssertionError


def test_a_process_that_ends_without_closing_leaves_nothing_to_be_told(tmp_path: Path) -> None:
    """SQLite brings the log in as the interpreter ends, which is no loss."""
    program = """
        import sys
        from pathlib import Path
        from ordain.store.sqlite import SqliteStore, StoreOptions
        store = SqliteStore(Path(sys.argv[1]), StoreOptions(holder="engine", threaded=False))
        print(store.query("SELECT count(*) FROM runs"))
    """
    for _ in range(2):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert (ended.stdout, ended.stderr) == ("[(0,)]\n", "")
