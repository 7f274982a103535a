"""The council's seats, requests and what is read of proposals."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.catalog import Catalog
from ordain.contracts.council import (
    AUDITOR,
    CHAIR,
    SEATS_MAX,
    UNIVERSES,
    CouncilPolicy,
    DeliberationRequest,
    Seat,
    seats_of,
)
from ordain.verbs.council.shipped import shipped_seats
from tests.unit.flows.house import shipped

CORE = ["Analyst", "Pragmatist", "Mythic", "Systems"]
ALL = [*CORE, "Caretaker", "Guardian", "Edge", "Explorer", "Director"]


@pytest.mark.parametrize(
    ("universe", "names"),
    [
        ("core", CORE),
        ("relational", [*CORE, "Caretaker"]),
        ("safety", [*CORE, "Guardian", "Edge"]),
        ("explore", [*CORE, "Explorer"]),
        ("shadow", [*CORE, "Edge"]),
        ("executive", ALL),
        ("everything", ALL),
    ],
)
def test_a_universe_is_its_seats(universe: str, names: list[str]) -> None:
    """C4's five; any other is all of them. Chair and auditor are in none."""
    assert [seat.name for seat in seats_of(shipped_seats(), universe)] == sorted(names)


def test_the_shipped_seats_have_their_temperatures() -> None:
    """C4's numbers; those of seats that it gives none are a seat's default."""
    temperatures = {seat.name: seat.temperature for seat in shipped_seats().values()}
    assert temperatures == {
        **dict.fromkeys(ALL, 0.5),
        "Analyst": 0.4,
        "Mythic": 0.8,
        "Chair": 0.3,
        "Auditor": 0.1,
    }
    assert all(seat.role_description for seat in shipped_seats().values())


def test_a_catalog_that_is_read_again_has_them_in_the_same_order() -> None:
    """A run that goes on under the stored catalog asks whom it had asked."""
    read_again = Catalog.from_bytes(shipped().encoded)
    assert seats_of(read_again.data.seats, "everything") == seats_of(
        shipped().data.seats, "everything"
    )


def test_a_seat_of_ones_own_joins_a_universe_by_name_or_tag() -> None:
    """And only that, and the one that is all."""
    own = Seat(name="Librarian", universe="safety", tags=["explore"])
    seats = {**shipped_seats(), own.name: own}
    assert {universe for universe in (*UNIVERSES, "mine") if own in seats_of(seats, universe)} == {
        "safety",
        "explore",
        "mine",
    }


def test_a_round_asks_so_many_seats_at_the_most() -> None:
    """However many a catalog has."""
    many = {f"S{number}": Seat(name=f"S{number}") for number in range(SEATS_MAX + 9)}
    assert len(seats_of(many, "core")) == SEATS_MAX
    assert not {CHAIR, AUDITOR} & {
        seat.name for seat in seats_of({**many, **shipped_seats()}, "core")
    }


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"prompt": ""},
        {"prompt": " "},
        {"prompt": "a", "surplus": 1},
        {"prompt": "a", "max_rounds": 0},
        {"prompt": "a", "phi": {"valence": float("nan")}},
        {"prompt": "a", "universe": "No Such"},
        {"prompt": "a", "history": [{"role": "oracle", "content": "x"}]},
    ],
)
def test_a_request_is_whole_or_refused(body: dict[str, Any]) -> None:
    """Unknown fields, blanks, numbers that are none."""
    with pytest.raises(ValidationError):
        DeliberationRequest.model_validate(body)


def test_the_sources_request_is_taken_as_it_is() -> None:
    """C4's fields, all of them."""
    request = DeliberationRequest.model_validate(
        {
            "event": "council_deliberation",
            "trace_id": "t-1",
            "source": "hub",
            "prompt": "Should it open?",
            "history": [{"role": "user", "content": "Hello."}],
            "tags": ["library"],
            "universe": "shadow",
            "response_channel": "orion:council:reply:t-1",
            "phi": {"valence": 0.1, "energy": 0.5, "coherence": 0.9, "novelty": 0.2},
            "self_field": {"calm": 0.4},
            "persona_state": {"name": "Orion"},
        }
    )
    assert request.trace_id == "t-1"


def test_the_shortest_time_of_an_attempt_is_a_millisecond() -> None:
    """Never none at all, which would be no bound."""
    assert CouncilPolicy(llm_timeout_seconds=0.0001).llm_timeout_ms == 1
