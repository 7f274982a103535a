"""What hangs out of its time-out's reach ends its process, with every thread's stack on stderr: a
run of the tests always comes to an end.

A time-out is an exception in the main thread. What waits in code that no exception gets into, what
swallows it, or a fixture that hangs while it is cleaned up after it would wait for ever, and nobody
would see where. The process that shares the work is replaced, and the test that it was at has
failed.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Generator

import pytest

BEYOND_S = 120.0
"""How long a test may go on after its time-out, to clean up."""
LEAVING_S = 300.0
"""How long a process may take to end after its last test."""
_STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STDERR] = os.dup(2)  # before a test's own output is caught


def _watch(config: pytest.Config, seconds: float) -> None:
    faulthandler.dump_traceback_later(seconds, exit=True, file=config.stash[_STDERR])


def time_out(item: pytest.Item) -> float:
    """Seconds that a test may take: by its own marker, by ``--timeout``, by the settings."""
    marker, config = item.get_closest_marker("timeout"), item.config
    if marker is not None and marker.args:
        return float(marker.args[0])
    asked = config.getoption("timeout")
    return float(config.getini("timeout") if asked is None else asked)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """All of a test: what it needs, itself, and its cleaning up."""
    _watch(item.config, time_out(item) + BEYOND_S)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item) -> None:
    """What fails is cleaned up under the same watch; pytest itself ends any for the sake of
    debuggers.
    """
    _watch(node.config, BEYOND_S)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Until the process has ended."""
    _watch(session.config, LEAVING_S)
