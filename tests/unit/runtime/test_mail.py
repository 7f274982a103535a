"""What mailbox rows say, as bytes: rows of an older build lie in its folder and are read by this
one.
"""

from __future__ import annotations

import msgspec
import pytest

from ordain.journal.records import ENCODER
from ordain.runtime.mail import AnswerBody, InterruptBody


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (
            InterruptBody(what="cancel", by="user:ada", why="too long"),
            b'{"what":"cancel","by":"user:ada","why":"too long"}',
        ),
        (
            AnswerBody(value={"text": "blue"}, by="user:ada"),
            b'{"value":{"text":"blue"},"by":"user:ada"}',
        ),
        (AnswerBody(value=None, by="user:ada"), b'{"value":null,"by":"user:ada"}'),
    ],
)
def test_a_row_has_these_bytes(body: InterruptBody | AnswerBody, row: bytes) -> None:
    """Written so, and read again as the same."""
    assert ENCODER.encode(body) == row
    assert msgspec.json.decode(row, type=type(body)) == body


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (InterruptBody, b'{"what":"cancel"}'),
        (AnswerBody, b'{"value":1}'),
        (AnswerBody, b'{"by":"x"}'),
    ],
)
def test_nobody_in_particular_says_nothing(
    kind: type[InterruptBody | AnswerBody], row: bytes
) -> None:
    """Who said it stands in every row, and what was answered; why may be missing."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(row, type=kind)
    assert msgspec.json.decode(b'{"what":"cancel","by":"x"}', type=InterruptBody).why == ""
