"""What a foreign library is let read of an answer."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.models.foreign_bodies import (
    HOLDER,
    REFUSAL_BYTES,
    REFUSAL_DEPTH,
    REFUSAL_VALUES,
    WEIGHT_MOST,
    explains,
    weight_of,
)
from tests.unit.rules.given import json_values


def counted(value: Any) -> int:
    own = HOLDER if isinstance(value, list | dict) else 1
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return own + sum(map(counted, within))


@given(json_values)
def test_no_value_is_missed(value: Any) -> None:
    """Whatever else is counted with them: signs in texts, where there are few."""
    assert weight_of(json.dumps(value).encode()) >= counted(value)


@pytest.mark.parametrize(
    ("text", "few"),
    [
        (b'{"a":"' + b"[{,}]" * 100_000 + b'"}', True),
        (b'["' + b"a" * 1_000_000 + b'"]', True),
        (b"[" + b",".join([b'{"a":[1]}'] * (WEIGHT_MOST // (2 * HOLDER + 1) - 2)) + b"]", True),
        (b"[" + b",".join([b"{}"] * (WEIGHT_MOST // HOLDER)) + b"]", False),
        (b"[" + b",".join([b"0"] * (WEIGHT_MOST - HOLDER)) + b"]", True),
        (b"[" + b",".join([b"0"] * 1_000_000) + b"]", False),
        (b"[" * 100_000, False),
        (b"[" * 100_000 + b"]" * 100_000, False),
        (b"{,[" * 100_000, False),
    ],
)
def test_what_stands_in_a_text_is_no_value(text: bytes, few: bool) -> None:
    """Code in an answer is one text, however many brackets it has; what is no JSON is counted by
    its signs, which a library would look at, too.
    """
    begun = time.process_time()
    assert (weight_of(text) <= WEIGHT_MOST) == few
    assert time.process_time() - begun < 5, "a second at most is usual"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b'{"error":{"message":"no","type":"x"}}', True),
        (b"[" * REFUSAL_DEPTH + b"]" * REFUSAL_DEPTH, True),
        (b"", False),
        (b"<html>", False),
        (b'{"error":', False),
        (b"[" * (REFUSAL_DEPTH + 1) + b"]" * (REFUSAL_DEPTH + 1), False),
        (b"[" * 30_000 + b"]" * 30_000, False),
        (b"9" * 5_000, False),
        (b"[" + b",".join([b"0"] * REFUSAL_VALUES) + b"]", False),
        (b'"' + b"a" * REFUSAL_BYTES + b'"', False),
        (b"\xff\xfe", False),
    ],
)
def test_a_refusal_is_explained_in_few_words(body: bytes, kept: bool) -> None:
    """What a library would fall over, or be long at, is left out: the status says enough."""
    assert explains(body) == kept


@given(st.binary(max_size=200))
def test_whatever_is_sent_is_judged(body: bytes) -> None:
    """And raises nothing."""
    assert weight_of(body) >= 1
    assert explains(body) in (True, False)
