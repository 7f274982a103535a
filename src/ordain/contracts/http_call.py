"""An HTTP request declared as data: the ``http`` field of a verb.

A placeholder ``{name}`` stands for an argument of the verb. It may stand in the path, in a query
value and in a header value, never in what decides where the request goes: scheme, host and port are
written out. An argument that no placeholder names goes into the body. A secret is only ever named
here; its value is in the settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, cast
from urllib.parse import unquote

from pydantic import Field, StringConstraints

from ordain.contracts.faults import Fault, FieldPath
from ordain.contracts.planner import Strict

PLACEHOLDER = re.compile(r"\{([a-z_][a-zA-Z0-9_]*)\}")
TEMPLATE_MAX = 2000
_BRACE = re.compile(r"[{}]")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|"
    r"\[[0-9a-f:.]{2,45}\])(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/[A-Za-z0-9._~!$&'()*+,;=:@%{}/-]*)?\Z"
)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}\Z")
_OWN_HEADERS = frozenset(
    (
        "host",
        "content-length",
        "content-type",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "accept-encoding",
    )
) | {"keep-alive", "proxy-authorization", "proxy-connection", "proxy-authenticate"}
"""Headers that the runtime sets itself, or that change how a message is framed."""


_OVERRIDES = frozenset(
    prefix + name
    for prefix in ("x", "")
    for name in ("httpmethodoverride", "httpmethod", "methodoverride", "overridemethod")
) | {"xmethod"}
"""Names by which servers let a request say that another method is meant, without case and
punctuation, of which servers and what stands before them read some alike.
"""
_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class HttpMethod(StrEnum):
    """What is asked of the resource."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class SecretReference(Strict):
    """A secret by its name in ``[verbs.secrets]`` of the settings; ``prefix`` stands before it."""

    secret: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")
    prefix: str = Field(default="", max_length=40, pattern=r"^[\x20-\x7e]*$")


Template = Annotated[
    str, StringConstraints(max_length=TEMPLATE_MAX, pattern=r"^[^\x00-\x1f\x7f]*$")
]


