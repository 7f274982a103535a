"""The files of a message on their way in: what they are, read before the message is, and kept by
the message's own unit.

A document is staged first, which may take seconds in a process of its own; it is found by nobody
before the message stands in its session, and given up where the message is refused or came before.
What nobody reads is refused in words, and the message with it: an answer that passes over a file in
silence would look as if it had been read.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import Any
from weakref import WeakValueDictionary

from msgspec import Struct

from ordain.contracts.attachments import FILE_BYTES
from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import Attachment, Message
from ordain.contracts.sizes import said_bytes
from ordain.errors import ConfigurationError, InvalidRequest
from ordain.flows.images import seeing
from ordain.journal.digests import content_digest
from ordain.ports.writes import AttachmentKept
from ordain.rules.header import plain
from ordain.runtime.file_kinds import NAMES, FileKind, SniffedFile, agrees, said_of, sniffed
from ordain.runtime.library import Memory

READ = "text, Markdown, HTML and PDF are read, PNG, JPEG, GIF and WebP shown to models that see"
NAME_CHARS = 80


class TakenFiles:
    """What of a message's files is taken: what its entry says of each, and what is written with it.
    ``kept`` is said by whoever accepts the message.
    """

    def __init__(
        self, files: Iterable[dict[str, Any]] = (), writes: Iterable[AttachmentKept] = ()
    ) -> None:
        """Nothing is kept yet."""
        self.files, self.writes = tuple(files), tuple(writes)
        self.kept = False


class _File(Struct, frozen=True, kw_only=True):
    """A file that came, by its place among the message's attachments."""

    place: int
    name: str
    content: bytes
    found: SniffedFile


class Attachments:
    """Takes files in. Belongs to one event loop."""

    def __init__(self, library: Memory) -> None:
        """Documents are staged in the library."""
        self._library = library
        self._taking = WeakValueDictionary[tuple[str, str], asyncio.Lock]()

    @asynccontextmanager
    async def taken(
        self, message: Message, workspace: str, by: str, catalog: Catalog
    ) -> AsyncGenerator[TakenFiles]:
        """A message's files while it is accepted; whoever does says that they are kept, else they
        are given up.

        Of one session one message at a time: the same one that comes twice at once finds what the
        first has kept.

        Raises:
            InvalidRequest: a file is too large, no base64, not what it is said to be, or of a kind
                that nobody reads; or as ``Documents.read``.
        """
        given = message.message.attachments
        if all(one.data is None for one in given):
            yield TakenFiles(map(only_named, given))
            return
        async with self._taking.setdefault((workspace, message.session_id), asyncio.Lock()):
            files = await asyncio.to_thread(_opened, given, catalog)
            staged: list[AttachmentKept] = []
            taken = TakenFiles()
            try:
                told = {
                    file.place: await self._taken(file, message, (workspace, by), staged)
                    for file in files
                }
                taken = TakenFiles(
                    (told.get(place) or only_named(one) for place, one in enumerate(given)), staged
                )
                yield taken
            finally:
                if not taken.kept:
                    await asyncio.shield(self._given_up(workspace, staged))

    async def _taken(
        self, file: _File, message: Message, whose: tuple[str, str], staged: list[AttachmentKept]
    ) -> dict[str, Any]:
        """What the message's entry says of a file; a document that is there already is not staged
        again.
        """
        digest, (workspace, by) = content_digest(file.content), whose
        if file.found.kind is FileKind.IMAGE:
            image = b64encode(file.content).decode()
            return {
                "name": file.name,
                "media_type": file.found.media_type,
                "size_bytes": len(file.content),
                "digest": digest,
                "image": image,
            }
        source = f"{message.session_id}#{digest[:16]}"
        try:
            added = await self._library.stage_document(
                workspace, (file.name, file.content), source=source, author=message.user_id, by=by
            )
        except InvalidRequest as error:  # it says what is wrong, and not with which
            raise _refused(
                f"{file.name}: {error.message}", error.code, error.status, _place(file.place)
            ) from error
        if added.outcome == "staged":
            staged.append(AttachmentKept(item=added.id, session=message.session_id))
        return {
            "name": file.name,
            "size_bytes": len(file.content),
            "digest": digest,
            "document": added.id,
        }

    async def _given_up(self, workspace: str, staged: Sequence[AttachmentKept]) -> None:
        for one in staged:
            await self._library.give_up(workspace, one.item)


