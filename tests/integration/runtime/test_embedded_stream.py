"""A session's events in Python, from where a caller says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain import Ordain
from ordain.contracts.events import MessageEvent
from ordain.errors import Conflict


async def test_what_a_session_does_not_have_is_no_erasure(tmp_path: Path) -> None:
    """Whoever asks from behind its end took that from another one, and is told so, as over HTTP."""
    async with Ordain(home=tmp_path) as ordain:
        await ordain.chat("hello there", session="one", user="ada")
        for session, after in (("one", 99), ("other", 1)):
            with pytest.raises(Conflict) as refused:
                await anext(ordain.stream(session, after=after))
            assert refused.value.code == "beyond_head"
        events = ordain.stream("one")
        assert isinstance(await anext(events), MessageEvent)
        await events.aclose()
