"""Verbs that are an HTTP request declared in YAML (``contracts.http_call``): from arguments to one
request, from its answer to an output.

An argument never decides where a request goes: each value is percent-encoded into one part of the
path, one query value or one header. Redirects are not followed. Secrets are put in here and nowhere
else; what an answer echoes of one is blanked before anybody sees it.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote, unquote, urlencode

import httpx2
import msgspec

from ordain.contracts.floor import stays_inside
from ordain.contracts.http_call import PLACEHOLDER, HttpCall, SecretReference
from ordain.contracts.named_delay import named_delay_ms
from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import VerbSpec
from ordain.errors import ConfigurationError
from ordain.rules.proposals import nesting
from ordain.runtime.seal import Seal
from ordain.runtime.time_limit import TimeLimit
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError
from ordain.verbs.http_access import HttpAccess, Secret
from ordain.verbs.outbound import NoExchange, Outgoing, Reach, exchange, read_bytes, text_type
from ordain.verbs.own_addresses import OwnAddresses
from ordain.verbs.signatures import Signature

URL_VALUE_MAX = 1000
"""Most characters of one argument in a path, a query or a header."""

URL_BYTES_MAX = 8000
"""Longest URL."""

BODY_BYTES_MAX = 1_048_576
"""Largest request body."""

JSON_DEPTH_MAX = 64
_LATER = frozenset({408, 425, 429})
_ACCEPT = {"json": "application/json", "text": "text/*, application/json, application/xml"}


def http_verb(spec: VerbSpec, access: HttpAccess) -> FunctionVerb[..., Any]:
    """The code behind a spec with ``http``.

    Raises:
        ConfigurationError: it needs a secret that the settings do not declare, or declare for other
            hosts; its URL is none.
    """
    http = spec.http
    assert http is not None
    for name in sorted(http.secrets):
        secret = access.secrets.get(name)
        if secret is None:
            raise _wrong(
                spec, f"secret {name} is not declared: add it to [verbs.secrets] of ordain.toml"
            )
        if secret.hosts and http.host not in secret.hosts:
            raise _wrong(spec, f"secret {name} is not declared for host {http.host}")
    try:
        httpx2.URL(PLACEHOLDER.sub("x", http.url))
    except httpx2.InvalidURL as error:
        raise _wrong(spec, "http.url is not a URL") from error
    caller = _Caller(
        http,
        spec.effect in HARMLESS,
        _reach(spec, http, access.own),
        access,
    )

    async def request(*, context: VerbContext, **arguments: Any) -> dict[str, Any]:
        # Time runs out here, a little before it does for the executor: then it is known whether
        # anything is in doubt.
        sending = asyncio.Event()
        try:
            async with TimeLimit(context.left_s * 0.95):
                return await caller.call(arguments, context, sending)
        except TimeoutError as error:
            what = (
                "the answer took too long"
                if sending.is_set()
                else "no connection to the host in time"
            )
            raise caller.failed("too_slow", what, retryable=True, sent=sending.is_set()) from error

    properties = cast("dict[str, Any]", spec.input_schema.get("properties") or {})
    required = cast("list[str]", spec.input_schema.get("required") or [])
    signature = Signature(
        input_schema=dict(spec.input_schema),
        output_schema=dict(spec.output_schema),
        convert=dict.fromkeys(properties, _as_it_is),
        required=frozenset(required),
        wraps=False,
        context=True,
    )
    return FunctionVerb(spec, request, signature, asynchronous=True)


def preview(spec: VerbSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The request that a call would send, with the names of its secrets in their places; nothing is
    sent.

    Raises:
        VerbError: the arguments do not make a request.
    """
    http = spec.http
    assert http is not None
    named = {name: Secret(f"[secret {name}]") for name in http.secrets}
    caller = _Caller(
        http,
        spec.effect in HARMLESS,
        _reach(spec, http, OwnAddresses()),
        HttpAccess(secrets=named),
    )
    request = caller.request(arguments, "[idempotency key]")
    url = str(request.url)
    for secret in named.values():
        url = url.replace(quote(secret.value, safe=""), secret.value)
    body = None if request.content is None else request.content.decode()
    return {
        "method": str(request.method),
        "url": url,
        "headers": dict(request.headers),
        "body": body,
    }


