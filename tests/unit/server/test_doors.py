"""The table of scopes: no address of the face is left to the fallback, and the fallback is
closed.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ordain.contracts.access import TokenScope
from ordain.server import Face, build_app
from ordain.server.doors import CLOSED, door_of
from ordain.server.workspaces import WORKSPACE_HEADER

BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "ordain_ID_SECRET"}


def document() -> dict[str, Any]:
    """What the face publishes of itself."""
    app = build_app(Face(runtime=cast("Any", SimpleNamespace(conversation=None))))
    return json.loads(json.dumps(app.openapi()))


def routes() -> list[tuple[str, str]]:
    """Method and path of every published operation, the socket and the document itself."""
    published = [
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
    ]
    return [*published, ("GET", "/ws"), ("GET", "/openapi.json")]


def test_every_route_has_its_row() -> None:
    """Each route of the face stands in the table; whoever adds one says there who may use it."""
    found = routes()
    assert len(found) > 25
    assert [
        route for route in found if door_of(*route) is CLOSED and not route[1].startswith("/tokens")
    ] == []


def test_every_route_of_a_workspace_has_a_door_of_one() -> None:
    """A route that reads the workspace header has a door that checks it: else a token without the
    header is let into the default one.
    """
    paths: dict[str, dict[str, Any]] = document()["paths"]
    placed = [
        (method.upper(), path)
        for path, methods in paths.items()
        for method, one in methods.items()
        if any(parameter["name"] == WORKSPACE_HEADER for parameter in one.get("parameters", ()))
    ]
    assert len(placed) > 10
    assert [route for route in placed if not door_of(*route).in_workspace] == []


def test_only_health_is_public() -> None:
    """One address needs no token, and that one tells nothing but that the process answers."""
    assert {path for method, path in routes() if door_of(method, path).public} == {"/health"}


@pytest.mark.parametrize(
    ("method", "path", "scopes", "in_workspace"),
    [
        ("POST", "/messages", {"chat"}, True),
        ("GET", "/ws", {"chat"}, True),
        ("GET", "/sessions/a%2Fb/events", {"chat"}, True),
        ("POST", "/sessions/a%2Fb/erase", {"runs:operate"}, True),
        ("GET", "/runs/x/journal", {"runs:read"}, True),
        ("POST", "/runs/x/erase", {"runs:operate"}, True),
        ("POST", "/verbs/execute", {"verbs"}, True),
        ("GET", "/verbs/execute", {"verbs", "chat", "plan"}, False),
        ("POST", "/plan/react", {"plan"}, True),
        ("GET", "/metrics", {"metrics"}, False),
        ("GET", "/models", {"models"}, False),
        ("GET", "/models/cost", {"models"}, True),
        ("GET", "/tokens/audit", {"admin"}, False),
        ("GET", "/ready", set(), False),
    ],
)
def test_doors(method: str, path: str, scopes: set[str], in_workspace: bool) -> None:
    """The scopes that open an address are these."""
    door = door_of(method, path)
    assert ({str(scope) for scope in door.scopes}, door.in_workspace) == (scopes, in_workspace)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/nowhere",
        "/Runs",
        "//runs",
        "/runs/x/y/z",
        "/health/",
        "/metricsx",
        "/runs\n",
        "/sessions/x/y/erase",
    ],
)
def test_what_is_in_no_row_is_closed(path: str) -> None:
    """An address that nobody thought of asks for admin."""
    assert TokenScope.ADMIN in door_of("POST", path).scopes


def test_openapi_says_who_may_and_how_it_refuses() -> None:
    """Every operation but /health declares the bearer scheme with its scope, and 401, 403 and 429
    as problems.
    """
    published = document()
    assert published["components"]["securitySchemes"] == {"bearer": BEARER}
    operations = [
        (method.upper(), path, one)
        for path, methods in published["paths"].items()
        for method, one in methods.items()
    ]
    assert len(operations) > 20
    for method, path, one in operations:
        if path == "/health":
            assert one["security"] == []
            continue
        named = [{"bearer": [str(scope)]} for scope in door_of(method, path).scopes] or [
            {"bearer": []}
        ]
        assert one["security"] == [{}, *named]  # the empty one: on loopback nobody is asked
        for status in ("401", "403", "429"):
            response = published["components"]["responses"][
                one["responses"][status]["$ref"].rpartition("/")[2]
            ]
            (content,) = response["content"].values()
            fields = content["schema"]["properties"]
            codes = fields.get("error", {}).get("properties", fields)["code"]["enum"]
            assert {"401": "unauthenticated", "403": "forbidden", "429": "rate_limited"}[
                status
            ] in codes
