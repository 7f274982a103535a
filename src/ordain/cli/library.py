"""``ordain memory`` and ``ordain docs``: requests to the HTTP face, and what people see of the
answers.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ordain.cli.connection import Connection, connect, in_workspace
from ordain.cli.document_folder import FolderFiles, found_in, is_named, said
from ordain.cli.erasures import tell_removed
from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE
from ordain.cli.hints import in_folder
from ordain.cli.options import CommonOptions
from ordain.cli.output import moment, number_of, print_json, print_table, show, show_words
from ordain.cli.person import person
from ordain.cli.places import home_of
from ordain.cli.short_ids import DOCUMENT, IdKind
from ordain.contracts.path_parts import path_part
from ordain.contracts.sizes import said_bytes
from ordain.errors import ConfigurationError, OrdainError, Transient
from ordain.ports.documents import DOCUMENT_BYTES, NAME_CHARS, SOURCE_CHARS
from ordain.rules.header import plain

SHOWN, NAME_SHOWN = 200, 60
PASSED_SHOWN = 5
"""Files of a kind that are named when a folder was added."""
LINES, OCTETS = "application/x-ndjson", "application/octet-stream"
SLOW_BYTES = 1024 * 1024
"""A file from this size on says how far it is, where somebody looks."""


class LibraryPlace(Struct, frozen=True, kw_only=True):
    """Whose library, and how it is shown."""

    options: CommonOptions
    workspace: str

    @property
    def headers(self) -> dict[str, str]:
        """What says in which workspace a request is."""
        return in_workspace(self.workspace)


def _ask(
    place: LibraryPlace,
    method: str,
    path: str,
    *,
    body: dict[str, Any] | None = None,
    drive: bool = False,
    **options: Any,
) -> Any:
    async def asked() -> Any:
        content = (
            None
            if body is None
            else json.dumps(
                {name: value for name, value in body.items() if value is not None}
            ).encode()
        )
        async with connect(home_of(place.options.data_dir), drive=drive) as connection:
            return await connection.ask(
                method, path, content=content, headers=place.headers, **options
            )

    return asyncio.run(asked())


def _ask_of(
    place: LibraryPlace, method: str, kind: IdKind, item: str, *, drive: bool = False
) -> Any:
    """One request about one item, by its whole id, a beginning or an end that only it has, or
    ``last``.
    """

    async def asked() -> Any:
        async with connect(home_of(place.options.data_dir), drive=drive) as connection:
            whole = await connection.whole_id(kind, item, place.headers)
            return await connection.ask(
                method, f"{kind.path}/{path_part(whole)}", headers=place.headers
            )

    return asyncio.run(asked())


def _named(body: dict[str, Any]) -> dict[str, Any]:
    """The request on behalf of a user: whoever is named, else whoever is logged in."""
    return {**body, "user_id": body["user_id"] if body["user_id"] is not None else person()}


def add(place: LibraryPlace, text: Sequence[str], file: Path | None, rest: dict[str, Any]) -> int:
    """Remember a note.

    Raises:
        ConfigurationError: neither a text nor a file is given, or both; or the file cannot be read.
    """
    if bool(text) is (file is not None):
        raise ConfigurationError("give the note's text, or a file with -f", code="usage")
    note = " ".join(text) if file is None else _text(file)
    kept = _ask(place, "POST", "/memory", body=_named({"text": note, **rest}), drive=True)
    if place.options.as_json:
        print_json(kept)
    else:
        show(
            f"{'remembered before' if kept['outcome'] == 'same' else 'remembered'}: "
            f"{kept['id']}{_by_words(kept)}"
        )
    return OK


def _by_words(told: dict[str, Any]) -> str:
    """Why it is found by words alone, in brackets: with what to do, or that it passes."""
    return f" ({told['notice']})" if told.get("notice") else ""


def _text(file: Path) -> str:
    try:
        return (
            sys.stdin.buffer.read().decode()
            if str(file) == "-"
            else file.read_text(encoding="utf-8")
        )
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="cannot_read"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{file} is no UTF-8 text: byte {error.start}", code="cannot_read"
        ) from error


def search(place: LibraryPlace, asked: dict[str, Any]) -> int:
    """Find what is remembered."""
    found = _ask(place, "POST", "/memory/search", body=_named(asked))
    if place.options.as_json:
        print_json(found)
        return OK if found["fragments"] else FAILED
    for one in found["fragments"]:
        title = f" {plain(one['title'], SHOWN)}" if one["title"] else ""
        page = f" page {one['page']}" if one["page"] else ""
        show(
            f"{one['score']:.2f}  {one['id']}  {moment(one['created_at'])}  {one['kind']}, "
            f"{one['trust']}{title}{page}"
        )
        show_words(one["text"])
    if found["notice"]:
        show(in_folder(found["notice"]))
    show(f"{len(found['fragments'])} found, method {found['method']}")
    if not found["fragments"] and asked["mode"] != "deep":
        show("documents were not looked into: --mode deep does")
    return OK if found["fragments"] else FAILED


def print_notes(place: LibraryPlace, limit: int, before: int | None) -> int:
    """Notes and entries."""
    found = _ask(
        place,
        "GET",
        "/memory",
        params={"limit": limit, **({} if before is None else {"before": before})},
    )
    if place.options.as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["id"],
            one["kind"],
            one["trust"],
            one["author"],
            moment(one["created_at"]),
            one["theme"],
            one["title"] or one["excerpt"][:80],
        )
        for one in found["notes"]
    ]
    print_table(("note", "kind", "trust", "author", "added (UTC)", "theme", "text"), rows)
    _more(found)
    return OK


def print_documents(place: LibraryPlace, limit: int, before: int | None) -> int:
    """Documents."""
    found = _ask(
        place,
        "GET",
        "/docs",
        params={"limit": limit, **({} if before is None else {"before": before})},
    )
    if place.options.as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["id"],
            one["title"],
            one["media_type"],
            one["size"],
            one["pages"] or "",
            one["passages"],
            moment(one["created_at"]),
            one["session"],
        )
        for one in found["documents"]
    ]
    print_table(
        ("document", "name", "type", "bytes", "pages", "passages", "added (UTC)", "session"), rows
    )
    _more(found)
    return OK


def _more(found: dict[str, Any]) -> None:
    if found["next"] is not None:
        show(f"more: --before {found['next']}")


def print_document(place: LibraryPlace, document: str) -> int:
    """One document."""
    found = _ask_of(place, "GET", DOCUMENT, document)
    if place.options.as_json:
        print_json(found)
        return OK
    pages = f", {number_of(found['pages'], 'page')}" if found["pages"] else ""
    show(
        f"{found['title']} ({found['media_type']}, {found['size']} bytes{pages}), "
        f"{number_of(found['passages'], 'passage')}, from {found['source']}"
    )
    if found["session"]:
        show(
            "it came with a message, and is found in session "
            f"{plain(found['session'], SHOWN)} alone"
        )
    for one in found["contents"]:
        page = f"page {one['page']}, " if one["page"] else ""
        heading = f"  {plain(one['heading'], SHOWN)}" if one["heading"] else ""
        show(f"\n{page}{one['start']}-{one['stop']}{heading}")
        show_words(one["text"])
    return OK


def remove(place: LibraryPlace, kind: IdKind, item: str) -> int:
    """Forget a note, or remove a document.

    Raises:
        NotFound: there is none.
        InvalidRequest: it is part of several ids (``ambiguous_id``).
    """
    done = _ask_of(place, "DELETE", kind, item, drive=True)
    tell_removed(done, as_json=place.options.as_json)
    return OK


def print_reindexed(place: LibraryPlace) -> int:
    """Give vectors to what has none."""
    done = _ask(place, "POST", "/memory/reindex", drive=True)
    if place.options.as_json:
        print_json(done)
    elif done["embedder"]:
        show(
            f"{done['embedded']} of {done['passages']} passages have a vector of "
            f"{done['embedder']}, {done['added']} of them new"
        )
    else:
        show(f"no passage got a vector{_by_words(done)}: {done['passages']} are kept")
    return OK if done["embedder"] else UNAVAILABLE


def add_files(place: LibraryPlace, places: Sequence[Path]) -> int:
    """Add documents, one after the other, and all below a folder; one that cannot be read does not
    keep the others out.

    Raises:
        ConfigurationError: no file is named.
        OrdainError: the only file is refused.
    """
    if not places:
        raise ConfigurationError("name at least one file or folder", code="usage")
    found = found_in(places)
    told = [
        *_refused_folders(place, found),
        *(asyncio.run(_add_files(place, found)) if found.files else ()),
    ]
    counts = Counter("refused" if "error" in one else str(one["outcome"]) for one in told)
    if place.options.as_json:
        passed = [{"file": said(file), "what": what} for file, what in found.passed_over]
        print_json({"documents": told, **({"passed_over": passed} if found.folders else {})})
    elif found.folders:
        _show_counts(counts, found)
    return FAILED if counts["refused"] else OK


def _show_counts(counts: Counter[str], found: FolderFiles) -> None:
    """What became of a folder's files, and what was passed over there, by what it is."""
    words = {
        "added": "added",
        "replaced": "replaced",
        "same": "there already",
        "refused": "refused",
    }
    show(
        ", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts[name])
        or "no document was found"
    )
    kinds: dict[str, list[str]] = {}
    for file, what in found.passed_over:
        kinds.setdefault(what, []).append(plain(said(Path(file.name)), NAME_SHOWN))
    for what, names in sorted(kinds.items(), key=lambda one: -len(one[1])):
        more = f", and {len(names) - PASSED_SHOWN} more" if len(names) > PASSED_SHOWN else ""
        show(f"passed over: {len(names)} × {what} ({', '.join(names[:PASSED_SHOWN])}{more})")


