"""Where work is done."""

from __future__ import annotations

import threading

import pytest

from ordain.runtime.apart import apart


@pytest.mark.parametrize("much", [True, False])
async def test_much_is_done_in_a_thread(much: bool) -> None:
    """Little is done at once, where the loop is; what comes back is the same."""

    def work(number: int, *, more: int) -> tuple[int, int]:
        return number + more, threading.get_ident()

    found, where = await apart(much, work, 1, more=2)
    assert found == 3
    assert (where != threading.get_ident()) is much


async def test_what_the_work_raises_is_raised() -> None:
    """In a thread as well."""

    def work() -> None:
        raise KeyError("it")

    with pytest.raises(KeyError, match="it"):
        await apart(True, work)
