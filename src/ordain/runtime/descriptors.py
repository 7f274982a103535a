"""What the files that a process may open are for: so many are connections, so many runs' (a model
that is asked, a verb at work), so many storage's.

Each run holds one or so while it is driven. What waits for its turn or for an answer holds none, so
fewer driven at once stops nothing: where the limit is low, runs wait instead of failing for want of
a file, and connections are refused instead of taking those that runs need.
"""

from __future__ import annotations

import resource

from ordain.contracts.policy import EnginePolicy
from ordain.errors import ConfigurationError

AT_START = 32
"""A start opens about 26 files."""
FOR_RUNS = 256
"""As many runs as the shipped policy lets be driven at once."""
LEAST_DESCRIPTORS = 64
LAST_DESCRIPTORS = 16
NO_LIMIT = 1_000_000


def most_connections() -> int:
    """How many connections there may be: all files but those that storage and runs need, a quarter
    of them at the least and three at the most.
    """
    return _connections(_limit())


def _connections(soft: int) -> int:
    return (
        max(min(soft - AT_START - FOR_RUNS - _last(soft), soft * 3 // 4), soft // 4)
        if soft
        else NO_LIMIT
    )


def most_running(policy: EnginePolicy) -> int:
    """How many runs may be driven at once: as many as policy allows, and there are files left
    for.
    """
    soft = _limit()
    return (
        min(policy.max_running, max(1, soft - AT_START - _last(soft) - _connections(soft)))
        if soft
        else policy.max_running
    )


def last_descriptors() -> int:
    """How many no connection may be of, however few connections there are: those others that are
    kept may be in use.
    """
    return _last(_limit())


def _last(soft: int) -> int:
    return min(LAST_DESCRIPTORS, soft // 8) if soft else LAST_DESCRIPTORS


def is_among_last(descriptor: int) -> bool:
    """Whether nearly all are in use: a new one has the lowest number that is free."""
    soft = _limit()
    return soft > 0 and descriptor >= soft - _last(soft)


def _limit() -> int:
    """The process's own; 0 where there is none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(soft, 0)


def check_descriptors() -> None:
    """What a server opens at its start leaves enough for connections, storage and models.

    Raises:
        ConfigurationError: ``too_few_descriptors``, with how many it takes.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < LEAST_DESCRIPTORS:
        most = (
            ""
            if hard < 0 or hard >= LEAST_DESCRIPTORS
            else f" (at most {hard} are allowed to it now)"
        )
        raise ConfigurationError(
            f"this process may open {soft} files, and a server needs at least "
            f"{LEAST_DESCRIPTORS}, one more for each connection: raise that{most}"
            " with `ulimit -n 1024`, LimitNOFILE= of a systemd unit or --ulimit nofile= of a "
            "container",
            code="too_few_descriptors",
        )
