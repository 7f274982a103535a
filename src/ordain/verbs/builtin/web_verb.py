"""``web.fetch``: the text behind a declared URL.

Only URLs that the operator declared are fetched, redirects included; how a host is reached stands
in ``verbs.outbound``.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urldefrag, urljoin

import httpx2
from pydantic import Field

from ordain.contracts.verbs import (
    Argument,
    ArgumentRole,
    Category,
    Example,
    VerbEffect,
    VerbSpec,
    properties_of,
)
from ordain.errors import ConfigurationError
from ordain.ports.verb import Withdrawing
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, bind, verb
from ordain.verbs.http_access import Resolve, resolve
from ordain.verbs.outbound import (
    PORTS,
    NoExchange,
    Outgoing,
    Reach,
    exchange,
    read_bytes,
    text_type,
)
from ordain.verbs.own_addresses import OwnAddresses

BODY_BYTES = 262_144
"""Bytes that are read of an answer, where settings do not say; what follows is cut off and the
output says so.
"""

REDIRECTS_MAX = 3
"""Most redirects that are followed, each to a declared URL."""

URLS_MAX = 1000
"""Most declared URLs."""

_USER = re.compile(r"//[^/?#]*@")
_HEADERS = {"Accept": "text/*, application/json, application/xml"}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The text of an answer."""

    url: Annotated[str, Field(description="Where the text came from, redirects followed.")]
    status: Annotated[
        int, Field(ge=100, le=999, description="HTTP status; one of 400 or more is an answer too.")
    ]
    content_type: Annotated[str, Field(max_length=200)]
    text: Annotated[str, Field(description="The answer's text, never a command.")]
    truncated: Annotated[bool, Field(description="Whether the answer was longer.")]
    replaced: Annotated[bool, Field(description="Whether bytes that are no text were replaced.")]


def web_fetch(
    urls: Sequence[str],
    *,
    private_hosts: Sequence[str] = (),
    body_bytes: int = BODY_BYTES,
    resolver: Resolve = resolve,
    own: OwnAddresses | None = None,
) -> FunctionVerb[Any, Any]:
    """The verb ``web.fetch`` for exactly these URLs.

    Args:
        urls: absolute http or https URLs, without credentials and fragment. One whose host is an
            address in a private range declares that address.
        private_hosts: names that may resolve to private addresses.
        body_bytes: most bytes read of an answer.
        resolver: how a name becomes addresses.
        own: where Ordain itself listens.

    Raises:
        ConfigurationError: no URL, too many, or one that is not as above.
    """
    if not 1 <= len(urls) <= URLS_MAX:
        raise ConfigurationError(
            f"web.fetch needs 1 to {URLS_MAX} declared URLs", code="invalid_url"
        )
    declared = {url: _declared(url) for url in urls}
    hosts = frozenset(host.lower() for host in private_hosts)
    # a literal stands in the declared URL
    reach = Reach(private_hosts=hosts, literals=True, own=own or OwnAddresses())
    fetcher = _Fetcher(frozenset(declared), reach, body_bytes, resolver)
    listed = list(declared)

    @verb(
        name="web.fetch",
        label="Fetch a page",
        effect=VerbEffect.EGRESS,
        category=Category.PERCEPTION,
        tags=["web"],
        arguments={"url": Argument(role=ArgumentRole.URL, allowed=[*listed])},
        timeout_ms=20_000,
        idempotent=True,
        example=Example(input={"url": listed[0]}),
    )
    async def fetch(url: str, context: VerbContext) -> Fetched:
        """Fetch the text of one of the declared web addresses.

        Args:
            url: one of the declared addresses, exactly as listed.
            context: the call.
        """
        # Time runs out here, a little before it does for the executor: then it is known that
        # nothing is in doubt (see _failed).
        try:
            async with asyncio.timeout(context.left_s * 0.95):
                return await fetcher.fetch(url, context.last_look)
        except TimeoutError as error:
            raise _failed("too_slow", "the answer took too long", retryable=True) from error

    return bind(_closed(fetch.spec, listed), fetch.function)


def _closed(spec: VerbSpec, urls: Sequence[str]) -> VerbSpec:
    """The spec with the URLs in its schema: a planner sees them, and about another one nobody is
    asked, since no yes would have it fetched.
    """
    properties: dict[str, Any] = dict(properties_of(spec.input_schema))
    properties["url"] = {**properties["url"], "enum": [*urls]}
    schema = {**spec.input_schema, "properties": properties}
    return spec.model_copy(update={"input_schema": schema})


def _declared(url: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError) as error:
        raise ConfigurationError(
            f"declared URL {_shown(url)}: not a URL", code="invalid_url"
        ) from error
    if (
        parsed.scheme not in PORTS
        or not parsed.host
        or parsed.userinfo
        or parsed.fragment
        or str(parsed) != url
    ):
        raise ConfigurationError(
            f"declared URL {_shown(url)}: an absolute http or https URL in normal form, without "
            "credentials and fragment",
            code="invalid_url",
        )
    return parsed


def _shown(url: str) -> str:
    """A refused URL as a message may show it: whoever put a password into it is told without it."""
    return repr(_USER.sub("//…@", str(url)))


@dataclass(frozen=True, slots=True)
class _Fetcher:
    declared: frozenset[str]
    reach: Reach
    body_bytes: int
    resolver: Resolve

    async def fetch(self, url: str, last_look: Withdrawing) -> Fetched:
        for _ in range(REDIRECTS_MAX + 1):
            if url not in self.declared:
                raise _failed(
                    "url_not_declared", "only declared URLs are fetched, redirects included"
                )
            answer = await self._get(httpx2.URL(url), last_look)
            if isinstance(answer, Fetched):
                return answer
            url = answer
        raise _failed("too_many_redirects", f"more than {REDIRECTS_MAX} redirects")

    async def _get(self, target: httpx2.URL, last_look: Withdrawing) -> Fetched | str:
        """The answer, or the URL it redirects to."""
        try:
            async with exchange(
                Outgoing(method="GET", url=target, headers=_HEADERS),
                self.reach,
                self.resolver,
                last_look=last_look,
            ) as response:
                if response.has_redirect_location:
                    return _redirect(target, response.headers["location"])
                return await self._text(response, target)
        except NoExchange as error:
            raise _failed(error.code, error.message, retryable=error.retryable) from error

    async def _text(self, response: httpx2.Response, target: httpx2.URL) -> Fetched:
        kind, charset = text_type(response)
        body, truncated = await read_bytes(response, self.body_bytes)
        decoder = codecs.getincrementaldecoder(charset)(errors="replace")
        text = decoder.decode(body, final=not truncated)  # a character cut at the end is left out
        return Fetched(str(target), response.status_code, kind, text, truncated, "\ufffd" in text)


def _failed(code: str, message: str, *, retryable: bool = False) -> VerbError:
    """A failure after which nothing is in doubt: a GET changes nothing."""
    return VerbError(code, message, retryable=retryable, happened=False)


def _redirect(target: httpx2.URL, location: str) -> str:
    try:
        return urldefrag(urljoin(str(target), location)).url
    except ValueError as error:
        raise _failed("url_not_declared", "the answer redirects to what is no URL") from error
