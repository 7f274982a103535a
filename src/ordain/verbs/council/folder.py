"""The folder of seats (C4)."""

from __future__ import annotations

from ordain.contracts.council import Seat
from ordain.verbs.yaml_folder import YamlFolder

SEATS = YamlFolder(contract=Seat, key="name", noun="seat", code="invalid_seat", most=50)
