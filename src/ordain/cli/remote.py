"""A server somewhere else, by its address and a token: no data folder of this machine is read, and
nothing of it is sent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from ordain.cli.connection import Connection, own_token
from ordain.cli.options import RemoteServer
from ordain.errors import ConfigurationError, Transient
from ordain.server.loopback import is_loopback_name

PROBE_S = 15.0
OPENAI_PATH = "/v1"
"""Where OpenAI's clients ask a server: an address that ends so is that server's."""


@asynccontextmanager
async def connect_remote(at: RemoteServer) -> AsyncGenerator[Connection]:
    """The face of a server at an address.

    Raises:
        ConfigurationError: it is no address of one (``invalid_url``), it would send a token that
            everybody on the way could read (``token_in_clear``), or the token cannot be read.
        Transient: nobody answers there, or what does is no Ordain (``server_gone``).
    """
    url, token = _address(at.url), own_token(at.token_file)
    if token and url.scheme != "https" and not is_loopback_name(url.host):
        raise ConfigurationError(
            f"a token goes to {url.host} over https only: over http everybody on the way could "
            "read it",
            code="token_in_clear",
        )
    # who reads plain http on the way reads the token
    proxied = not is_loopback_name(url.host) and (url.scheme == "https" or not token)
    trust = httpx2.create_ssl_context()  # of the environment, also where its proxies do not count
    async with httpx2.AsyncClient(
        base_url=url, timeout=None, verify=trust, trust_env=proxied
    ) as http:
        await _probe(http, at.url)
        if token:  # not before: whoever else answers there learns nothing
            http.headers["Authorization"] = f"Bearer {token}"
        yield Connection(http=http, embedded=False)


def _address(given: str) -> httpx2.URL:
    try:
        url = httpx2.URL(given)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"--url is no address: {error}", code="invalid_url") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(
            "--url is the address of a server: https://HOST[:PORT][/PATH]", code="invalid_url"
        )
    if url.userinfo or url.query or url.fragment:
        raise ConfigurationError(
            "--url has no user, no query and no fragment; a token stands in ORDAIN_TOKEN or a file",
            code="invalid_url",
        )
    whole = url.path.rstrip("/")
    path = whole.removesuffix(OPENAI_PATH)
    return url if path == whole else url.copy_with(path=path or "/")


async def _probe(http: httpx2.AsyncClient, shown: str) -> None:
    """Whether a server of ours answers; whoever else does is sent neither the token nor a word of
    the conversation.
    """
    try:
        said: Any = (await http.get("health", timeout=PROBE_S)).json()
        known = isinstance(said["instance"], str)
    except httpx2.HTTPError as error:
        raise Transient(
            f"nobody answers at {shown}: {type(error).__name__}", code="server_gone"
        ) from error
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise Transient(f"what answers at {shown} is no Ordain", code="server_gone")
