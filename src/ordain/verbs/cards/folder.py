"""The folder of agents' cards (META-01..META-06, HND-05)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ordain.contracts.cards import AgentCard, card_faults
from ordain.verbs.shipped_file import read_shipped
from ordain.verbs.yaml_folder import YamlFolder


@cache
def shipped_cards() -> Mapping[str, AgentCard]:
    """The cards of the folder ``shipped`` beside this file, by name; read once, they are part of
    the build.
    """
    return read_shipped(Path(__file__).parent, AgentCard)


CARDS = YamlFolder(
    contract=AgentCard,
    name="cards",
    key="name",
    noun="card",
    code="invalid_card",
    most=50,
    shipped=shipped_cards,
    together=card_faults,
)
"""Each card is a row of the planner's prompt: there are not more of them than somebody reads."""
