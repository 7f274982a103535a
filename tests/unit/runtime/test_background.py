"""What goes on in the background goes on after it failed, and never fails unheard."""

from __future__ import annotations

import asyncio

import pytest

from ordain.runtime import background
from ordain.runtime.background import keep_going


async def test_a_work_that_fails_begins_again(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Each failure is told once, with its traceback; the pause before the next beginning grows; a work that is done is not begun again."""
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


async def test_a_work_that_is_cancelled_ends(caplog: pytest.LogCaptureFixture) -> None:
    """Being told to end is no failure."""
    working = asyncio.ensure_future(keep_going("waiting", asyncio.Event().wait))
    await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert caplog.text == ""
