"""Documents that users add: their format told, their text read in bounds, each by a process of its
own.

The document comes to it through a pipe, the text goes back through one. It is given neither this
one's environment nor its open files, and limits bound its memory, its CPU and wall time, and its
writing: no file grows. It is no sandbox: it is the same user, and could read what that user may
read and open connections, if a document could make it do so.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePath
from threading import Lock, Thread
from typing import IO, Any

import msgspec

from ordain.contracts.file_signs import is_pdf
from ordain.contracts.sizes import said_bytes
from ordain.errors import InvalidRequest, Transient
from ordain.ports.documents import DOCUMENT_BYTES, Document
from ordain.ports.library import Section
from ordain.store.document_formats import CPU_S, Format

WALL_S = 2.0 * CPU_S
ENDS_S = 2.0
"""How long a process that has said all is given to end by itself."""
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
    {
        ".doc",
        ".docx",
        ".odt",
        ".rtf",
        ".xls",
        ".xlsx",
        ".ods",
        ".ppt",
        ".pptx",
        ".epub",
        ".zip",
        ".gz",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
    }
)


def format_of(name: str, content: bytes) -> Format:
    """What a document is, by its first bytes and its name.

    Raises:
        InvalidRequest: it is none of the formats that are read (``unsupported_document``).
    """
    ending = PurePath(name).suffix.lower()
    if is_pdf(content):
        return Format.PDF
    found = _ENDINGS.get(ending, Format.TEXT)
    if ending in _OTHERS or found is Format.PDF:
        kind = "no PDF" if found is Format.PDF else f"a {ending} file"
        raise InvalidRequest(
            f"the document is {kind}; text, Markdown, HTML and PDF are read",
            code="unsupported_document",
            status=415,
        )
    return found


class DocumentReader:
    """Implements ``Documents``; a few at a time."""

    def __init__(self) -> None:
        """Starts nothing yet."""
        self._free = asyncio.Semaphore(AT_ONCE)

    async def read(self, name: str, content: bytes) -> Document:
        """See ``Documents.read``."""
        if len(content) > DOCUMENT_BYTES:
            raise InvalidRequest(
                f"a document has at most {said_bytes(DOCUMENT_BYTES)}",
                code="document_too_large",
                status=413,
            )
        format_ = format_of(name, content)
        async with self._free:
            answer = await _read_apart(format_, content)
        if "error" in answer:
            raise InvalidRequest(str(answer["message"]), code=str(answer["error"]))
        sections = tuple(
            Section(text=text, heading=heading, page=page, start=start)
            for text, heading, page, start in answer["sections"]
        )
        return Document(
            media_type=format_, title=answer["title"], pages=answer["pages"], sections=sections
        )


async def _read_apart(format_: Format, content: bytes) -> dict[str, Any]:
    """The answer of a process that has only the document."""
    apart = _Apart((sys.executable, "-P", "-m", "ordain.store.document_formats", format_))
    try:
        async with asyncio.timeout(WALL_S):
            answer = await asyncio.to_thread(apart.exchanged, content)
    except TimeoutError:
        return _failed("document_too_slow", f"reading the document takes longer than {WALL_S:g} s")
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise Transient(
            f"no process can be started to read it: {why}", code="no_process"
        ) from error
    finally:
        apart.end()
    if not answer.rstrip().endswith(b"}"):  # none, or cut off: the process was ended
        return _failed(
            "document_unreadable",
            "the document cannot be read: reading it takes too much time or memory",
        )
    try:
        found: Any = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        return _failed(
            "document_unreadable", "the document cannot be read: what its parser gave is no text"
        )
    return found


class _Apart:
    """One process, begun and heard in a thread, and ended from another.

    asyncio's own waits for ever for the end of a process whose start was cancelled before its pipes
    were connected, as a loop that ends does.
    """

    def __init__(self, program: Sequence[str]) -> None:
        """Nothing is begun."""
        self._program, self._lock, self._over = program, Lock(), False
        self._process: subprocess.Popen[bytes] | None = None

    def exchanged(self, content: bytes) -> bytes:
        """What the process says to what it is given, at most so much as an answer may have; nothing
        where it was to end before it began.

        Raises:
            OSError, RuntimeError: no process, or no thread, can be begun.
        """
        environment = {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONIOENCODING": "utf-8",
            "LC_ALL": "C.UTF-8",
        }
        with self._lock:
            if self._over:
                return b""
            pipe, none = subprocess.PIPE, subprocess.DEVNULL
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                self._program, stdin=pipe, stdout=pipe, stderr=none, env=environment, cwd="/"
            )
        with self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                feeding = Thread(target=_feed, args=(process.stdin, content), daemon=True)
                feeding.start()
                answer = process.stdout.read(ANSWER_BYTES + 1)
                if len(answer) <= ANSWER_BYTES:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(ENDS_S)
            finally:
                self.end()
            feeding.join()
        return answer

    def end(self) -> None:
        """From now on there is no such process; idempotent."""
        with self._lock:
            self._over = True
            if self._process is not None:
                self._process.kill()


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with suppress(OSError, ValueError), pipe:
        # it has given up: what it says, or does not, is the answer
        pipe.write(content)


def _failed(code: str, message: str) -> dict[str, Any]:
    return {"error": code, "message": message}
