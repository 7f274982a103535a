"""``files.read``: a page of a text file below one declared folder.

The path is walked from an open descriptor of the root, one component at a time, none of which may
be a link. So there is no moment between a check and its use in which a link could be put in the
way. A file of several names (hard links) is refused: no path tells where else it stands.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ordain.contracts.verbs import Category, Example, OutputField, VerbEffect
from ordain.errors import ConfigurationError
from ordain.verbs.functions import FunctionVerb, VerbError, verb

PAGE_BYTES = 32_768
"""Bytes of a page, where the call does not say."""

PAGE_BYTES_MAX = 262_144
"""Largest page."""

PAGE_BYTES_MIN = 16
"""Smallest page: longer than any character, so that every page makes progress."""

PATH_MAX = 1024
"""Longest path, in characters."""

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
_CHARACTER_MAX = 4


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a file as text."""

    path: Annotated[str, Field(max_length=PATH_MAX)]
    text: Annotated[str, Field(max_length=PAGE_BYTES_MAX)]
    offset: Annotated[int, Field(ge=0, description="Byte at which the page begins.")]
    next_offset: Annotated[
        int | None, Field(description="Where to go on reading; null at the end of the file.")
    ]
    size: Annotated[int, Field(ge=0, description="Bytes of the whole file.")]
    replaced: Annotated[bool, Field(description="Whether bytes that are not UTF-8 were replaced.")]


def files_read(root: Path) -> FunctionVerb[Any, Any]:
    """The verb ``files.read`` for files below ``root``, which may itself be a link and is resolved
    now.

    Raises:
        ConfigurationError: the root is no folder.
    """
    try:
        folder = root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"files root {root}: not a folder", code="invalid_files_root"
        ) from error
    if not folder.is_dir():
        raise ConfigurationError(f"files root {root}: not a folder", code="invalid_files_root")

    @verb(
        name="files.read",
        label="Read a file",
        effect=VerbEffect.READ,
        category=Category.PERCEPTION,
        tags=["files"],
        output={"path": OutputField(sensitive=True), "text": OutputField(sensitive=True)},
        timeout_ms=10_000,
        idempotent=True,
        example=Example(input={"path": "notes/today.txt", "limit": 4096}),
    )
    def read(
        path: Annotated[str, Field(min_length=1, max_length=PATH_MAX)],
        offset: Annotated[int, Field(ge=0, le=2**53)] = 0,
        limit: Annotated[int, Field(ge=PAGE_BYTES_MIN, le=PAGE_BYTES_MAX)] = PAGE_BYTES,
    ) -> Page:
        """Read a text file of the shared folder, a page at a time.

        Args:
            path: path of the file inside the folder, with / between the parts.
            offset: byte at which to begin; the next_offset of the page before.
            limit: most bytes to read.
        """
        return _read_page(folder, path, offset, limit)

    return read


def _read_page(folder: Path, path: str, offset: int, limit: int) -> Page:
    try:
        with ExitStack() as opened:
            descriptor = _open_below(folder, _components(path), opened)
            size = os.fstat(descriptor).st_size
            content = os.pread(descriptor, limit, offset)
    except OSError as error:
        raise _unreadable(error) from error
    at_end = offset + len(content) >= size or len(content) < limit
    if not at_end:
        content = content[: len(content) - _cut_character(content)]
    text = content.decode(errors="replace")
    replaced = "\ufffd" in text and not _is_utf8(content)
    following = None if at_end else offset + len(content)
    return Page(
        path=path, text=text, offset=offset, next_offset=following, size=size, replaced=replaced
    )


def _components(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in {"", ".", ".."} or "\0" in part or "\\" in part for part in parts):
        raise VerbError(
            "invalid_path",
            "a path names a file below the folder: no absolute path, no empty part, no . or ..",
        )
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise VerbError("invalid_path", "a path is well-formed text") from error
    return parts


def _open_below(folder: Path, parts: list[str], opened: ExitStack) -> int:
    descriptor = os.open(folder, _OPEN | os.O_DIRECTORY)
    opened.callback(os.close, descriptor)
    for part in parts[:-1]:
        descriptor = os.open(part, _OPEN | os.O_DIRECTORY, dir_fd=descriptor)
        opened.callback(os.close, descriptor)
    # Looked at before it is opened, because to open a device may already do something; and again
    # after, because it may have changed.
    _regular(os.stat(parts[-1], dir_fd=descriptor, follow_symlinks=False))
    descriptor = os.open(parts[-1], _OPEN, dir_fd=descriptor)
    opened.callback(os.close, descriptor)
    _regular(os.fstat(descriptor))
    return descriptor


def _regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise VerbError(
            "not_a_file", "not a regular file: folders, links, devices and pipes are not read"
        )
    if status.st_nlink > 1:
        # its other name may stand anywhere, and whoever may write below the root gave it this one
        raise VerbError(
            "hard_link",
            "a file of several names (hard links) is not read: it may be one of another folder",
        )


def _unreadable(error: OSError) -> VerbError:
    """An error of the system without the path in it, which would tell where the folder is."""
    match error:
        case FileNotFoundError():
            return VerbError("not_found", "no such file")
        case PermissionError():
            return VerbError("not_permitted", "the file may not be read")
        case NotADirectoryError():
            return VerbError("not_found", "a part of the path is not a folder, or is a link")
        case _:
            return VerbError("unreadable", f"the file cannot be read: {error.strerror or 'error'}")


def _cut_character(content: bytes) -> int:
    """How many bytes at the end belong to a character that goes on after it."""
    for length in range(1, min(_CHARACTER_MAX, len(content) + 1)):
        byte = content[-length]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if needed > length else 0
        if byte < 0x80:
            return 0
    return 0


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
