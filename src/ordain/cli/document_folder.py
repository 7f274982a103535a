"""The files of folders that are added as documents: which they are, and which are passed over and
why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ordain.errors import ConfigurationError
from ordain.runtime.file_kinds import FileKind, sniffed

FILES_MAX = 20_000
PEEKED = 4096


class FolderFiles(Struct, frozen=True, kw_only=True):
    """What stands in the places that were named: files to add, those that nobody reads with what
    they are, folders that cannot be read with why, and whether a folder was named.
    """

    files: tuple[Path, ...]
    passed_over: tuple[tuple[Path, str], ...]
    refused: tuple[tuple[Path, str], ...]
    folders: bool


def found_in(places: Sequence[Path]) -> FolderFiles:
    """The files that are named, and all below the folders that are, in the order of their names.

    What is named itself is added whatever it is, and refused with its reason; of a folder what is
    hidden, a link or no file is passed over, and what is no text, Markdown, HTML or PDF by its own
    bytes. A folder that cannot be read keeps the others out no more than a file does.

    Raises:
        ConfigurationError: a folder holds more than ``FILES_MAX`` files.
    """
    files: list[Path] = []
    passed: list[tuple[Path, str]] = []
    refused: list[OSError] = []
    folders = [place for place in places if os.path.isdir(place)]  # noqa: PTH112 - which raises where a folder above it cannot be looked into
    for place in places:
        if place not in folders:
            files.append(place)
            continue
        for number, file in enumerate(_below(place, refused.append)):
            if number == FILES_MAX:
                raise ConfigurationError(
                    f"{place} holds more than {FILES_MAX} files: name its parts", code="usage"
                )
            what = _unread(file)
            if what:
                passed.append((file, what))
            else:
                files.append(file)
    unread = tuple((Path(os.fsdecode(one.filename)), one.strerror or str(one)) for one in refused)
    return FolderFiles(
        files=tuple(files), passed_over=tuple(passed), refused=unread, folders=bool(folders)
    )


def _below(folder: Path, refused: Callable[[OSError], None]) -> Iterator[Path]:
    """What is below a folder, hidden folders as one thing each and not what they hold; ``refused``
    is told of each that cannot be read.
    """
    for at, folders, names in os.walk(folder, onerror=refused):
        yield from (
            Path(at, name)
            for name in sorted(folders)
            if _is_hidden(name) or os.path.islink(Path(at, name))  # noqa: PTH114 - as above
        )
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        yield from (Path(at, name) for name in sorted(names))


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _unread(file: Path) -> str:
    """What a file is that is no document; "" of one that is, or that cannot be read, which is told
    when it is added.
    """
    if _is_hidden(file.name):
        return "hidden"
    try:
        if file.is_symlink():
            return "a link"
        if not file.is_file():
            return "no plain file"
        if not is_named(file):
            return "a file whose name is no UTF-8"
        with file.open("rb") as opened:
            found = sniffed(opened.read(PEEKED), whole=False)
    except OSError:
        return ""
    return "" if found.kind is FileKind.DOCUMENT else found.words


def is_named(file: Path) -> bool:
    """Whether its path can be said: a name may hold bytes that are no text."""
    try:
        str(file).encode()
    except UnicodeEncodeError:
        return False
    return True


def said(file: Path) -> str:
    """Its path for people and for JSON."""
    return os.fsencode(file).decode(errors="backslashreplace")