def _refused_folders(place: LibraryPlace, found: FolderFiles) -> list[dict[str, Any]]:
    """The folders that cannot be read, told as files are: whoever looks for what is in them is not
    to take it for nothing.
    """
    told: list[dict[str, Any]] = []
    for folder, why in found.refused:
        told.append(
            {
                "file": said(folder),
                "error": {
                    "code": "cannot_read",
                    "message": f"cannot read the folder {said(folder)}: {why}",
                },
            }
        )
        if not place.options.as_json:
            _show_added(told[-1])
    return told


async def _add_files(place: LibraryPlace, found: FolderFiles) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    counting = found.folders and sys.stderr.isatty() and not place.options.as_json
    async with connect(home_of(place.options.data_dir), drive=True) as connection:
        for number, file in enumerate(found.files, 1):
            if counting:
                print(
                    f"\r\x1b[K{number} of {len(found.files)}: {plain(file.name, NAME_SHOWN)}",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
            try:
                told.append(
                    {
                        "file": str(file),
                        **await _add_file(connection, place, file, counted=counting),
                    }
                )
            except Transient:
                raise
            except OrdainError as error:
                if len(found.files) == 1 and not found.folders:
                    raise
                told.append(
                    {"file": said(file), "error": {"code": error.code, "message": error.message}}
                )
            if counting:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            if not place.options.as_json and not (
                found.folders and told[-1].get("outcome") == "same"
            ):
                _show_added(told[-1])
    return told


def _show_added(one: dict[str, Any]) -> None:
    file = plain(one["file"], SHOWN)
    if "error" in one:
        show(f"refused: {file}: {one['error']['message']} [{one['error']['code']}]")
        return
    how = {"same": "there already", "replaced": "replaced"}.get(one["outcome"], "added")
    passages = f", {number_of(one['passages'], 'passage')}" if one["passages"] else ""
    show(f"{how}: {one['id']}  {file}{passages}")


def _content(file: Path) -> tuple[bytes, str]:
    """A file's bytes, and where it lies."""
    if not is_named(file):
        raise ConfigurationError(
            f"{said(file)} has a name that is no UTF-8: rename it", code="cannot_read"
        )
    if len(file.name) > NAME_CHARS:
        raise ConfigurationError(
            f"{file} has a name of more than {NAME_CHARS} characters: rename it",
            code="invalid_name",
        )
    try:
        if not file.is_file():
            raise ConfigurationError(f"{file} is no file", code="cannot_read")
        if file.stat().st_size > DOCUMENT_BYTES:
            raise ConfigurationError(
                f"{file} is larger than {said_bytes(DOCUMENT_BYTES)}", code="document_too_large"
            )
        if len(source := str(file.resolve())) > SOURCE_CHARS:
            raise ConfigurationError(
                f"{file} lies at a path of more than {SOURCE_CHARS} characters: move it",
                code="invalid_name",
            )
        return file.read_bytes(), source
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="cannot_read"
        ) from error


async def _add_file(
    connection: Connection, place: LibraryPlace, file: Path, *, counted: bool
) -> dict[str, Any]:
    content, source = _content(file)
    headers = {**place.headers, "Content-Type": OCTETS}
    params = {"name": file.name, "source": source}
    if counted or len(content) < SLOW_BYTES or not sys.stderr.isatty():
        return await connection.ask(
            "POST", "/docs", content=content, headers=headers, params=params
        )
    return await connection.told(
        "/docs",
        _show_progress,
        content=content,
        headers={**headers, "Accept": LINES},
        params=params,
    )


def _show_progress(one: dict[str, Any]) -> None:
    end = "\n" if one["stored"] == one["of"] else ""
    print(f"\r{one['stored']} of {one['of']} passages", end=end, file=sys.stderr, flush=True)
