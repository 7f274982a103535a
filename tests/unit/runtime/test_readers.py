"""What flows may read of what is shared: small, whole, and of their own session; runs are read in
``test_headers``.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.effect import SharedState
from ordain.ports.sessions import OpenQuestion, Thread, ThreadStatus, Uncovered
from ordain.ports.store import StoredRun
from ordain.rules.header import HeaderFacts, HeaderLine
from ordain.runtime.headers import Headers
from ordain.runtime.readers import LINES_SHOWN, THREADS_SHOWN, nothing_seen, readers, run_seen
from ordain.testing import ScriptedEffects, answered, catalog_of
from tests.at_once import at_once
from tests.unit.runtime.test_headers import ASKING, KINDS, headers


class Sessions:
    """The sessions' port as far as readers ask; ``asked`` is with what."""

    def __init__(self, *threads: Thread, entries: tuple[tuple[int, int], ...] = ()) -> None:
        self.known, self.listed = threads, entries
        self.asked: list[Any] = []

    async def threads(self, workspace: str, session: str, *, limit: int) -> list[Thread]:
        self.asked.append((workspace, session))
        return list(self.known)  # every live thread is among them, however many they are

    async def uncovered(
        self, workspace: str, session: str, *, limit: int, oldest: bool
    ) -> Uncovered:
        self.asked.append((workspace, session, limit, oldest))
        return Uncovered(entries=self.listed, older=3, summary=(1, 9), head=9, chain="ab")


def look(sessions: Sessions, what: SharedState, **args: Any) -> Any:
    made, store = headers()
    port: Any = sessions
    return at_once(readers(made, store, port, port, lambda: 0)[what]("w", "s1", args))


def test_everything_that_flows_may_read_is_there() -> None:
    """And nothing else; what earlier plans came to is read of the run that asks."""
    made, store = headers()
    port: Any = Sessions()
    assert set(readers(made, store, port, port, lambda: 0)) == set(SharedState) - {
        SharedState.PLANS
    }


@given(st.lists(st.integers(1, 30), unique=True, max_size=8), st.integers(1, 30))
def test_a_message_is_no_part_of_its_own_history(seqs: list[int], own: int) -> None:
    """All else is as the sessions have it, in plain values that a record can hold."""
    sessions = Sessions(entries=tuple((seq, 10) for seq in sorted(seqs)))
    found = look(sessions, SharedState.HISTORY, own=own, limit=5, oldest=True)
    assert [seq for seq, _ in found["entries"]] == [seq for seq in sorted(seqs) if seq != own]
    assert (found["older"], list(found["summary"]), found["head"], found["chain"]) == (
        3,
        [1, 9],
        9,
        "ab",
    )
    assert sessions.asked == [("w", "s1", 5, True)]


def test_the_newest_are_read_where_nothing_is_said() -> None:
    """The oldest only for who asks for them."""
    sessions = Sessions()
    look(sessions, SharedState.HISTORY, own=1, limit=2)
    assert sessions.asked == [("w", "s1", 2, False)]


@pytest.mark.parametrize("count", [0, THREADS_SHOWN, THREADS_SHOWN + 3])
def test_a_few_threads_are_shown(count: int) -> None:
    """With what they are about and what they ask, cut."""
    question = OpenQuestion(
        run="r", root="r", addr=1, key="k", expects="choice", until=9, text="Which? " * 99
    )
    sessions = Sessions(
        *(
            Thread(
                id=n, status=ThreadStatus.DONE, intent=f"t{n}", asked=question if n == 1 else None
            )
            for n in range(1, count + 1)
        )
    )
    found = look(sessions, SharedState.THREADS)
    assert [one["thread"] for one in found] == list(range(1, min(count, THREADS_SHOWN) + 1))
    if found:
        assert (
            found[0]["about"],
            found[0]["status"],
            found[0]["expects"],
            len(found[0]["asks"]),
        ) == ("t1", "done", "choice", 200)
        assert found[1]["asks"] is None
    assert sessions.asked == [("w", "s1")]


def test_a_run_is_seen_small() -> None:
    """The last of its lines, and its last failures in words."""
    stored = ScriptedEffects(ASKING, catalog_of()).play(None, [answered("x")]).stored

    class Long(Headers):
        async def so_far(self, stored: StoredRun) -> HeaderFacts:
            lines = tuple(
                HeaderLine(mark="fail" if n % 20 == 0 else "ok", what=f"step {n}", reason="broken")
                for n in range(1, 101)
            )
            return msgspec.structs.replace(await super().so_far(stored), lines=lines)

    _, store = headers()
    found = at_once(run_seen(stored, Long(store, KINDS), stored.created_at))
    assert [line["what"] for line in found["header"]["lines"]] == [
        f"step {n}" for n in range(101 - LINES_SHOWN, 101)
    ]
    assert found["failures"] == "step 60: broken; step 80: broken; step 100: broken"


def test_a_clock_that_steps_back_makes_no_run_younger_than_nothing() -> None:
    """Its age is never below zero."""
    made, _ = headers()
    stored = ScriptedEffects(ASKING, catalog_of()).play(None, [answered("x")]).stored
    assert (
        at_once(
            run_seen(
                msgspec.structs.replace(stored, ended_at=None), made, stored.created_at - 10**9
            )
        )["age_ms"]
        == 0
    )


def test_what_cannot_be_read_has_the_same_fields() -> None:
    """Whoever goes on from it needs no second way to look at it."""
    made, _ = headers()
    stored = ScriptedEffects(ASKING, catalog_of()).play(None, [answered("x")]).stored
    seen, unseen = (
        at_once(run_seen(stored, made, stored.created_at)),
        nothing_seen("r1", HeaderLine(mark="unknown", what="run r1 cannot be read")),
    )
    assert set(seen) == set(unseen)
    wanted = {one.name for one in msgspec.structs.fields(HeaderFacts) if one.required}
    assert wanted <= set(seen["header"]) & set(unseen["header"])
    assert (unseen["failures"], unseen["header"]["lines"][0]["mark"]) == (
        "run r1 cannot be read",
        "unknown",
    )
