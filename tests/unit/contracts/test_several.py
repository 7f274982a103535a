"""Arguments that take several: one thing alone is refused with what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain import Agent, Ordain, verb
from ordain.contracts.several import several
from ordain.errors import ConfigurationError


@verb(effect="read", name="door.look")
def look(where: str) -> str:
    """Look there."""
    return where


@pytest.mark.parametrize(
    "given",
    ["a.png", b"a.png", Path("a.png"), 5, {"a": 1}, look, Agent(name="ann", domain="doors")],
)
def test_one_thing_alone_is_no_list(given: Any) -> None:
    """Nor is it taken apart."""
    with pytest.raises(
        ConfigurationError, match=r"files= takes a list, also of one: files=\["
    ) as refused:
        several(given, "files")
    assert refused.value.code == "usage"


@pytest.mark.parametrize("given", [[1, 2], (1, 2), {1: 0, 2: 0}.keys(), iter([1, 2])])
def test_what_lists_is_taken_in_its_order(given: Any) -> None:
    """A list, a tuple, a view and what gives one after the other."""
    assert several(given, "files") == (1, 2)


@pytest.mark.parametrize(
    "given",
    [
        {"verbs": look},
        {"verbs": "door.look"},
        {"agents": Agent(name="ann", domain="doors")},
        {"agents": "ann"},
    ],
)
def test_an_ordain_takes_lists(tmp_path: Path, given: dict[str, Any]) -> None:
    """Of verbs and of agents."""
    with pytest.raises(ConfigurationError, match="takes a list, also of one"):
        Ordain(home=tmp_path, **given)


async def test_a_file_by_its_name_alone_is_no_list_of_letters(tmp_path: Path) -> None:
    """Neither as a text nor as a path; nothing is sent."""
    async with Ordain(home=tmp_path) as ordain:
        for given in ("a.png", tmp_path / "a.png"):
            with pytest.raises(ConfigurationError, match="attachments= takes a list"):
                await ordain.chat("hello", attachments=given)  # type: ignore[arg-type]
        assert await ordain.runtime.conversation.sessions("default") == []


async def test_arguments_that_do_not_fit_are_named(tmp_path: Path) -> None:
    """As the command names them, with what was probably meant."""
    async with Ordain(home=tmp_path, verbs=[look]) as ordain:
        told = await ordain.execute("door.look", {"wehre": "there"})
        fits = await ordain.execute("door.look", {"where": "there"})
    message = told.wire["error"]["message"]
    assert told.wire["error"]["code"] == "schema"
    assert message == (
        "The arguments do not fit the verb's schema: wehre: there is no such argument; did you "
        "mean where?; where: it is missing"
    )
    assert fits.wire["ok"]