class HttpCall(Strict):
    """One request and what is taken from its answer."""

    method: HttpMethod = HttpMethod.GET
    url: str = Field(
        max_length=TEMPLATE_MAX,
        description="Scheme, host and port written out; placeholders in the path only; no query.",
    )
    hosts: list[str] = Field(
        min_length=1,
        max_length=20,
        description="Confirms the host of the URL, which has to be here; no other is asked.",
    )
    private: bool = Field(
        default=False, description="The host may have a private address. With effect read it must."
    )
    query: dict[str, Template | SecretReference] = Field(default={}, max_length=50)
    headers: dict[str, Template | SecretReference] = Field(default={}, max_length=50)
    body: Literal["json", "form", "none"] | None = Field(
        default=None,
        description=(
            "How arguments that no placeholder names are sent; json for POST, PUT and PATCH, "
            "else none."
        ),
    )
    idempotency_header: str | None = Field(
        default=None, description="The header that carries the call's idempotency key."
    )
    max_response_bytes: int = Field(default=262_144, ge=1, le=1_000_000)
    result: Literal["json", "text"] = "json"
    path: str | None = Field(
        default=None,
        max_length=300,
        pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$",
        description=(
            "Where in the JSON answer the output stands: keys and list indexes with dots between."
        ),
    )

    @property
    def encoding(self) -> Literal["json", "form", "none"]:
        """How the body is sent."""
        return self.body or (
            "json" if self.method in {HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH} else "none"
        )

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the secrets that the request needs."""
        values = (*self.query.values(), *self.headers.values())
        return frozenset(value.secret for value in values if isinstance(value, SecretReference))

    @property
    def host(self) -> str:
        """The host of the URL; "" where it is no URL."""
        found = _URL.match(self.url)
        return found["host"].strip("[]") if found else ""

    def placed(self) -> frozenset[str]:
        """The arguments that stand in path, query and headers."""
        texts = (self.url, *self.query.values(), *self.headers.values())
        return frozenset(
            name for text in texts if isinstance(text, str) for name in PLACEHOLDER.findall(text)
        )

    def override(self, schema: Mapping[str, Any]) -> tuple[str, HttpMethod] | None:
        """The name of what may tell the server that another method is meant (a header, a parameter,
        an argument in the body), and the strictest it may name.

        What nobody knows before the call, or what is no method that this house knows, counts as a
        deletion. None: nothing tells of another.
        """
        body = (
            ()
            if self.encoding == "none"
            else cast("Mapping[str, Any]", schema.get("properties") or {}).keys() - self.placed()
        )
        keyed = () if self.idempotency_header is None else ((self.idempotency_header, None),)
        given = (
            *self.headers.items(),
            *keyed,
            *self.query.items(),
            *((name, None) for name in sorted(body)),
        )
        found = [(_named(value), name) for name, value in given if _overrides(name)]
        if not found:
            return None
        method, name = max(
            found, key=lambda one: (one[0] is HttpMethod.DELETE, one[0] is not HttpMethod.GET)
        )
        return name, method

    def counts_as(self, schema: Mapping[str, Any]) -> HttpMethod:
        """The strictest method that the server may take the request for: its own, or one that it
        names in its stead.
        """
        found = self.override(schema)
        if found is None or self.method is HttpMethod.DELETE or found[1] is HttpMethod.GET:
            return self.method
        return (
            found[1]
            if self.method is HttpMethod.GET or found[1] is HttpMethod.DELETE
            else self.method
        )

    def asks(self) -> tuple[object, ...]:
        """What decides where a request goes and what it takes along: a change of it is another
        request.
        """
        return (
            self.method,
            self.url,
            self.hosts,
            self.private,
            self.query,
            self.headers,
            self.encoding,
            self.idempotency_header,
        )


def _overrides(name: str) -> bool:
    """Whether a server may read the name as one of another method. ``method`` alone is too common a
    parameter; ``_method`` is what frameworks read.
    """
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain in _OVERRIDES or (plain == "method" and not name[:1].isalnum())


def _named(value: str | SecretReference | None) -> HttpMethod:
    written = value.strip().upper() if isinstance(value, str) else ""
    if written in _HARMLESS:
        return HttpMethod.GET
    return HttpMethod.__members__.get(written, HttpMethod.DELETE)


def http_faults(http: HttpCall, effect: str, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with the request, held against the verb's effect and its input schema."""
    yield from _url_faults(http)
    yield from _part_faults(http)
    properties = cast("dict[str, Any]", schema.get("properties") or {})
    required = cast("list[str]", schema.get("required") or [])
    if schema.get("additionalProperties") is not False:
        yield ("input_schema",), "the input of an HTTP verb is closed: additionalProperties: false"
    if "context" in properties:
        yield (
            ("input_schema", "properties", "context"),
            "an argument of an HTTP verb is not named context",
        )
    if unknown := sorted(http.placed() - properties.keys()):
        yield ("http",), f"placeholders that are no arguments of input_schema: {', '.join(unknown)}"
    for name in sorted(http.placed() & properties.keys()):
        if not _scalar(properties[name]):
            place: FieldPath = ("input_schema", "properties", name)
            yield (
                place,
                (
                    f"{name} stands in the URL, the query or a header: its type is string, "
                    "integer, "
                    "number or boolean"
                ),
            )
    for name in sorted(set(PLACEHOLDER.findall(http.url)) & properties.keys()):
        if name not in required:
            yield ("input_schema", "required"), f"{name} stands in the URL: it is required"
    if http.encoding == "none" and (unsent := sorted(properties.keys() - http.placed())):
        yield ("http", "body"), f"arguments that are sent nowhere: {', '.join(unsent)}"
    if http.encoding == "form" and (
        deep := sorted(
            name for name in properties.keys() - http.placed() if not _scalar(properties[name])
        )
    ):
        yield (
            ("http", "body"),
            f"a form has only strings, numbers and booleans, not: {', '.join(deep)}",
        )
    yield from _effect_faults(http, effect, changes=http.counts_as(schema) is not HttpMethod.GET)


