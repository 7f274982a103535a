"""The published OpenAPI document is complete and true to itself: every route, every refusal, every
example.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import jsonschema_rs
import pytest
from starlette.routing import Route, WebSocketRoute

from ordain.server import Face, build_app
from ordain.server.openai.wire import is_openai
from ordain.server.problems import MEDIA_TYPE
from ordain.server.refusals import BODY, EVERYWHERE, REFUSALS, UNSAFE
from ordain.server.resource import DeclaredRoute
from scripts.described import all_codes

# no route runs: only what they declare is asked
APP = build_app(Face(runtime=cast("Any", SimpleNamespace(conversation=None))))
DOCUMENT: dict[str, Any] = APP.openapi()
NOT_OPERATIONS = {"/openapi.json", "/ws"}
"""The document itself, and the WebSocket with its answer for whoever speaks none (both told in the
document's description).
"""
NOT_OF_AN_OPERATION = {
    "other_session",
    "upgrade_required",
    "not_a_plan",
    "not_a_council",
    "not_a_verb_call",
    "unknown_kind",
    "token_not_found",
}
"""What only a socket says, and what no route can make happen."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


NAMES = [f"{method.upper()} {path}" for path, method, _ in operations()]


def operation(name: str) -> dict[str, Any]:
    method, _, path = name.partition(" ")
    return DOCUMENT["paths"][path][method.lower()]


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference names."""
    while "$ref" in part and len(part) == 1:
        found: Any = DOCUMENT
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        part = found
    return part


def contents(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(where, media type, content) of every body of an operation."""
    yield from (
        (f"{name} request", kind, one)
        for kind, one in operation(name).get("requestBody", {}).get("content", {}).items()
    )
    for status, response in operation(name)["responses"].items():
        yield from (
            (f"{name} {status}", kind, one)
            for kind, one in resolved(response).get("content", {}).items()
        )


@cache
def validator(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {**json.loads(schema), "components": DOCUMENT["components"]}, validate_formats=True
    )


def errors(schema: dict[str, Any], value: Any) -> list[str]:
    return [
        f"{error.instance_path}: {error.message}"
        for error in validator(json.dumps(schema)).iter_errors(value)
    ]


def test_every_route_is_documented_and_nothing_else_is() -> None:
    """Each route of the app is an operation of the document, and each operation is a route."""
    declared = [one for resource in APP.resources for one in resource.declared]
    routes = {(one.path, one.method.lower()) for one in declared if isinstance(one, DeclaredRoute)}
    assert {one for one in routes if one[0] not in NOT_OPERATIONS} == {
        (path, method) for path, method, _ in operations()
    }
    others = {route.path for route in APP.routes if isinstance(route, Route)}
    sockets = {one.path for one in declared if isinstance(one, WebSocketRoute)}
    assert sockets
    assert others | sockets == NOT_OPERATIONS


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_says_what_it_is(name: str) -> None:
    """Each operation has an id in snake_case, a tag, a summary of one line and a description."""
    one = operation(name)
    assert re.fullmatch(r"[a-z][a-z_]*", one["operationId"])
    assert len(one["tags"]) == 1
    assert "\n" not in one["summary"]
    assert one["description"]


def test_operations_are_named_apart() -> None:
    """No two operations share an id."""
    ids = [one["operationId"] for _, _, one in operations()]
    assert len(ids) == len(set(ids))


def codes_of(response: dict[str, Any]) -> set[str]:
    """The codes that a refusal may have, whichever shape it is told in."""
    fields = [
        content["schema"].get("properties", {})
        for content in resolved(response).get("content", {}).values()
    ]
    return {
        code
        for one in fields
        for code in one.get("error", {}).get("properties", one).get("code", {}).get("enum", ())
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_a_status_and_a_shape(name: str) -> None:
    """Each status is declared by itself, each success has a body with a schema (or is 204), each
    refusal is a problem with its codes.
    """
    responses = operation(name)["responses"]
    assert all(re.fullmatch(r"\d{3}", status) for status in responses), (
        "declare statuses one by one: server/refusals.py, refusing()"
    )
    for status, response in responses.items():
        content = resolved(response).get("content", {})
        if int(status) >= 400:
            if is_openai(name.partition(" ")[2]):
                assert (
                    content["application/json"]["schema"]["$ref"]
                    == "#/components/schemas/OpenAIRefusal"
                )
            else:
                assert content[MEDIA_TYPE]["schema"]["$ref"] == "#/components/schemas/Problem"
                assert content[MEDIA_TYPE]["schema"]["properties"]["status"] == {
                    "const": int(status)
                }
            assert {REFUSALS[code].status for code in codes_of(response)} == {int(status)}
        elif status != "204":
            assert content, (
                f"{name} {status}: say what it answers with: server/documents.py, shown() or "
                "documented()"
            )
            for kind, one in content.items():
                said = kind != "application/json" or "$ref" in one["schema"]
                assert said, (
                    f"{name} {status}: a body has a named schema: server/documents.py, shown() or "
                    "documented()"
                )


@pytest.mark.parametrize("name", NAMES)
def test_what_any_request_may_meet_is_declared(name: str) -> None:
    """The codes that any request, any body and any unsafe method may be refused with stand at each
    operation.
    """
    declared = {
        code for response in operation(name)["responses"].values() for code in codes_of(response)
    }
    wanted = {
        *EVERYWHERE,
        *(() if name.startswith("GET ") else UNSAFE),
        *(
            BODY
            if "application/json" in operation(name).get("requestBody", {}).get("content", {})
            else ()
        ),
    }
    assert wanted <= declared


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_valid(name: str) -> None:
    """Each example fits its own schema, and each body that is sent has one."""
    for where, kind, content in contents(name):
        if "example" in content:
            assert not errors(content["schema"], content["example"]), where
        assert "example" in content or not where.endswith("request"), f"{where}: give an example"
        assert "schema" in content, (where, kind)


def test_every_reference_leads_somewhere() -> None:
    """No reference of the document dangles, and each schema of it is a schema."""
    text = json.dumps(DOCUMENT)
    for place in set(re.findall(r'"\$ref": "([^"]+)"', text)):
        assert resolved({"$ref": place}), place
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema)
        assert "HTTPValidationError" not in name


def test_links_lead_to_operations() -> None:
    """A link names an operation and parameters that it has."""
    known = {
        one["operationId"]: {parameter["name"] for parameter in one.get("parameters", ())}
        for _, _, one in operations()
    }
    links = [
        link
        for _, _, one in operations()
        for response in one["responses"].values()
        for link in resolved(response).get("links", {}).values()
    ]
    assert links
    for link in links:
        assert set(link["parameters"]) <= known[link["operationId"]], link


def test_the_table_of_refusals_has_every_code_of_the_face() -> None:
    """Each code that the face, the runtime behind it or a kind gives an error stands in the table
    with its status, so that it can be declared.
    """
    given = {
        (one.code, one.status)
        for one in all_codes()
        if one.module.startswith(("server/", "runtime/", "flows/"))
        and one.kind not in {"Failed", "ErrorBody", "ConfigurationError"}
    }
    missing = {
        (code, status)
        for code, status in given
        if code not in NOT_OF_AN_OPERATION and REFUSALS.get(code, (None,))[0] != status
    }
    assert not missing, f"add to server/refusals.py: {missing}"
