"""Ids as people type them: a beginning or an end that only one has, ``last``, and nothing that
could be another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ordain.cli.short_ids import CANDIDATES, RUN, SESSION, whole_id
from ordain.errors import InvalidRequest, NotFound

ADA, BOB, CAT = (
    "01a21a71" + "3" * 18 + "a5b3a5",
    "01a21a72" + "4" * 18 + "c6d9e1",
    "ffad3b78" + "5" * 18 + "c6d9e2",
)


class Listed:
    """Runs in a list, the latest first."""

    def __init__(self, *ids: str) -> None:
        self.ids, self.asked = ids, list[Mapping[str, Any]]()

    async def __call__(self, asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        self.asked.append(asked)
        named = asked.get("named", "")
        found = [one for one in self.ids if one.startswith(named) or one.endswith(named)]
        return [
            {"run_id": one, "flow": "turn", "created_at": "2026-11-27T00:39:16.8+00:00"}
            for one in found[: asked["limit"]]
        ]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("a5b3a5", ADA),
        ("01a21a72", BOB),
        ("last", ADA),
        ("ffad", CAT),
        ("b3a5", ADA),
        ("nothing", "nothing"),
    ],
)
async def test_a_part_that_one_has_alone_is_its_id(given: str, meant: str) -> None:
    """Its beginning, its end or the latest; what nothing is found by stays as it is, for whoever
    refuses it.
    """
    assert await whole_id(RUN, given, Listed(ADA, BOB, CAT)) == meant


async def test_a_part_of_several_is_refused_with_all_of_them() -> None:
    """And what tells them apart; none is chosen."""
    with pytest.raises(InvalidRequest) as refused:
        await whole_id(RUN, "01a21a7", Listed(ADA, BOB, CAT))
    assert refused.value.code == "ambiguous_id"
    assert refused.value.details["candidates"] == [ADA, BOB]
    assert (
        f"{ADA} (turn, 2026-11-27 00:39:16); {BOB} (turn, 2026-11-27 00:39:16)"
        in refused.value.message
    )
    assert CAT not in refused.value.message


async def test_many_candidates_are_not_all_told() -> None:
    """That there are more is."""
    with pytest.raises(InvalidRequest) as refused:
        await whole_id(
            RUN, "aaaa", Listed(*(f"aaaa{number:028}" for number in range(CANDIDATES + 5)))
        )
    assert len(refused.value.details["candidates"]) == CANDIDATES  # type: ignore[arg-type]
    assert refused.value.message.endswith("; and more")


@pytest.mark.parametrize("given", ["ffa", ""])
async def test_what_is_too_short_is_told_how_long_it_has_to_be(given: str) -> None:
    """Three signs are no id, and nobody learns from "not found" that a fourth is missing."""
    listed = Listed(ADA, BOB, CAT)
    with pytest.raises(NotFound, match="at least 4 signs") as refused:
        await whole_id(RUN, given, listed)
    assert (refused.value.code, listed.asked) == ("run_not_found", [])


@pytest.mark.parametrize("given", [ADA, "f" * 32])
async def test_what_is_whole_is_not_looked_for(given: str) -> None:
    """A whole id is nobody's part."""
    listed = Listed(ADA, BOB, CAT)
    assert await whole_id(RUN, given, listed) == given
    assert listed.asked == []


async def test_one_that_is_also_a_part_of_others_is_itself() -> None:
    """As typed, whatever else begins so."""
    assert await whole_id(RUN, "chat", Listed("chat", "chat2", "chat3")) == "chat"


async def test_there_is_no_last_of_nothing() -> None:
    """Said as of anything that is not there."""
    with pytest.raises(NotFound) as refused:
        await whole_id(RUN, "last", Listed())
    assert refused.value.code == "run_not_found"


@pytest.mark.parametrize("given", ["lsat", "las"])
async def test_a_word_like_last_is_told_what_was_meant(given: str) -> None:
    """Where nothing is found by it, and ids are the server's own; a session may be called
    anything.
    """
    with pytest.raises(NotFound, match="did you mean last"):
        await whole_id(RUN, given, Listed(ADA))
    assert await whole_id(SESSION, "past", Listed()) == "past"
