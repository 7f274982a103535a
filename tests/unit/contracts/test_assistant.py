"""What conversations are told of the assistant."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ordain.contracts.assistant import Assistant
from ordain.contracts.catalog_data import CatalogData
from tests.unit.rules.given import catalog


def test_a_prompt_is_told_what_is_said_and_nothing_else() -> None:
    """Name, language, instructions, each where it is given; of nothing nothing."""
    assert Assistant().advice == ""
    assert (
        Assistant(name="Ada", instructions="Be brief.\n").advice == "Your name is Ada.\nBe brief."
    )
    assert Assistant(language="German").advice.startswith("Answer in German, whatever language")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "A\nb"},
        {"language": "\x1b[2J"},
        {"instructions": "a\x00b"},
        {"name": "a" * 81},
        {"mood": "good"},
    ],
)
def test_only_text_is_taken(given: dict[str, str]) -> None:
    """Names and languages are one line; nothing holds controls; unknown keys are refused."""
    with pytest.raises(ValidationError):
        Assistant.model_validate(given)


def test_a_catalog_without_one_is_the_one_of_before() -> None:
    """Nothing is stored where nothing is said, so such a catalog has the digest that it had."""
    house = catalog({})
    assert b"assistant" not in house.encoded
    said = house.changed(assistant=Assistant(name="Ada"))
    assert said.digest != house.digest
    assert CatalogData.model_validate_json(said.encoded).assistant == Assistant(name="Ada")
