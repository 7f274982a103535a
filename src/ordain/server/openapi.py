"""The published OpenAPI document: what the routes declare, completed by what is the same for all of
them.

FastAPI makes it, and nothing else here: the routes that answer are Starlette's. Imported when
somebody asks for the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from ordain import __version__
from ordain.server import operators
from ordain.server.approval_shapes import SHAPES as APPROVALS
from ordain.server.cards import CardList, CardView
from ordain.server.documents import REFERENCE, component_schemas
from ordain.server.doors import Door, door_of
from ordain.server.fastapi_signatures import as_documented
from ordain.server.grants import SHAPES as GRANTS
from ordain.server.library import SHAPES
from ordain.server.openai.routes import SHAPES as OPENAI
from ordain.server.openai.wire import is_openai
from ordain.server.problems import MEDIA_TYPE
from ordain.server.refusals import GUARDED, KEY, REFUSALS, refusal_codes
from ordain.server.resource import DeclaredRoute, Resource
from ordain.server.sessions import SessionErased
from ordain.server.tokens import AuditPage, TokenList
from ordain.server.verbs import VerbChoice, VerbList, VerbsReloaded, VerbView
from ordain.server.workflows import WorkflowList, WorkflowView

ABOUT = """Models propose, code ordains.

Refusals are RFC 9457 problem+json with a stable `code`; an accepted request's outcome is 200 with
the source's own body.

**Access.** On loopback no token is asked for, unless the settings say so; beyond it every request
but `GET /health` needs `Authorization: Bearer ordain_…` (401 `unauthenticated`), with the scope
that the operation names and in a workspace of the token's (403 `forbidden`), as often as its rate
permits (429 `rate_limited`). A WebSocket may bring the token as subprotocol `ordain.bearer.TOKEN`
beside `ordain`. A token in an address is refused: 400 `token_in_query`.

**Conversation.** `POST /messages` takes the canonical message; `POST /api/chat` and
`POST /v1/cortex/chat` take the sources' shapes. All end in the same intake: a message is
acknowledged once it is durable, and it has exactly one consequence.
`GET /sessions/{session}/events` streams what follows from it.

**WebSocket.** `GET /ws?session=&after=&workspace=` speaks with one session: `session`, else the one
that the first frame names, else a new one. Each text frame to the server is the payload of
`POST /api/chat` (`HubChat`). It is answered with `SocketAccepted` once it is durable, or with
`SocketRefused`, after which the socket stays open (too many malformed frames in a row close it:
1008). Between these come the session's events (`SessionEvent`) after entry `after`, as on
`/sessions/{session}/events`: those with a `seq` are durable, and a client that reconnects with
`after=` the last one it saw misses nothing. A server that stops closes with 1012.

**Workspaces.** The header `Ordain-Workspace` (default `default`) says which workspace a request is
in. What belongs to another one is 404; one that the token does not belong to is 403. Without the
header a token of one workspace is in that one."""

PROBLEM, OPENAI_REFUSAL = REFERENCE.format(model="Problem"), REFERENCE.format(model="OpenAIRefusal")
RETRY = {429, 503}
BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "ordain_ID_SECRET"}
ANY_JSON = {
    "description": (
        "Any JSON value. Its integers have at most 64 bits with sign, and a body nests at most 64 "
        "levels deep."
    )
}
_RUN, _SESSION = (
    {"run": "$response.body#/run_id"},
    {"session": "$response.body#/sessionId", "seq": "$response.body#/sessionSeq"},
)
_ON_RUN = ("show_run", "show_journal", "cancel_run", "erase_run")
LINKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "plan_react": dict.fromkeys(_ON_RUN, _RUN),
    "execute_verb": dict.fromkeys(_ON_RUN, _RUN),
    "hub_chat": dict.fromkeys(_ON_RUN, _RUN),
    "cancel_run": dict.fromkeys(("show_run", "resume_run", "erase_run"), _RUN),
    "post_message": {
        "show_message": _SESSION,
        "show_session": {"session": _SESSION["session"]},
        "show_run": {"run": "$response.body#/runId"},
    },
}
"""What a success leads to: operation → next operation → its parameters."""


SHOWN = (
    operators.Why,
    operators.Resolution,
    operators.Answer,
    operators.Done,
    SessionErased,
    VerbView,
    VerbChoice,
    VerbList,
    VerbsReloaded,
    WorkflowList,
    WorkflowView,
    CardList,
    CardView,
    TokenList,
    AuditPage,
    *APPROVALS,
    *GRANTS,
    *SHAPES,
    *OPENAI,
)
"""Shapes of bodies that the routes read or answer by themselves."""


def operation_id(route: APIRoute) -> str:
    """An operation is named as its function; a test holds the names apart."""
    return route.name


def published(resources: Sequence[Resource]) -> dict[str, Any]:
    """The document of what ``resources`` declare."""
    app = FastAPI(
        title="Ordain",
        version=__version__,
        description=ABOUT,
        generate_unique_id_function=operation_id,
    )
    for resource in resources:
        router = APIRouter(tags=list(resource.tags), generate_unique_id_function=operation_id)
        for one in resource.declared:
            if isinstance(one, DeclaredRoute):
                router.add_api_route(
                    one.path, as_documented(one.handler), methods=[one.method], **one.options
                )
        # as they were built: to include the router would build each again
        app.router.routes.extend(router.routes)
    return completed(app.openapi(), component_schemas(SHOWN), app.routes)


def completed(
    document: dict[str, Any], schemas: Mapping[str, Any], routes: Sequence[BaseRoute]
) -> dict[str, Any]:
    """Add ``schemas``, refusals, links and summaries; drop the framework's own shape of a refusal,
    which is never sent.
    """
    components = document.setdefault("components", {})
    known = {**components.get("schemas", {}), **schemas, "JsonValue": ANY_JSON}
    components["schemas"] = {
        name: known[name]
        for name in known
        if name not in {"HTTPValidationError", "ValidationError"}
    }
    for route in iter_route_contexts(routes):
        for operation in document["paths"].get(route.path, {}).values():
            _restore_examples(operation, route.original_route)
    components["securitySchemes"] = {"bearer": BEARER}
    responses = _Responses()
    for path, method, operation in operations(document):
        answers = operation["responses"]
        answers.pop("422", None)
        door = door_of(method.upper(), path)
        answers.update(
            responses.of(
                (*refusal_codes(operation, method), *(() if door.public else GUARDED)),
                openai=is_openai(path),
            )
        )
        operation["security"] = _security(door)
        operation.pop(KEY, None)
        operation["summary"] = operation["description"].partition("\n")[0].removesuffix(".")
        _link(operation["operationId"], answers)
    components["responses"] = responses.named
    return document


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, method, operation) of every operation."""
    for path, found in document["paths"].items():
        for method, operation in found.items():
            yield path, method, operation


