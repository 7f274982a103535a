"""How many connections a process may keep, and whether it may open files enough to serve at all."""

from __future__ import annotations

import resource

import pytest

from ordain.contracts.policy import EnginePolicy
from ordain.errors import ConfigurationError
from ordain.runtime.descriptors import (
    AT_START,
    LEAST_DESCRIPTORS,
    NO_LIMIT,
    check_descriptors,
    is_among_last,
    last_descriptors,
    most_connections,
    most_running,
)


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))


@pytest.mark.parametrize(
    ("soft", "hard"), [(LEAST_DESCRIPTORS - 1, 4096), (20, 20), (0, resource.RLIM_INFINITY)]
)
def test_too_few_files_are_refused_with_how_many_it_takes(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int
) -> None:
    """With the limit as it is, what is needed, and where the limit above it is what stands in the
    way, that one.
    """
    limited(monkeypatch, soft, hard)
    with pytest.raises(
        ConfigurationError,
        match=f"may open {soft} files, and a server needs at least {LEAST_DESCRIPTORS}",
    ) as refused:
        check_descriptors()
    assert refused.value.code == "too_few_descriptors"
    assert ("at most" in refused.value.message) is (hard == 20)


POLICY = EnginePolicy()


@pytest.mark.parametrize("soft", [LEAST_DESCRIPTORS, 100, 256, 1024, 4096, 65_536])
def test_enough_files_leave_some_for_connections_and_for_runs(
    monkeypatch: pytest.MonkeyPatch, soft: int
) -> None:
    """A quarter at the least for connections; and all of them, the runs that may be driven, what a
    start opens and the last ones have room together.
    """
    limited(monkeypatch, soft, soft)
    check_descriptors()
    assert soft // 4 <= most_connections() <= soft * 3 // 4
    assert most_running(EnginePolicy(max_running=1_000_000)) >= 8
    assert (
        most_connections()
        + most_running(EnginePolicy(max_running=1_000_000))
        + AT_START
        + last_descriptors()
        <= soft
    )


@pytest.mark.parametrize(
    ("soft", "running"), [(1024, 256), (65_536, 256), (256, 144), (resource.RLIM_INFINITY, 256)]
)
def test_as_many_runs_are_driven_as_policy_says_and_files_allow(
    monkeypatch: pytest.MonkeyPatch, soft: int, running: int
) -> None:
    """The shipped policy's are driven where a process may open what it may by default; where it may
    open fewer, some wait for their turn.
    """
    limited(monkeypatch, soft, soft)
    assert most_running(POLICY) == running
    assert most_running(EnginePolicy(max_running=3)) == 3


@pytest.mark.parametrize("soft", [LEAST_DESCRIPTORS, 256, 65_536])
def test_the_last_files_are_for_no_connection(monkeypatch: pytest.MonkeyPatch, soft: int) -> None:
    """A few at the end, told by the number of a new one, which is the lowest that is free."""
    limited(monkeypatch, soft, soft)
    assert 8 <= last_descriptors() <= soft // 8
    assert [
        is_among_last(number)
        for number in (3, soft - last_descriptors() - 1, soft - last_descriptors(), soft - 1)
    ] == [
        False,
        False,
        True,
        True,
    ]


def test_without_a_limit_no_file_is_among_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are open."""
    limited(monkeypatch, resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert most_connections() == NO_LIMIT
    assert not is_among_last(1_000_000)
    assert last_descriptors() > 1
