"""Refusals: what the process runs out of is nobody's mistake, and is told as such."""

from __future__ import annotations

import errno
import json

import pytest
from starlette.requests import Request

from ordain.server.problems import out_of_resources, used_up

REQUEST = Request({"type": "http", "method": "GET", "path": "/", "headers": []})


def because(cause: BaseException) -> Exception:
    """An error that came of another one."""
    try:
        try:
            raise cause
        except BaseException:
            raise RuntimeError("it did not work")  # noqa: B904 - as a library does that says no cause
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EMFILE, ""),
        OSError(errno.ENFILE, ""),
        OSError(errno.ENOMEM, ""),
        because(MemoryError()),
    ],
)
async def test_what_is_used_up_is_unavailable(error: Exception) -> None:
    """503 with a delay, whether it says so itself or came of it."""
    assert out_of_resources(error)
    answer = await used_up(REQUEST, error)
    assert (
        answer.status_code,
        json.loads(bytes(answer.body))["code"],
        "retry-after" in answer.headers,
    ) == (503, "out_of_resources", True)


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, ""), FileNotFoundError(), because(ValueError())]
)
async def test_anything_else_is_a_bug(error: Exception) -> None:
    """500, as of every error that nobody expected."""
    assert not out_of_resources(error)
    assert (await used_up(REQUEST, error)).status_code == 500
