"""What runs share cannot be written to, and is else what it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.contracts.read_only import read_only
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import VerbSpec

SPEC = {
    "name": "a.b",
    "description": "A verb.",
    "effect": "read",
    "tags": ["t"],
    "input_schema": {
        "type": "object",
        "properties": {"text": {"type": "string", "enum": ["x", "y"]}},
        "required": ["text"],
    },
}


def catalog() -> Catalog:
    """A catalog with one verb and one template."""
    verb = VerbSpec.model_validate_json(json.dumps(SPEC))
    return Catalog(
        CatalogData(policy=Policy(version=1), verbs={"a.b": verb}, prompts={"p": "text"})
    )


WRITES: dict[str, Callable[[Any], Any]] = {
    "compiled verbs": lambda it: it.verbs.clear(),
    "verbs": lambda it: it.data.verbs.pop("a.b"),
    "prompts": lambda it: it.data.prompts.update(p="other"),
    "profiles": lambda it: it.data.profiles.setdefault("x", None),
    "a schema": lambda it: it.verbs["a.b"].spec.input_schema["properties"].clear(),
    "a schema's list": lambda it: it.verbs["a.b"].spec.input_schema["required"].append("other"),
    "a compiled schema's source": lambda it: it.verbs["a.b"].input.source["properties"].popitem(),
    "tags": lambda it: it.verbs["a.b"].spec.tags.__setitem__(0, "other"),
    "policy's list": lambda it: it.policy.verbs.default.deny.extend(["*"]),
    "policy's packs": lambda it: it.policy.supervisor.packs.clear(),
    "an attribute": lambda it: setattr(it, "verbs", {}),
    "a deleted one": lambda it: delattr(it, "policy"),
    "a verb's attribute": lambda it: setattr(it.verbs["a.b"], "spec", None),
    "a schema's attribute": lambda it: setattr(it.verbs["a.b"].input, "source", {}),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_catalog_cannot_be_written_to(what: str) -> None:
    """No level of it takes a change, and it stays what it was."""
    one = catalog()
    before = json.dumps(one.data.model_dump(mode="json"), sort_keys=True)
    with pytest.raises((TypeError, AttributeError)):
        WRITES[what](one)
    assert json.dumps(one.data.model_dump(mode="json"), sort_keys=True) == before
    assert one.verbs["a.b"].input.accepts({"text": "x"})


def test_a_read_only_value_is_equal_and_encoded_alike() -> None:
    """The bytes, and with them the digest, are those of the value that was given; fields that
    nobody wrote stay unwritten.
    """
    verb = VerbSpec.model_validate_json(json.dumps(SPEC))
    sealed = read_only(verb)
    assert sealed == verb
    assert sealed.model_fields_set == verb.model_fields_set == SPEC.keys()
    assert sealed.model_dump_json() == verb.model_dump_json()
    assert msgspec.json.encode(sealed.input_schema) == msgspec.json.encode(verb.input_schema)
    assert read_only(sealed) is sealed
    verb.tags.append("the given value is its owner's")
    assert sealed.tags == ["t"]


def test_a_copy_is_plain_again() -> None:
    """Whoever wants another value copies it."""
    schema = catalog().verbs["a.b"].spec.input_schema
    mine = copy.deepcopy(schema)
    mine["required"].append("more")  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess, reportUnknownMemberType]
    assert (schema["required"], mine["required"]) == (["text"], ["text", "more"])
    assert type(copy.copy(schema)) is dict


def test_a_read_only_schema_compiles() -> None:
    """Its lists are lists to the validator."""
    schema = Schema(
        read_only({"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]})
    )
    assert schema.accepts({"a": "x"})
    assert not schema.accepts({"a": "y"})
    assert not schema.accepts({})