def _security(door: Door) -> list[dict[str, list[str]]]:
    """Nothing, where nobody is asked for a token; else a token with any one of the scopes."""
    if door.public:
        return []
    scoped: list[dict[str, list[str]]] = [{"bearer": [str(scope)]} for scope in door.scopes]
    return [{}, *(scoped or [{"bearer": []}])]


def _restore_examples(operation: dict[str, Any], route: BaseRoute) -> None:
    """Examples as the route gave them: the framework leaves out whatever is null."""
    if not isinstance(route, APIRoute) or operation["operationId"] != operation_id(route):
        return
    bodies: list[tuple[dict[str, Any], Mapping[str, Any]]] = [
        (operation.get("requestBody", {}), (route.openapi_extra or {}).get("requestBody", {}))
    ]
    bodies += [
        (operation["responses"][str(status)], response)
        for status, response in route.responses.items()
    ]
    for published, given in bodies:
        for kind, content in given.get("content", {}).items():
            if "example" in content:
                published["content"][kind]["example"] = content["example"]


def _link(operation: str, answers: dict[str, Any]) -> None:
    for target, parameters in LINKS.get(operation, {}).items():
        for status in ("200", "202"):
            if status in answers:
                answers[status].setdefault("links", {})[target] = {
                    "operationId": target,
                    "parameters": dict(parameters),
                }


class _Responses:
    """Refusals as shared components: one per status and set of codes."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self._names: dict[tuple[bool, tuple[str, ...]], str] = {}

    def of(self, codes: tuple[str, ...], *, openai: bool) -> dict[str, Any]:
        """One response per status; ``openai``: in the shape of OpenAI's clients."""
        found: dict[str, Any] = {}
        by_status = sorted(codes, key=lambda code: (REFUSALS[code].status, code))
        for status, group in groupby(by_status, key=lambda code: REFUSALS[code].status):
            found[str(status)] = {
                "$ref": f"#/components/responses/{self._name(status, tuple(group), openai)}"
            }
        return found

    def _name(self, status: int, codes: tuple[str, ...], openai: bool) -> str:
        known = (openai, codes)
        if known not in self._names:
            stem = f"{'OpenAI' if openai else ''}Refused{status}"
            name = next(
                name
                for n in count(1)
                if (name := stem + (f"_{n}" if n > 1 else "")) not in self.named
            )
            self._names[known] = name
            self.named[name] = _refusal(status, codes, openai)
        return self._names[known]


def _refusal(status: int, codes: tuple[str, ...], openai: bool) -> dict[str, Any]:
    code: dict[str, Any] = {"code": {"enum": list(codes)}}
    content: dict[str, Any] = {
        MEDIA_TYPE: {
            "schema": {"$ref": PROBLEM, "properties": {"status": {"const": status}, **code}}
        }
    }
    if openai:
        content = {
            "application/json": {
                "schema": {"$ref": OPENAI_REFUSAL, "properties": {"error": {"properties": code}}}
            }
        }
    found: dict[str, Any] = {
        "description": "; ".join(f"`{code}`: {REFUSALS[code].meaning}" for code in codes) + ".",
        "content": content,
    }
    if status == 401:
        found["headers"] = {
            "WWW-Authenticate": {
                "description": "How to say who asks (RFC 6750).",
                "schema": {"type": "string"},
            }
        }
    if status in RETRY:
        seconds = {"type": "integer", "minimum": 0}
        found["headers"] = {
            "Retry-After": {"description": "Seconds after which to try again.", "schema": seconds}
        }
    return found
