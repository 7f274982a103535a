"""How many connections a process may keep, and whether it may open files enough to serve at all."""

from __future__ import annotations

import resource

import pytest

from ordain.errors import ConfigurationError
from ordain.server.protocol import LEAST_DESCRIPTORS, NO_LIMIT, check_descriptors, most_connections


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))


@pytest.mark.parametrize(("soft", "hard"), [(LEAST_DESCRIPTORS - 1, 4096), (20, 20), (0, resource.RLIM_INFINITY)])
def test_too_few_files_are_refused_with_how_many_it_takes(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
    """With the limit as it is, what is needed, and where the limit above it is what stands in the way, that one."""
    limited(monkeypatch, soft, hard)
    with pytest.raises(ConfigurationError, match=f"may open {soft} files, and a server needs at least {LEAST_DESCRIPTORS}") as refused:
        check_descriptors()
    assert refused.value.code == "too_few_descriptors"
    assert ("at most" in refused.value.message) is (hard == 20)


@pytest.mark.parametrize("soft", [LEAST_DESCRIPTORS, 1024, resource.RLIM_INFINITY])
def test_enough_files_leave_some_for_connections(monkeypatch: pytest.MonkeyPatch, soft: int) -> None:
    """A quarter at the least, and beside them what a start opens."""
    limited(monkeypatch, soft, soft)
    check_descriptors()
    assert most_connections() == NO_LIMIT or soft // 4 <= most_connections() <= soft - 32
