"""What goes on in the background goes on after it failed, and never fails unheard."""

from __future__ import annotations

import asyncio

import pytest

from ordain.errors import StorageUnavailable
from ordain.runtime import background
from ordain.runtime.background import keep_going


async def test_a_work_that_fails_begins_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each failure is told once, with its traceback; the pause before the next beginning grows; a
    work that is done is not begun again.
    """
    monkeypatch.setattr(background, "FIRST_PAUSE_S", 0.1)
    monkeypatch.setattr(background, "LONGEST_PAUSE_S", 0.2)
    begun: list[int] = []

    async def work() -> None:
        begun.append(len(begun))
        if len(begun) < 5:
            raise ValueError(f"broken {len(begun)}")

    await asyncio.wait_for(keep_going("counting", work), 30)
    assert len(begun) == 5
    assert [record.getMessage() for record in caplog.records] == [
        f"counting failed and begins again in {pause} s" for pause in ("0.1", "0.2", "0.2", "0.2")
    ]
    assert all(f"ValueError: broken {number}" in caplog.text for number in range(1, 5))


async def test_an_error_of_ordains_own_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without traceback, and once until it is another one; a defect between is told with its
    traceback, and what follows it anew.
    """
    monkeypatch.setattr(background, "FIRST_PAUSE_S", 0.001)
    full, locked = (
        StorageUnavailable("storage is read-only"),
        StorageUnavailable("storage is locked"),
    )
    failures = iter([full, full, full, locked, full, ValueError("broken"), full, full])

    async def work() -> None:
        if (failure := next(failures, None)) is not None:
            raise failure

    await asyncio.wait_for(keep_going("writing", work), 30)
    told = [
        (
            record.getMessage().partition("writing failed and begins again")[2],
            record.exc_info is not None,
        )
        for record in caplog.records
    ]
    own = [
        (f" until it works: storage is {what}", False)
        for what in ("read-only", "locked", "read-only")
    ]
    assert told == [*own, (" in 0.032 s", True), own[0]]


async def test_what_failed_again_after_a_long_while_is_told_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A work that went on for long worked meanwhile: the same error is news."""
    monkeypatch.setattr(background, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(background, "LONGEST_PAUSE_S", 0.01)
    begun: list[int] = []

    async def work() -> None:
        begun.append(len(begun))
        await asyncio.sleep(0.05)
        if len(begun) < 3:
            raise StorageUnavailable("storage is read-only")

    await asyncio.wait_for(keep_going("writing", work), 30)
    assert [record.getMessage() for record in caplog.records] == [
        "writing failed and begins again until it works: storage is read-only"
    ] * 2


async def test_a_work_that_is_cancelled_ends(caplog: pytest.LogCaptureFixture) -> None:
    """Being told to end is no failure."""
    working = asyncio.ensure_future(keep_going("waiting", asyncio.Event().wait))
    await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert caplog.text == ""
