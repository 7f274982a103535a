"""Documents that users add: their format told, their text read in bounds, each by a process of its own.

The document comes to it through a pipe, the text goes back through one. It is given neither this one's environment nor its open files, and limits
bound its memory, its CPU and wall time, and its writing: no file grows. It is no sandbox: it is the same user, and could read what that user may
read and open connections, if a document could make it do so.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import PurePath
from typing import Any

import msgspec

from ordain.errors import InvalidRequest, Transient
from ordain.ports.documents import DOCUMENT_BYTES, Document
from ordain.ports.library import Section
from ordain.store.document_formats import CPU_S, Format

WALL_S = 2.0 * CPU_S
ENDS_S = 2.0
AT_ONCE = 2
ANSWER_BYTES = 64 * 1024 * 1024
_ENDINGS = {
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".pdf": Format.PDF,
}
_OTHERS = frozenset(
    {".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".epub", ".zip", ".gz", ".png", ".jpg", ".jpeg", ".gif"}
)


def format_of(name: str, content: bytes) -> Format:
    """What a document is, by its first bytes and its name.

    Raises:
        InvalidRequest: it is none of the formats that are read (``unsupported_document``).
    """
    ending = PurePath(name).suffix.lower()
    if content[:1024].lstrip().startswith(b"%PDF-"):
        return Format.PDF
    found = _ENDINGS.get(ending, Format.TEXT)
    if ending in _OTHERS or found is Format.PDF:
        kind = "no PDF" if found is Format.PDF else f"a {ending} file"
        raise InvalidRequest(f"the document is {kind}; text, Markdown, HTML and PDF are read", code="unsupported_document", status=415)
    return found


class DocumentReader:
    """Implements ``Documents``; a few at a time."""

    def __init__(self) -> None:
        """Starts nothing yet."""
        self._free = asyncio.Semaphore(AT_ONCE)

    async def read(self, name: str, content: bytes) -> Document:
        """See ``Documents.read``."""
        if len(content) > DOCUMENT_BYTES:
            raise InvalidRequest(f"a document has at most {DOCUMENT_BYTES} bytes", code="document_too_large", status=413)
        format_ = format_of(name, content)
        async with self._free:
            answer = await _read_apart(format_, content)
        if "error" in answer:
            raise InvalidRequest(str(answer["message"]), code=str(answer["error"]))
        sections = tuple(Section(text=text, heading=heading, page=page, start=start) for text, heading, page, start in answer["sections"])
        return Document(media_type=format_, title=answer["title"], pages=answer["pages"], sections=sections)


async def _read_apart(format_: Format, content: bytes) -> dict[str, Any]:
    """The answer of a process that has only the document."""
    program = (sys.executable, "-P", "-m", "ordain.store.document_formats", format_)
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"}
    try:
        process = await asyncio.create_subprocess_exec(*program, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, cwd="/")
    except OSError as error:
        raise Transient(f"no process can be started to read it: {error.strerror}", code="no_process") from error
    try:
        async with asyncio.timeout(WALL_S):
            answer = await _exchanged(process, content)
    except TimeoutError:
        return _failed("document_too_slow", f"reading the document takes longer than {WALL_S:g} s")
    finally:
        await ended(process)
    if not answer.rstrip().endswith(b"}"):  # none, or cut off: the process was ended
        return _failed("document_unreadable", "the document cannot be read: reading it takes too much time or memory")
    try:
        found: Any = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        return _failed("document_unreadable", "the document cannot be read: what its parser gave is no text")
    return found


async def _exchanged(process: Process, content: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):  # it has given up: what it says, or does not, is the answer
        process.stdin.write(content)
        await process.stdin.drain()
        process.stdin.close()
    answer = bytearray()
    while len(answer) <= ANSWER_BYTES and (part := await process.stdout.read(1 << 20)):
        answer += part
    return bytes(answer)


async def ended(process: Process) -> None:
    """End a process whose output is read no further; one that has closed it is given a moment to end by itself.

    To kill is to look first whether it has ended, and what looks takes its status from asyncio, which says so on stderr and makes one up.
    What it has written is read to its end first: asyncio stops reading from a pipe while too much waits unread, then never learns that the pipe
    was closed, and ``wait`` never returns.
    """
    if process.stdout is not None and process.stdout.at_eof():
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDS_S):
                await process.wait()
                return
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdout is not None:
        while await process.stdout.read(1 << 20):
            pass
    await process.wait()


def _failed(code: str, message: str) -> dict[str, Any]:
    return {"error": code, "message": message}
