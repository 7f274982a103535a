"""The recording of a test run that scripts/requirements.py reads: each test function's docstring
and outcomes (`pytest --record FILE`).
"""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_DOCSTRING = "docstring"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        type=Path,
        help="write each test function's docstring and outcomes to this JSON file",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report carries the docstring: a test may have run in another process than the one that
    records.
    """
    report = yield
    setattr(report, _DOCSTRING, getattr(getattr(item, "function", None), "__doc__", None) or "")
    return report


class Recorder:
    """Keeps what is reported in the process that collects all reports."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.found: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            function = report.nodeid.partition("[")[0]
            entry = self.found.setdefault(
                function,
                {
                    # of a test whose process was killed there is none
                    "docstring": getattr(report, _DOCSTRING, ""),
                    "passed": 0,
                    "failed": 0,
                    "skipped": 0,
                },
            )
            entry[report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.write_text(
            json.dumps(self.found, ensure_ascii=False, indent=1, sort_keys=True), encoding="utf-8"
        )


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("record")
    if target is not None and not hasattr(config, "workerinput"):
        # one process of many has it: the others' reports come here
        config.pluginmanager.register(Recorder(target))
