"""What a start builds of the HTTP face: nothing before it is asked for, and then once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any, cast

import httpx2
import pytest
from starlette.applications import Starlette

from ordain.errors import InvalidRequest
from ordain.server import Face, build_app
from ordain.server.application import RESOURCES
from ordain.server.doors import DOORS
from ordain.server.face import Json
from ordain.server.parameters import MadeParameter, from_header, from_query
from ordain.server.problems import install
from ordain.server.resource import DeclaredRoute, Resource, ResourceRoute, resource

FACE = Face(runtime=cast("Any", SimpleNamespace(conversation=None)))


def at(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app, raise_app_exceptions=False), base_url="http://127.0.0.1"
    )


async def test_a_resource_is_made_when_it_is_asked_for() -> None:
    """An address of nobody makes no routes; one of a resource makes that resource's, once."""
    app = build_app(FACE)
    made = {
        route: route.routes
        for route in app.routes
        if isinstance(route, ResourceRoute) and "routes" in vars(route)
    }
    assert made == {}
    async with at(app.router) as client:
        assert (await client.get("/no/such/route")).status_code == 404
        assert (await client.get("/schemas")).status_code == 200
        assert (await client.get("/schemas")).status_code == 200
    made = {
        route: route.routes
        for route in app.routes
        if isinstance(route, ResourceRoute) and "routes" in vars(route)
    }
    assert len(made) == 1
    assert [route.routes for route in made] == list(made.values())


def test_a_resource_is_found_by_its_addresses() -> None:
    """Each resource is asked for the first segments that its routes begin with, and for no others;
    each has a door.
    """
    resources = [one for one in build_app(FACE).routes if isinstance(one, ResourceRoute)]
    for route, declared in zip(resources, RESOURCES.values(), strict=True):
        firsts = {one.path.split("/")[1] for one in route.routes}
        assert firsts == set(declared)
        assert firsts <= set(DOORS)
        assert all(
            any(route.answering({"type": "http", "method": "GET", "path": one.path}))
            for one in route.routes
            if one.path != "/ws"
        )


def words(word: Annotated[list[str] | None, from_query()] = None) -> tuple[str, ...]:
    if word == ["no"]:
        raise InvalidRequest("no such word", code="unknown_word")
    return tuple(word or ())


def listing() -> Resource:
    """A resource whose one handler takes a parameter of each sort."""
    made = resource("things", prefix="/things")

    @made.get("/{number}")
    async def show(
        number: int,
        said: Annotated[tuple[str, ...], MadeParameter(words)],
        limit: Annotated[int, from_query(ge=1, le=9)] = 5,
        every: Annotated[bool, from_query(alias="all")] = False,
        last_seen: Annotated[int | None, from_header(ge=0)] = None,
    ) -> Json:
        return Json([number, said, limit, every, last_seen])

    return made


@pytest.fixture
def app() -> Starlette:
    served = Starlette(
        routes=[one.served() for one in listing().declared if isinstance(one, DeclaredRoute)]
    )
    install(served)
    return served


async def test_parameters_are_read_as_they_are_declared(app: Starlette) -> None:
    """From the path, the address (the last one, or all of a list), a header by its name with
    hyphens; else as the default says.
    """
    async with at(app) as client:
        assert (await client.get("/things/7")).json() == [7, [], 5, False, None]
        sent = await client.get(
            "/things/7?limit=2&limit=3&word=a&word=b&all=1", headers={"Last-Seen": "4"}
        )
        assert sent.json() == [7, ["a", "b"], 3, True, 4]


async def test_every_parameter_that_does_not_fit_is_told(app: Starlette) -> None:
    """Each by its place, in the order of path, address and headers, after what is made of others;
    nothing of its value.
    """
    async with at(app) as client:
        answer = await client.get("/things/x?limit=0&all=perhaps", headers={"Last-Seen": "-1"})
        assert (await client.get("/things/x?word=no")).json()["code"] == "unknown_word"
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert [(one["place"], one["code"]) for one in answer.json()["errors"]] == [
        ("/path/number", "int_parsing"),
        ("/query/limit", "greater_than_equal"),
        ("/query/all", "bool_parsing"),
        ("/header/last-seen", "greater_than_equal"),
    ]


async def test_a_parameter_without_a_default_is_needed() -> None:
    """Its absence is told."""
    made = resource("things")

    @made.get("/things")
    async def show(name: Annotated[str, from_query(min_length=1)]) -> Json:
        return Json(name)

    app = Starlette(
        routes=[one.served() for one in made.declared if isinstance(one, DeclaredRoute)]
    )
    install(app)
    async with at(app) as client:
        errors = (await client.get("/things")).json()["errors"]
        assert errors == [{"place": "/query/name", "code": "missing", "message": "Field required"}]
        assert (await client.post("/things")).headers["allow"] == "GET, HEAD"
