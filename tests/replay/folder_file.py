"""A kept data folder: packed as a killed process left it, with a statement beside it of what is in
it and what must come of it.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import msgspec
from msgspec import Struct

FOLDERS = Path(__file__).parent / "folders"
SOON, LATE = "soon", "late"
"""When a folder is opened: a second after its process died, or when everything that waits has
waited too long.
"""


class Call(Struct, frozen=True, order=True):
    """A call that reached the ledger: what it writes, its idempotency key, and whether it was
    applied.
    """

    verb: str
    text: str
    key: str
    applied: bool = True


class End(Struct, frozen=True):
    """How a run ended, and how many of its effects nobody knows the outcome of."""

    status: str
    reason: str
    unknown: int = 0


class KeptRun(Struct, frozen=True, kw_only=True):
    """A run of the folder: where it stood when its process died, what it had announced and not seen
    the end of, and its ends by case.
    """

    id: str
    flow: str
    session: str
    parent: str
    status: str
    doing: str
    ends: dict[str, End] = {}


class Answer(Struct, frozen=True, kw_only=True):
    """What is said to an open question of the folder."""

    session: str
    question: str
    expects: str
    text: str


class Kept(Struct, frozen=True, kw_only=True):
    """The statement. ``at``: when the process died, in microseconds since 1970 UTC; ``world``: what
    had reached the ledger by then.

    ``calls``: what reaches the ledger when its runs go on, by case.
    """

    at: int
    runs: tuple[KeptRun, ...]
    answers: tuple[Answer, ...]
    world: tuple[Call, ...]
    calls: dict[str, tuple[Call, ...]] = {}


def names() -> list[str]:
    """Every kept folder."""
    return sorted(file.name.removesuffix(".tar.xz") for file in FOLDERS.glob("*.tar.xz"))


def packed(name: str) -> Path:
    """A kept folder's archive."""
    return FOLDERS / f"{name}.tar.xz"


def statement(name: str) -> Kept:
    """What is said of a kept folder."""
    return msgspec.json.decode((FOLDERS / f"{name}.json").read_bytes(), type=Kept)


def write_statement(file: Path, kept: Kept) -> None:
    """Write a statement, one value per line."""
    file.write_bytes(
        msgspec.json.format(msgspec.json.encode(kept, order="sorted"), indent=1) + b"\n"
    )


def pack(home: Path, file: Path) -> None:
    """Pack a folder; the same files give the same bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(path for path in home.rglob("*") if path.is_file()):
            info = tarfile.TarInfo(path.relative_to(home).as_posix())
            info.size, info.mode = path.stat().st_size, 0o600
            with path.open("rb") as content:
                tar.addfile(info, content)
    file.write_bytes(lzma.compress(plain.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpack(file: Path, home: Path) -> Path:
    """Unpack a folder to ``home``; gives that."""
    home.mkdir(parents=True, mode=0o700)
    with tarfile.open(file, mode="r:xz") as tar:
        tar.extractall(home, filter="data")
    return home
