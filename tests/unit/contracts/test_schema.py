"""Compiled JSON Schemas: a hostile one costs no more than it should."""

import pytest

from ordain.contracts.schema import Schema
from ordain.models.arguments import PATTERN_WORDS, fill


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$", "A" + "a" * 5000 + "1"),
        (r"^(?!.*\.\.)[\w./-]+$", "a/b" * 2000),
        (r"^(\w+)\s\1$", "abcd" * 300 + " " + "abcd" * 300),
    ],
)
def test_look_around_and_references_work_on_long_values(pattern: str, value: str) -> None:
    """What people write with look-around or references back is matched."""
    assert Schema({"type": "string", "pattern": pattern}).accepts(value)


def test_a_pattern_that_backtracks_gives_up() -> None:
    """Security: trying every way would double with each character; the value counts as not valid
    long before that.
    """
    schema = Schema({"type": "string", "pattern": "^((?=a)a+)+b$|^a+!$"})
    assert schema.accepts("a" * 5 + "!")
    assert not schema.accepts("a" * 16 + "!")
    assert schema.errors("a" * 64 + "!")


def test_a_long_text_is_not_searched_for_a_pattern() -> None:
    """The one word that fits is found in a short text; a long one would be matched word by word, so
    rules do not choose there.
    """
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string", "pattern": "^T-[0-9]+$"}},
        "required": ["id"],
    }
    words = "please close T-17 " + "now " * (PATTERN_WORDS - 3)
    assert fill(schema, words, words) == {"id": "T-17"}
    assert fill(schema, words + "and then", words + "and then") is None
