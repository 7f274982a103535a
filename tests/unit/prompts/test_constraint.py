"""A schema in words: the same bytes live and at every replay."""

from __future__ import annotations

from ordain.prompts.constraint import constrained
from ordain.prompts.prompt import Prompt

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}


def test_the_schema_stands_at_the_end_of_the_system_part() -> None:
    """Records hold the digest of this text: its bytes never change."""
    sent = constrained(Prompt("You plan.", "GOAL"), SCHEMA)
    schema = '{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"}'
    assert sent == Prompt(
        "You plan.\n\nAnswer with one JSON value and nothing else, valid for this JSON Schema:\n"
        f"{schema}",
        "GOAL",
    )


def test_the_order_of_keys_is_none_of_it() -> None:
    """A catalog that was stored has its keys in another order than the one that it was made of."""
    turned = {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "type": "object"}
    assert constrained(Prompt("", ""), SCHEMA) == constrained(Prompt("", ""), turned)