def _wrong(spec: VerbSpec, what: str) -> ConfigurationError:
    return ConfigurationError(f"verb {spec.name}: {what}", code="invalid_verb")


def _as_it_is(value: Any) -> Any:
    return value


def _reach(spec: VerbSpec, http: HttpCall, own: OwnAddresses) -> Reach:
    """What declares less than would be asked of it elsewhere never leaves the private network: its
    arguments are not sent out.
    """
    hosts = frozenset({http.host} if http.private else ())
    return Reach(private_hosts=hosts, literals=http.private, inside=stays_inside(spec), own=own)


@dataclass(frozen=True, slots=True)
class _Caller:
    http: HttpCall
    harmless: bool
    reach: Reach
    access: HttpAccess = field(repr=False)

    def failed(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        sent: bool = False,
        after_s: int = 0,
    ) -> VerbError:
        """What was sent and changes something is in doubt; anything else certainly did not
        happen.
        """
        happened = None if sent and not self.harmless else False
        return VerbError(
            code, message, retryable=retryable, happened=happened, retry_after_s=after_s
        )

    async def call(
        self, arguments: Mapping[str, Any], context: VerbContext, sending: asyncio.Event
    ) -> dict[str, Any]:
        try:
            request = self.request(arguments, context.key)
        except ValueError as error:  # half a surrogate pair: there is no such text
            raise self.failed("bad_input", "an argument is no text that can be sent") from error
        try:
            async with exchange(
                request, self.reach, self.access.resolver, sending, context.last_look
            ) as response:
                self._check_status(response)
                body, more = await read_bytes(response, self.http.max_response_bytes)
                kind, charset = text_type(response) if body else ("", "utf-8")
        except NoExchange as error:
            raise self.failed(
                error.code, error.message, retryable=error.retryable, sent=error.sent
            ) from error
        if more:
            raise self.failed(
                "answer_too_large",
                f"the answer has more than {self.http.max_response_bytes} bytes",
                sent=True,
            )
        return await self._output(kind, codecs.decode(body, charset, "replace"))

    # --- the request ------------------------------------------------------------------------------

    def request(self, arguments: Mapping[str, Any], key: str) -> Outgoing:
        """What is sent. Raises ``VerbError`` (``bad_input``, ``secret_missing``); ``ValueError``
        for what is no text.
        """
        http = self.http
        url = self._url(arguments)
        pairs = [
            (name, text)
            for name, value in http.query.items()
            if (text := self._filled(value, arguments)) is not None
        ]
        if pairs:
            url += "?" + urlencode(pairs, quote_via=quote, safe="")
        if len(url) > URL_BYTES_MAX:
            raise self.failed("bad_input", f"the URL is longer than {URL_BYTES_MAX} bytes")
        headers = (
            {"Accept": _ACCEPT[http.result]}
            if not any(name.lower() == "accept" for name in http.headers)
            else {}
        )
        for name, value in http.headers.items():
            text = self._filled(value, arguments)
            if text is None:
                continue
            if not (text.isascii() and text.isprintable()):
                raise self.failed(
                    "bad_input", f"an argument in header {name} is not printable ASCII"
                )
            headers[name] = text.strip()
        if http.idempotency_header is not None:
            headers[http.idempotency_header] = key
        content = self._body(arguments)
        if content is not None:
            headers["Content-Type"] = (
                "application/json"
                if http.encoding == "json"
                else "application/x-www-form-urlencoded"
            )
        return Outgoing(method=http.method, url=httpx2.URL(url), headers=headers, content=content)

    def _url(self, arguments: Mapping[str, Any]) -> str:
        """Each value is one part of the path, or a piece of one; it opens no other part and climbs
        nowhere, decoded or not.
        """

        def fill(name: str) -> str:
            text = self._text(arguments[name], name)
            if not text or not text.isprintable() or "/" in text or "\\" in text:
                raise self.failed(
                    "bad_input",
                    (
                        f"argument {name} cannot be part of a path: empty, or with a slash or a "
                        "control character"
                    ),
                )
            return quote(text, safe="")

        url = PLACEHOLDER.sub(lambda found: fill(found[1]), self.http.url)
        for template, segment in zip(self.http.url.split("/")[3:], url.split("/")[3:], strict=True):
            if template != segment and unquote(segment).partition(";")[0] in {".", ".."}:
                # some servers cut a part at its semicolon
                raise self.failed("bad_input", "a part of the path would be . or ..")
        return url

    def _filled(self, value: str | SecretReference, arguments: Mapping[str, Any]) -> str | None:
        """A query or header value; None where an argument in it was not given: then the parameter
        is left out.
        """
        if isinstance(value, SecretReference):
            secret = self.access.secrets[value.secret].value
            if not secret:
                raise self.failed("secret_missing", f"secret {value.secret} has no value here")
            return value.prefix + secret
        if not arguments.keys() >= set(PLACEHOLDER.findall(value)):
            return None
        return PLACEHOLDER.sub(lambda found: self._text(arguments[found[1]], found[1]), value)

    def _text(self, value: Any, name: str) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        if len(text) > URL_VALUE_MAX:
            raise self.failed(
                "bad_input",
                (
                    f"argument {name} is longer than {URL_VALUE_MAX} characters, too long for "
                    "a URL "
                    "or a header"
                ),
            )
        return text

    def _body(self, arguments: Mapping[str, Any]) -> bytes | None:
        left = {name: value for name, value in arguments.items() if name not in self.http.placed()}
        match self.http.encoding:
            case "none":
                return None
            case "json":
                content = msgspec.json.encode(left)
            case _:
                texts = {
                    name: value if isinstance(value, str) else json.dumps(value)
                    for name, value in left.items()
                }
                content = urlencode(texts).encode()
        if len(content) > BODY_BYTES_MAX:
            raise self.failed("bad_input", f"the request is larger than {BODY_BYTES_MAX} bytes")
        return content

    # --- the answer -------------------------------------------------------------------------------

    def _check_status(self, response: httpx2.Response) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        said = f"the server answered {status}" + (
            f" {HTTPStatus(status).phrase}" if status in HTTPStatus.__members__.values() else ""
        )
        if status < 400:
            raise self.failed("redirected", f"{said}; redirects are not followed", sent=True)
        after_ms = named_delay_ms(response.headers.get)
        after_s = math.ceil((after_ms or 0) / 1000)
        if after_s:
            said += f"; it asks to wait {after_s} s"
        refused = status in _LATER or (
            status == HTTPStatus.SERVICE_UNAVAILABLE and after_ms is not None
        )
        if refused or status < 500:  # refused before work
            raise self.failed(f"http_{status}", said, retryable=refused, after_s=after_s)
        raise self.failed(f"http_{status}", said, retryable=True, sent=True, after_s=after_s)

    async def _output(self, kind: str, text: str) -> dict[str, Any]:
        if self.http.result == "text":
            return {"text": await self._scrubbed(text)}
        if not text.strip():
            return {}
        if not (kind == "application/json" or kind.endswith("+json")):
            raise self.failed("not_json", "the answer's content type is not JSON", sent=True)
        try:
            if nesting(text) > JSON_DEPTH_MAX:
                raise self.failed(
                    "not_json", f"the answer nests deeper than {JSON_DEPTH_MAX}", sent=True
                )
            value = msgspec.json.decode(text)
        except (ValueError, RecursionError) as error:
            raise self.failed("not_json", "the answer is not JSON", sent=True) from error
        value = await self._scrubbed(self._at_path(value))
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {"result": value}

    def _at_path(self, value: Any) -> Any:
        for step in (self.http.path or "").split(".") if self.http.path else ():
            if isinstance(value, dict) and step in value:
                value = cast("dict[str, Any]", value)[step]
            elif (
                isinstance(value, list)
                and step.isdecimal()
                and len(step) < 9
                and int(step) < len(cast("list[Any]", value))
            ):
                value = cast("list[Any]", value)[int(step)]
            else:
                raise self.failed(
                    "path_missing", f"the answer has nothing at {self.http.path}", sent=True
                )
        return value

    async def _scrubbed(self, value: Any) -> Any:
        """The value without any secret that went out with the request, however short, in whatever
        way a server writes what it was sent.
        """
        sent = [self.access.secrets[name].value for name in self.http.secrets]
        return await Seal(sent, shortest=1).large_value(value) if sent else value
