"""Problems of a server as errors of the command."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from ordain.cli.connection import refusal

SAID = "an integer is out of range"


@pytest.mark.parametrize(
    ("detail", "errors", "told"),
    [
        (SAID, [], SAID),
        (SAID, [{"place": "/payload/i", "message": SAID}], f"/payload/i: {SAID}"),
        (
            "it does not fit",
            [{"place": "", "message": "a"}, {"place": "/b", "message": "c"}],
            "it does not fit: /: a; /b: c",
        ),
        (
            SAID,
            [{"place": "/a", "message": SAID}, {"place": "/b", "message": "c"}],
            f"/a: {SAID}; /b: c",
        ),
    ],
)
def test_no_sentence_is_told_twice(detail: str, errors: list[dict[str, Any]], told: str) -> None:
    """What is wrong, and where; a place that says what the whole says stands for it."""
    answer = httpx2.Response(422, json={"code": "not_finite", "detail": detail, "errors": errors})
    assert refusal(answer).message == told
