"""Reading in several processes: everything once, in its order, and an end where one of them is
killed or finds something wrong.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import processes
from ordain.cli.processes import PieceWork, each
from ordain.collector import COMMAND_ALLOCATIONS
from ordain.errors import NotFound, StorageUnavailable


@contextmanager
def by(
    find: Callable[[Path, Sequence[int]], list[Any]], home: Path
) -> Generator[PieceWork[int, Any]]:
    """What looks at each piece in a folder, with nothing to begin."""
    yield partial(find, home)


def where(home: Path, items: Sequence[int]) -> list[tuple[str, int, int]]:
    """The folder, each item and who has read it."""
    return [(home.name, item, os.getpid()) for item in items]


def killed(home: Path, items: Sequence[int]) -> list[int]:
    """As by a system that has no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)
    return [*items]


def wrong(home: Path, items: Sequence[int]) -> list[int]:
    """What is wrong there is told here."""
    raise NotFound(f"there is no run {items[0]}", code="run_not_found")


def heeds_interrupts(home: Path, items: Sequence[int]) -> list[bool]:
    """Whether a terminal's interrupt would reach this process."""
    return [signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) for _ in items]


def collected_after(home: Path, items: Sequence[int]) -> list[int]:
    """How many objects more this process makes before it looks for garbage."""
    return [gc.get_threshold()[0] for _ in items]


SEEN: list[str] = []
"""What a process has of the one that began it, where it is a copy."""
COPIES = """
import sys, threading
from functools import partial
from pathlib import Path
from ordain.cli.processes import ALONE, each
from tests.unit.cli import test_processes as own
own.SEEN.append("before")
ended = threading.Event()
if sys.argv[1] == "beside a thread":
    threading.Thread(target=ended.wait).start()
print({tuple(seen) for seen in each(partial(own.by, own.has_seen, Path()), range(ALONE + 1), 2)})
ended.set()
"""


def stands(home: Path, items: Sequence[int]) -> list[int]:
    """Tells who it is, and comes to no end."""
    (home / str(os.getpid())).touch()
    time.sleep(600)
    return [*items]


def has_seen(home: Path, items: Sequence[int]) -> list[list[str]]:
    """What this process has seen."""
    return [SEEN for _ in items]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few items are many."""
    monkeypatch.setattr(processes, "ALONE", 8)
    monkeypatch.setattr(processes, "PIECE", 3)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("count", "jobs", "here"), [(0, 2, True), (8, 2, True), (20, 1, True), (20, 2, False)]
)
def test_all_is_read_once_and_in_its_order(count: int, jobs: int, here: bool) -> None:
    """Few items, or one process: nobody else is begun."""
    found = list(each(partial(by, where, Path("/folder")), range(count), jobs))
    assert [one[:2] for one in found] == [("folder", number) for number in range(count)]
    assert (
        {one[2] for one in found} <= {os.getpid()}
        if here
        else os.getpid() not in {one[2] for one in found}
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is copied")
@pytest.mark.parametrize(("how", "seen"), [("alone", "{('before',)}"), ("beside a thread", "{()}")])
def test_a_process_is_copied_where_no_thread_is_beside(how: str, seen: str) -> None:
    """A copy has all that this process imported and begins at once; what a thread was in the midst
    of would stay so in it for ever.
    """
    ran = subprocess.run(
        [sys.executable, "-c", COPIES, how], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout.strip(), ran.stderr) == (seen, "")


@pytest.mark.usefixtures("few")
def test_an_interrupt_is_the_first_processs_alone() -> None:
    """From a terminal it goes to all of them; one that was still beginning told of itself in a
    traceback.
    """
    assert not any(each(partial(by, heeds_interrupts, Path()), range(20), 2))
    assert heeds_interrupts(Path(), [1]) == [True]


@pytest.mark.usefixtures("few")
def test_a_process_collects_as_seldom_as_a_command() -> None:
    """Whoever began it, and however: looking through what lives finds nothing there."""
    assert set(each(partial(by, collected_after, Path()), range(20), 2)) == {COMMAND_ALLOCATIONS}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("items", [20, 60_000])
def test_a_process_that_is_killed_is_told(items: int) -> None:
    """An error with its code, and not what was found until then as if it were all; also where it
    was killed before all had been handed out.
    """
    with pytest.raises(StorageUnavailable) as raised:
        list(each(partial(by, killed, Path()), range(items), 2))
    assert raised.value.code == "killed"


@contextmanager
def open_once(folder: Path) -> Generator[PieceWork[int, int]]:
    """Leaves a file that says who began, and one more that says who left."""
    (folder / f"began {os.getpid()}").touch(exist_ok=False)
    try:
        yield lambda items: [os.getpid() for _ in items]
    finally:
        (folder / f"left {os.getpid()}").touch(exist_ok=False)


@contextmanager
def never(home: Path) -> Generator[PieceWork[int, int]]:
    """There is nothing to be begun."""
    raise NotFound(f"there is no {home.name}", code="no_data")
    yield


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("items", "jobs"), [(20, 1), (20, 2), (600, 2), (0, 1)])
def test_each_process_begins_once_and_leaves(items: int, jobs: int, tmp_path: Path) -> None:
    """Whatever was opened for the first piece is there for the others, and is closed behind the
    last; for nothing nothing is begun.
    """
    found = set(each(partial(open_once, tmp_path), range(items), jobs))
    told = {name.name for name in tmp_path.iterdir()}
    assert told == {f"{what} {process}" for process in found for what in ("began", "left")}
    assert (os.getpid() in found) == (jobs == 1 and items > 0)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_cannot_be_begun_is_told_here(jobs: int) -> None:
    """As it would be in the first process."""
    with pytest.raises(NotFound) as raised:
        list(each(partial(never, Path("folder")), range(20), jobs))
    assert raised.value.code == "no_data"


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_wrong_in_a_process_is_told_here(jobs: int) -> None:
    """With its code and its message."""
    with pytest.raises(NotFound) as raised:
        list(each(partial(by, wrong, Path()), range(20), jobs))
    assert (raised.value.code, raised.value.message) == ("run_not_found", "there is no run 0")


def test_there_is_a_core() -> None:
    """At least the one this runs on."""
    assert processes.cores() >= 1


STANDING = """
import sys, threading
from functools import partial
from pathlib import Path
from ordain.cli.processes import ALONE, each
from tests.unit.cli import test_processes as own
ended = threading.Event()
if sys.argv[1] == "beside a thread":
    threading.Thread(target=ended.wait).start()
[*each(partial(own.by, own.stands, Path(sys.argv[2])), range(ALONE + 1), 3)]
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere nothing says of a process that it has ended"
)
@pytest.mark.parametrize("how", ["alone", "beside a thread"])
def test_none_outlives_the_process_that_began_it(how: str, tmp_path: Path) -> None:
    """Where that is killed in the middle the others end, too, whether they are copies of it or
    not.
    """
    began = subprocess.Popen([sys.executable, "-c", STANDING, how, str(tmp_path)])
    with began:
        by_then(lambda: len(list(tmp_path.iterdir())) == 3)
        began.kill()
    by_then(lambda: not any(is_there(int(found.name)) for found in tmp_path.iterdir()))


def by_then(is_so: Callable[[], bool]) -> None:
    """Wait for it; a minute, and it is not."""
    ends = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


def is_there(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody has asked about does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