def file_read(file: Path) -> Attachment:
    """A file of this machine, to go with a message; blocks while it is read.

    Raises:
        ConfigurationError: it cannot be read, or is none: a folder, a pipe that would be waited for
            (``cannot_read``).
        InvalidRequest: it is larger than any message may bring (``attachment_too_large``).
    """
    try:
        file.name.encode()
        if not S_ISREG(file.stat().st_mode):
            raise ConfigurationError(
                f"cannot read {file}: it is no regular file", code="cannot_read"
            )
        with file.open("rb") as opened:
            content = opened.read(FILE_BYTES + 1)
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{str(file)!a} has a name that is no UTF-8: rename it", code="cannot_read"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="cannot_read"
        ) from error
    if len(content) > FILE_BYTES:
        raise InvalidRequest(
            f"{file} is larger than {said_bytes(FILE_BYTES)}",
            code="attachment_too_large",
            status=413,
        )
    return Attachment.of(file.name, content)


def check_file(one: Attachment) -> None:
    """Whether a file is what it says that it is, and of a kind that is read or shown to models that
    see; what else a message may bring policy says.

    Raises:
        InvalidRequest: it is not, as when it comes with a message (``attachment_unlike``,
            ``attachment_unread``, ``attachment_invalid``).
    """
    _read(0, one, one.data or "", sees=True)


def documents_of(files: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The documents among what an entry says of a message's files."""
    return tuple(one["document"] for one in files if one.get("document"))


def images_of(files: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The digests of the images among them."""
    return tuple(one["digest"] for one in files if one.get("image"))


def only_named(one: Attachment) -> dict[str, Any]:
    """What an entry says of a file that is only named, whatever comes with it."""
    return one.model_dump(mode="json", exclude={"data"}, exclude_defaults=True)


def _opened(given: Sequence[Attachment], catalog: Catalog) -> list[_File]:
    """The files that came with their bytes, each told by them."""
    policy, sees = catalog.policy.attachments, _sees(catalog)
    came = [(place, one, one.data) for place, one in enumerate(given) if one.data is not None]
    if len(came) > policy.max_files:
        raise _refused(
            f"a message brings at most {policy.max_files} files", "attachments_too_many", 413
        )
    if sum(len(data) for _, _, data in came) // 4 * 3 > policy.max_bytes + 3 * len(came):
        raise _refused(
            f"the files of a message have at most {policy.max_bytes} bytes together",
            "attachment_too_large",
            413,
        )
    files = [_read(place, one, data, sees=sees) for place, one, data in came]
    images = [file for file in files if file.found.kind is FileKind.IMAGE]
    if len(images) > policy.max_images:
        raise _refused(
            f"a message brings at most {policy.max_images} images", "attachments_too_many", 413
        )
    if sum(len(file.content) for file in images) > policy.image_bytes:
        raise _refused(
            f"the images of a message have at most {policy.image_bytes} bytes together",
            "attachment_too_large",
            413,
        )
    return files


def _sees(catalog: Catalog) -> bool:
    """Whether a model that policy names for a lane sees."""
    named = {name for lane in catalog.policy.lanes.profiles.values() for name in lane}
    return not seeing(catalog).isdisjoint(named)


def _read(place: int, one: Attachment, data: str, *, sees: bool) -> _File:
    where = _place(place)
    name = plain(PurePath(one.name).name or "file", NAME_CHARS)
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise _refused(
            f"the bytes of {name} are no base64", "attachment_invalid", 422, where
        ) from None
    if not content:
        raise _refused(f"{name} is empty", "attachment_invalid", 422, where)
    found = sniffed(content)
    for said in said_of(one.name, one.media_type or ""):
        if not agrees(said, found):
            raise _refused(
                f"{name} says that it is {plain(said, NAME_CHARS)}, and is {found.words}",
                "attachment_unlike",
                415,
                where,
            )
    if found.kind is FileKind.IMAGE and not sees:
        raise _refused(
            f"{name} is {found.words}, and no model here sees: none that a lane names has "
            "vision = true in its profile (ordain models add --vision)",
            "attachment_unread",
            415,
            where,
        )
    if found.kind is FileKind.OTHER:
        raise _refused(f"{name} is {found.words}: {READ}", "attachment_unread", 415, where)
    ending = NAMES.get((one.media_type or "").partition(";")[0].strip().lower(), "")
    if ending and not PurePath(name).suffix:
        name = f"{name}.{ending}"
    return _File(place=place, name=name, content=content, found=found)


def _place(number: int) -> str:
    return f"/message/attachments/{number}"


def _refused(
    message: str, code: str, status: int, where: str = "/message/attachments"
) -> InvalidRequest:
    return InvalidRequest(
        message,
        code=code,
        status=status,
        details={"errors": [{"place": where, "code": code, "message": message}]},
    )
