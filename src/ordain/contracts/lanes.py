"""The classes of models behind calls."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """The class of model behind a call (RTE-01); a mode never implies one (B-09)."""

    LOCAL = "local"
    WORKER = "worker"
    BRAIN = "brain"
