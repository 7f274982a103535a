"""Which model servers run on this machine, and what models an endpoint has: asked at
``/v1/models``, briefly, and of loopback alone unless somebody named the address.

No proxy, no redirect, no key to whatever happens to listen; an answer that is no list of models is
no endpoint.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import msgspec
from msgspec import Struct

from ordain.contracts.hosted import LOOPBACK, PLANNER_MODEL, is_assumed, one_spelling
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.visible import visible_line
from ordain.errors import ConfigurationError

USUAL: Mapping[str, tuple[str, int]] = {
    "ollama": ("Ollama", 11434),
    "llamacpp": ("llama.cpp", 8080),
    "lmstudio": ("LM Studio", 1234),
    "vllm": ("vLLM", 8000),
}
"""Servers by the name that a command knows: what people call them, and the port that they listen on
unless told otherwise.
"""
OLLAMA_HOST = "OLLAMA_HOST"
"""Ollama's own variable for where it listens; one beyond this machine is not asked."""
PROBE_S = 2.0
"""A port where nobody listens refuses at once; this is for one that listens and is busy, or
silent.
"""
NAMED_S = 5.0
ANSWER_BYTES = 1024 * 1024
MODELS_MAX = 1000
NAMES_TOLD = 20
OURS = "ordain"
"""What an Ordain says owns its models: it is no model server to itself."""
NO_TALKERS = ("embed", "bge-", "rerank", "whisper", "clip-")
"""In names of models that hold no conversation."""


class Presence(StrEnum):
    """What came of asking an endpoint for its models."""

    MODELS = "models"
    WANTS_KEY = "wants_key"
    FOREIGN = "foreign"
    """It answers, and not with a list of models: something else listens there."""
    SILENT = "silent"
    """It listens, and did not answer in time."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """A server that is there: ``use`` its name in ``USUAL``, ``models`` as it lists them,
    ``context_tokens`` by model where it says so.
    """

    use: str
    title: str
    base_url: str
    models: tuple[str, ...]
    context_tokens: Mapping[str, int]
    heard: Presence = Presence.MODELS

    @property
    def talkers(self) -> tuple[str, ...]:
        """The models, without those whose names say that they only embed or hear."""
        return tuple(
            name for name in self.models if not any(part in name.lower() for part in NO_TALKERS)
        )


def usual_places(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Base URLs on this machine's loopback, by name of the server."""
    env = os.environ if environment is None else environment
    places = {use: f"http://127.0.0.1:{port}/v1" for use, (_, port) in USUAL.items()}
    if own := _ollama(env.get(OLLAMA_HOST, "").strip()):
        places["ollama"] = own
    return places


def _ollama(host: str) -> str | None:
    try:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        name, port = parts.hostname, parts.port or USUAL["ollama"][1]
    except ValueError:
        return None
    if name == "0.0.0.0":  # noqa: S104 - where it listens; it is asked on loopback
        name = "127.0.0.1"
    if name not in LOOPBACK or parts.scheme != "http":
        return None
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/v1"


async def on_this_machine(places: Mapping[str, str]) -> list[Endpoint]:
    """The servers that listen at these places, in their order, each asked for ``PROBE_S`` at most.
    Never raises for what it meets.
    """
    found = await asyncio.gather(
        *(listed(use, url, limit_s=PROBE_S) for use, url in places.items())
    )
    return [endpoint for endpoint in found if endpoint is not None]


async def listed(
    use: str, base_url: str, key: str = "", limit_s: float = NAMED_S
) -> Endpoint | None:
    """What an endpoint says its models are, or what it said instead; None where nothing listens."""
    base_url = one_spelling(base_url)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # without TLS no authority needs loading
    tls = True if base_url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    body = b""
    try:
        async with (
            asyncio.timeout(limit_s),
            httpx2.AsyncClient(
                verify=tls,
                trust_env=not _is_loopback(base_url),
                follow_redirects=False,
                timeout=limit_s,
            ) as http,
            http.stream("GET", f"{base_url}/models", headers=headers) as response,
        ):
            if response.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                ours = f'realm="{OURS}"' in response.headers.get("www-authenticate", "")
                return _other(use, base_url, Presence.FOREIGN if ours else Presence.WANTS_KEY)
            if response.status_code != HTTPStatus.OK:
                return _other(use, base_url, Presence.FOREIGN)
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > ANSWER_BYTES:
                    return _other(use, base_url, Presence.FOREIGN)
    except (TimeoutError, httpx2.TimeoutException):
        return _other(use, base_url, Presence.SILENT)
    except httpx2.RemoteProtocolError:
        return _other(use, base_url, Presence.FOREIGN)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
        return None
    return _endpoint(use, base_url, body) or _other(use, base_url, Presence.FOREIGN)


async def check_assumed(
    profiles: Mapping[str, ModelProfile], used: Iterable[str], secrets: Mapping[str, str]
) -> None:
    """Whether servers of one's own that are asked for the model that nobody named may have it: what
    lists others only would answer as a model nobody chose.

    What lists nothing, or does not answer now, is asked when it is needed. Profiles that name a
    model are not looked at.

    Raises:
        ConfigurationError: one lists other models (``model_missing``), which the message names.
    """
    for name in used:
        profile = profiles[name]
        if not is_assumed(profiles, [name]):
            continue
        found = await listed(name, profile.base_url or "", secrets.get(name, ""), PROBE_S)
        if found is None or not found.models or PLANNER_MODEL in found.models:
            continue
        has = ", ".join(visible_line(one, 100) for one in found.models[:NAMES_TOLD])
        more = (
            f" and {len(found.models) - NAMES_TOLD} more" if len(found.models) > NAMES_TOLD else ""
        )
        message = (
            f"no model is named for {found.base_url} (profile {name}), and it has no "
            f"{PLANNER_MODEL}, which is asked for then. "
            f"It has {has}{more}: set PLANNER_MODEL to one of them, or run: ordain init"
        )
        raise ConfigurationError(message, code="model_missing")


def _other(use: str, base_url: str, heard: Presence) -> Endpoint:
    return Endpoint(
        use=use, title=_title(use), base_url=base_url, models=(), context_tokens={}, heard=heard
    )


def _title(use: str) -> str:
    return USUAL.get(use, ("an endpoint", 0))[0]


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def _endpoint(use: str, base_url: str, body: bytes) -> Endpoint | None:
    try:
        said: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    data: Any = cast("dict[str, Any]", said).get("data") if isinstance(said, dict) else None
    if not isinstance(data, list):
        return None
    rows = [
        cast("dict[str, Any]", row)
        for row in cast("list[Any]", data)[:MODELS_MAX]
        if isinstance(row, dict)
    ]
    named = [
        row
        for row in rows
        if isinstance(row.get("id"), str) and 1 <= len(row["id"]) <= 200 and row["id"].isprintable()
    ]
    if (data and not named) or any(row.get("owned_by") == OURS for row in named):
        return None
    windows = {
        row["id"]: row["max_model_len"] for row in named if _is_window(row.get("max_model_len"))
    }
    models: Sequence[str] = tuple(dict.fromkeys(row["id"] for row in named))
    return Endpoint(
        use=use, title=_title(use), base_url=base_url, models=tuple(models), context_tokens=windows
    )


def _is_window(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 256 <= value <= 100_000_000
