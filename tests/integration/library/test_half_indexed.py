"""What is found while passages get the vectors of another embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.ports.library import Method
from tests.contract.test_library import EMBEDDER, House, OtherEmbedder, note, question

NAMES = [
    f"{first}{last}"
    for first in ("Mar", "Hel", "Kor", "Tam")
    for last in ("ina", "ord", "esk", "ull", "ovan")
]
KEPT = len(NAMES)


async def test_what_has_no_vector_yet_is_found_by_its_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After a change of embedder what is asked for may be among what has no vector yet: words are
    looked up as long as more than one passage of ten lacks one, where they find anything, and the
    notice says so; then meaning answers again. The log says how far it is.
    """
    house = House(tmp_path / "data")
    for name in NAMES:
        await house.library.add(note(f"The locker of {name} is by the door."))
    library = house.again(OtherEmbedder())
    await library.add(note("The dog barks at night."))
    asked = question("which locker has Koresk?", limit=3)
    found = await library.search(asked)
    assert found.method is Method.TEXT
    assert "The locker of Koresk is by the door." in [one.text for one in found.fragments]
    assert f"found by words: {KEPT} passages have no vector" in found.notice
    nowhere = await library.search(question("a hound's noise"))
    assert (nowhere.method, nowhere.fragments[0].text) == (Method.DENSE, "The dog barks at night.")
    assert f"{KEPT} passages have no vector yet and were not compared" in nowhere.notice
    with caplog.at_level("INFO", "ordain.library"):
        await library.catch_up()
    assert caplog.messages[-1] == (
        f"gave vectors: added={KEPT} passages={KEPT + 1} embedded={KEPT + 1} embedder=other-1"
    )
    again = await library.search(asked)
    assert (again.method, again.notice) == (Method.DENSE, "")
    house.close()


async def test_one_passage_of_many_without_a_vector_is_told_of(tmp_path: Path) -> None:
    """What was kept while the endpoint did not answer hinders no search by meaning."""
    house = House(tmp_path / "data")
    for number in range(KEPT):
        await house.library.add(note(f"The shelf {number} holds apples."))
    await house.again(None).add(note("The dog barks at night."))
    found = await house.again(EMBEDDER).search(question("where is the fruit"))
    assert found.method is Method.DENSE
    assert found.notice.startswith("1 passages have no vector yet")
    house.close()
