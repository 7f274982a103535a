"""The folder of seats (C4)."""

from __future__ import annotations

from ordain.contracts.council import SEATS_MAX, Seat
from ordain.verbs.council.shipped import shipped_seats
from ordain.verbs.yaml_folder import YamlFolder

SEATS = YamlFolder(contract=Seat, name="council", key="name", noun="seat", code="invalid_seat", most=SEATS_MAX, shipped=shipped_seats)
