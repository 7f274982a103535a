"""Speaking to runs: over HTTP to the server that holds the data folder, else to the same face in
this process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2

from ordain.cli.places import ServerNote, read_note
from ordain.cli.proven import ProvenTransport
from ordain.cli.short_ids import IdKind, whole_id
from ordain.contracts.access import COMMAND, parse_token
from ordain.contracts.conversation import WORKSPACE_ID
from ordain.errors import (
    CallerError,
    ConfigurationError,
    Conflict,
    InvalidRequest,
    NotFound,
    OrdainError,
    Refused,
    Transient,
    Unauthenticated,
)
from ordain.owned_files import read_owned

PROBE_S = 2.0
PROOF_S = 30.0
"""How long a server that proved itself before may take to do so again: it may be busy."""
PRINCIPAL = COMMAND
WORKSPACE_CHARS = 64
_WORKSPACE = re.compile(WORKSPACE_ID.removesuffix("$"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The HTTP face, wherever it runs; ``embedded`` means that the run stops with this process.

    ``as_user`` are the headers by which a request says that the user whose data folder it is asks:
    who decides an approval is known by name.
    """

    http: httpx2.AsyncClient
    embedded: bool
    as_user: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Any:
        """One request; the decoded body of a success.

        Raises:
            OrdainError: as the problem says, or ``server_gone``.
        """
        given = {"Content-Type": "application/json"} if content is not None else {}
        try:
            response = await self.http.request(
                method, path, content=content, headers={**given, **(headers or {})}, **options
            )
        except httpx2.HTTPError as error:
            raise Transient(
                f"the server went away: {type(error).__name__}", code="server_gone"
            ) from error
        except httpx2.InvalidURL as error:
            raise InvalidRequest(f"this cannot be asked for: {error}") from error
        if response.is_success:
            return response.json()
        raise refusal(response)

    async def whole_id(
        self, kind: IdKind, given: str, headers: Mapping[str, str] | None = None
    ) -> str:
        """The id that was meant by what was typed.

        Raises: as ``short_ids.whole_id`` and ``ask``.
        """

        async def listed(params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
            page = await self.ask("GET", kind.path, headers=headers, params=dict(params))
            return page[kind.items]

        return await whole_id(kind, given, listed)

    async def told(
        self, path: str, progress: Callable[[dict[str, Any]], None], **options: Any
    ) -> Any:
        """One posting that tells how far it is: the last line of its answer, the others go to
        ``progress``.

        Raises: as ``ask``.
        """
        try:
            async with self.http.stream("POST", path, **options) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                async for line in response.aiter_lines():
                    one = json.loads(line)
                    match one.pop("event"):
                        case "progress":
                            progress(one)
                        case "refused":
                            raise refusal(
                                httpx2.Response(one["problem"]["status"], json=one["problem"])
                            )
                        case _:
                            return one
        except httpx2.HTTPError as error:
            raise Transient(
                f"the server went away: {type(error).__name__}", code="server_gone"
            ) from error
        raise Transient("the server went away before it was done", code="server_gone")


def in_workspace(name: str) -> dict[str, str]:
    """The header that says in which workspace a request is.

    Raises:
        InvalidRequest: no workspace has this name (``invalid_workspace``); nothing is sent.
    """
    if not _WORKSPACE.fullmatch(name):
        message = (
            f"{name} is no workspace: a-z, 0-9 and . _ - behind the first letter or digit, "
            f"{WORKSPACE_CHARS} at most"
        )
        raise InvalidRequest(message, code="invalid_workspace")
    return {"Ordain-Workspace": name}


def refusal(response: httpx2.Response) -> OrdainError:
    """A problem as the error it came from."""
    try:
        said = response.json()
        code, detail = str(said["code"]), str(said["detail"])
        errors = [
            (str(one["place"] or "/"), str(one["message"])) for one in said.get("errors") or ()
        ]
    except (ValueError, KeyError, TypeError):
        code, detail, errors = "unexpected", f"HTTP {response.status_code}", []
    once = () if any(why == detail for _, why in errors) else (detail,)
    message = (
        ": ".join((*once, "; ".join(f"{place}: {why}" for place, why in errors)))
        if errors
        else detail
    )
    match response.status_code:
        case 401:
            return Unauthenticated(message, code=code)
        case 404:
            return NotFound(message, code=code)
        case 409:
            return Conflict(message, code=code)
        case 403 | 429:
            return Refused(message, code=code, status=response.status_code)
        case 503:
            return Transient(message, code=code)
        case status if status < 500:
            return CallerError(message, code=code)
        case _:
            return OrdainError(message, code=code)


async def running_server(home: Path) -> ServerNote | None:
    """The server that holds the folder, if its note is true, which it proves: whoever else answers
    there learns nothing.
    """
    note = read_note(home)
    if note is None:
        return None
    try:
        async with httpx2.AsyncClient(
            base_url=note.url,
            timeout=PROBE_S,
            transport=ProvenTransport(lambda: note.proof, PROBE_S),
        ) as http:
            said: Any = (await http.get("/health")).json()
            return note if said["instance"] == note.instance else None
    except (httpx2.HTTPError, httpx2.InvalidURL, Transient, ValueError, KeyError, TypeError):
        return None


def connect(home: Path, *, drive: bool) -> AbstractAsyncContextManager[Connection]:
    """The server's face, or one in this process: with an engine where ``drive``, else over the
    storage as it lies.

    Raises:
        StorageUnavailable: an engine that does not answer holds the folder.
    """
    return _connected(home, _driven if drive else _as_it_lies)


def connect_current(home: Path) -> AbstractAsyncContextManager[Connection]:
    """For looking: the server's face, or one over the storage as it lies, under the policy, verbs
    and templates that the folder has now.

    Raises:
        ConfigurationError: these are wrong.
    """
    return _connected(home, _under_current)


def connect_served(home: Path) -> AbstractAsyncContextManager[Connection]:
    """The server that holds the folder, else one that this process is for as long as it lasts:
    streams work either way.

    Raises:
        StorageUnavailable: an engine that does not answer holds the folder.
    """
    return _connected(home, _served)


@asynccontextmanager
async def _connected(
    home: Path, here: Callable[[Path], AbstractAsyncContextManager[Connection]]
) -> AsyncGenerator[Connection]:
    """The server that holds the folder, else what ``here`` makes in this process."""
    note = await running_server(home)
    if note is None:
        async with here(home) as connection:
            yield connection
    else:
        async with _over_http(home, note) as http:
            yield Connection(http=http, embedded=False, as_user=_as_user(note.key))


@asynccontextmanager
async def _driven(home: Path) -> AsyncGenerator[Connection]:
    from ordain.app import Ordain  # lazy: beside a server none of this is needed
    from ordain.settings import load_settings  # lazy: see above

    async with (
        Ordain(load_settings(home=home)) as ordain,
        _embedded(ordain.runtime, ordain.settings) as (http, key),
    ):
        yield Connection(http=http, embedded=True, as_user=_as_user(key))


@asynccontextmanager
async def _as_it_lies(home: Path) -> AsyncGenerator[Connection]:
    from ordain.cli.archive import open_archive  # lazy: beside a server none of this is needed

    with open_archive(home) as archive:
        async with _embedded(archive.runtime) as (http, key):
            yield Connection(http=http, embedded=True, as_user=_as_user(key))


@asynccontextmanager
async def _under_current(home: Path) -> AsyncGenerator[Connection]:
    from ordain.catalogs import (
        build_catalog,
        build_registry,
    )  # lazy: beside a server none of this is needed
    from ordain.cli.archive import open_archive  # lazy: see above
    from ordain.settings import load_settings  # lazy: see above

    settings = load_settings(home=home)
    with open_archive(home) as archive:
        archive.runtime.services.catalogs.current = build_catalog(
            settings, build_registry(settings), archive.runtime.services.kinds
        )
        async with _embedded(archive.runtime) as (http, key):
            yield Connection(http=http, embedded=True, as_user=_as_user(key))


@asynccontextmanager
async def _served(home: Path) -> AsyncGenerator[Connection]:
    # it takes a second, in which a chat's prompt is typed at
    await asyncio.to_thread(import_module, "ordain.cli.server")
    from ordain.app import Ordain  # lazy: beside a server none of this is needed
    from ordain.cli.server import listening, served  # lazy: see above
    from ordain.settings import load_settings  # lazy: see above

    given = load_settings(home=home)
    settings = given.model_copy(
        update={"server": given.server.model_copy(update={"host": "127.0.0.1"}), "port": 0}
    )
    async with Ordain(settings) as ordain:
        with listening(settings) as listener:
            async with (
                served(ordain, listener, PRINCIPAL) as serving,
                _over_http(home, serving.note) as http,
            ):
                yield Connection(http=http, embedded=True, as_user=_as_user(serving.note.key))


def _over_http(home: Path, note: ServerNote) -> httpx2.AsyncClient:
    def key() -> str:
        now = read_note(home)  # a server that was started anew at the same address has another one
        return note.proof if now is None or now.url != note.url else now.proof

    token = own_token() or (note.key if note.demanded else "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.AsyncClient(
        base_url=note.url, headers=headers, timeout=None, transport=ProvenTransport(key, PROOF_S)
    )


def _as_user(key: str) -> dict[str, str]:
    """What a request says of the user whose data folder it is; nothing where the environment gives
    a token, whose principal it is then.
    """
    return {} if own_token() or not key else {"Authorization": f"Bearer {key}"}


def own_token(file: Path | None = None) -> str:
    """The token that this command is given: in ``file``, else by the environment, itself or in a
    file; "" where nobody gives one.

    Raises:
        ConfigurationError: it cannot be read, or is none.
    """
    token, named = os.environ.get("ORDAIN_TOKEN", "").strip(), os.environ.get("ORDAIN_TOKEN_FILE")
    if file is not None:
        return _good(_read(file, "--token-file"), "--token-file")
    if not token and named:
        return _good(_read(Path(named), "ORDAIN_TOKEN_FILE"), "ORDAIN_TOKEN_FILE")
    return _good(token, "ORDAIN_TOKEN") if token else ""


def _read(file: Path, named: str) -> str:
    try:
        return read_owned(file.expanduser()).strip()
    except ConfigurationError as error:
        raise ConfigurationError(f"{named}: {error.message}", code=error.code) from None


def _good(token: str, named: str) -> str:
    if parse_token(token) is None:
        raise ConfigurationError(f"{named} holds no token: mistyped, cut or of another kind")
    return token


@asynccontextmanager
async def _embedded(
    runtime: Any, settings: Any = None
) -> AsyncGenerator[tuple[httpx2.AsyncClient, str]]:
    """The face in this process, and the key of whoever's process it is."""
    from ordain.runtime.access import Exposure  # lazy: beside a server none of this is needed
    from ordain.runtime.tokens import fresh_token  # lazy: see above
    from ordain.server import Face, build_app  # lazy: see above
    from ordain.server.bodies import SHIPPED, BodyBounds  # lazy: see above

    body = (
        SHIPPED
        if settings is None
        else BodyBounds(bytes=settings.server.body_bytes, values=settings.server.body_values)
    )
    key, parsed = fresh_token(runtime.services.clock)
    face = Face(
        runtime=runtime, principal=PRINCIPAL, body=body, exposure=Exposure(owner=parsed.digest)
    )
    transport = httpx2.ASGITransport(build_app(face), raise_app_exceptions=False)
    log = logging.getLogger("ordain.approvals")
    log.addFilter(_not_refusing)  # who is refused here is the one who reads the log: once is enough
    try:
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=None
        ) as http:
            yield http, key
    finally:
        log.removeFilter(_not_refusing)


def _not_refusing(record: logging.LogRecord) -> bool:
    return record.levelno != logging.WARNING
