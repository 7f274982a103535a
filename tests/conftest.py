"""What holds for every test: no call leaves this machine, nothing of the developer's own set-up
leaks in, proofs are recorded.
"""

import os
from collections.abc import Iterator

import pytest

pytest_plugins = [
    "tests.garbage",
    "tests.hangs",
    "tests.lanes",
    "tests.live_call_lock",
    "tests.recording",
]


@pytest.fixture(scope="session", autouse=True)
def _foreign_settings_are_gone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A key, a proxy or a home of the person who runs the tests never reaches the code under
    test.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("ORDAIN_", "OPENAI_", "PLANNER_")) or name.lower().endswith(
                "_proxy"
            ):
                patch.delenv(name)
        patch.setenv("ORDAIN_HOME", str(tmp_path_factory.mktemp("ordain-home")))
        yield
