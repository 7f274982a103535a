"""The recording of a test run that scripts/requirements.py reads: each test function's docstring and outcomes (`pytest --record FILE`)."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_RECORD = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, help="write each test function's docstring and outcomes to this JSON file")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RECORD] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" or report.outcome != "passed":
        function = item.nodeid.partition("[")[0]
        docstring = getattr(getattr(item, "function", None), "__doc__", None) or ""
        entry = item.config.stash[_RECORD].setdefault(function, {"docstring": docstring, "passed": 0, "failed": 0, "skipped": 0})
        entry[report.outcome] += 1
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if target := session.config.getoption("record"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(session.config.stash[_RECORD], ensure_ascii=False, indent=1, sort_keys=True), encoding="utf-8")