def _scalar(schema: Any) -> bool:
    return isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") in {
        "string",
        "integer",
        "number",
        "boolean",
    }


def _url_faults(http: HttpCall) -> Iterator[Fault]:
    found, place = _URL.match(http.url), ("http", "url")
    if found is None:
        yield (
            place,
            (
                "not an absolute http or https URL with host and port written out in lower case, "
                "without user, query and fragment"
            ),
        )
        return
    if found["port"] is not None and int(found["port"]) > 65535:
        yield place, f"{found['port']} is not a port"
    path = found["path"] or ""
    if _BRACE.search(PLACEHOLDER.sub("", path)):
        yield place, "a brace that belongs to no placeholder {argument}"
    if _ESCAPE.search(path):
        yield place, "% is followed by two hexadecimal digits"
    segments = path.split("/")[1:]
    if any(unquote(segment) in {".", ".."} for segment in segments) or any(
        not segment for segment in segments[:-1]
    ):
        yield place, "a part of the path is empty, . or .."
    if http.host not in http.hosts:
        yield ("http", "hosts"), f"the host of the URL, {http.host}, is not among hosts"


def _part_faults(http: HttpCall) -> Iterator[Fault]:
    for kind, parts in (("query", http.query), ("headers", http.headers)):
        for name, value in parts.items():
            if isinstance(value, str) and _BRACE.search(PLACEHOLDER.sub("", value)):
                yield ("http", kind, name), "a brace that belongs to no placeholder {argument}"
            if kind == "query" and not 1 <= len(name) <= 100:
                yield ("http", kind, name), "the name of a query parameter has 1 to 100 characters"
    names = list(http.headers) + (
        [] if http.idempotency_header is None else [http.idempotency_header]
    )
    for name in names:
        place: FieldPath = (
            ("http", "headers", name) if name in http.headers else ("http", "idempotency_header")
        )
        if not _TOKEN.match(name):
            yield place, f"{name[:40]!r} is not the name of a header"
        elif name.lower() in _OWN_HEADERS:
            yield place, f"{name} is set by the runtime"
    if len({name.lower() for name in names}) < len(names):
        yield ("http", "headers"), "a header stands there twice"
    for name, value in http.headers.items():
        if isinstance(value, str) and not value.isascii():
            yield ("http", "headers", name), "a header has ASCII characters only"
    if http.path is not None and http.result == "text":
        yield ("http", "path"), "a text has no path: result: json"


def _effect_faults(http: HttpCall, effect: str, *, changes: bool) -> Iterator[Fault]:
    """Where the effect contradicts the method. One that is only milder than the floor is none: the
    verb is used at the stricter (``contracts.floor``).
    """
    place: FieldPath = ("effect",)
    match http.method:
        case HttpMethod.GET:
            if effect not in {"read", "egress"} and not changes:
                yield place, f"GET changes nothing: effect read or egress, not {effect}"
            if http.encoding != "none":
                yield ("http", "body"), "GET has no body"
        case HttpMethod.POST:
            if effect == "read":
                yield (
                    place,
                    (
                        "POST sends its arguments out: effect egress where it only asks, else "
                        "private, send, admin, pay, delete or secret"
                    ),
                )
        case _:
            if effect in {"read", "egress"}:
                yield (
                    place,
                    (
                        f"{http.method} changes something: effect private, send, admin, pay, "
                        "delete "
                        "or secret"
                    ),
                )
    if http.idempotency_header is not None and http.method is HttpMethod.GET and not changes:
        yield ("http", "idempotency_header"), "GET needs no idempotency key"
