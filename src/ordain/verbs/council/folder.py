"""The folder of seats (C4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordain.contracts.council import SEATS_MAX, Seat, sitting
from ordain.contracts.faults import Fault
from ordain.verbs.council.shipped import shipped_seats
from ordain.verbs.yaml_folder import YamlFolder


def _too_many(seats: Mapping[str, Seat]) -> Iterator[tuple[str, Fault]]:
    """Own seats beyond what one round asks of all, the last by name: none of those that are
    configured is ever left out of a round.
    """
    asked = sitting(seats)
    own = [name for name in asked if name not in shipped_seats()]
    over = max(0, len(asked) - SEATS_MAX)
    for name in own[len(own) - over :]:
        yield (
            name,
            (
                ("name",),
                (
                    f"with it there are more than {SEATS_MAX} seats, shipped ones among them, "
                    "and one "
                    "round asks so many at the most"
                ),
            ),
        )


SEATS = YamlFolder(
    contract=Seat,
    name="council",
    key="name",
    noun="seat",
    code="invalid_seat",
    most=SEATS_MAX,
    shipped=shipped_seats,
    together=_too_many,
)
