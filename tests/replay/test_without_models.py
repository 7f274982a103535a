"""Replay needs no model, no verb and no network: it runs where none of them can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.replay.golden_file import GOLDEN

PROGRAM = """
import sys

class Unimportable:
    def find_spec(self, name, path=None, target=None):
        banned = ("ordain.models", "ordain.verbs", "ordain.server", "ordain.app", "ordain.engines", "httpx2", "httpcore2", "uvicorn", "fastapi")
        if name.startswith(banned):
            raise ImportError(f"{name} must not be needed")

sys.meta_path.insert(0, Unimportable())

def audit(event, args):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        raise RuntimeError(event)

sys.addaudithook(audit)
from pathlib import Path
from ordain.flows.shipped import shipped_kinds
from ordain.runtime.diff import diff
from ordain.runtime.replay import replay
from tests.replay.golden_file import read

for file in sorted(Path(sys.argv[1]).glob("v*/*.json")):
    golden = read(file)
    report = replay(golden.run, golden.compiled(), shipped_kinds())
    assert report.equal, report
    assert not diff(golden.run, golden.compiled(), golden.compiled().policy, shipped_kinds(), lambda run: None).flips
    print(file.stem)
"""


def test_replay_runs_where_models_verbs_and_network_are_unimportable() -> None:
    """Every golden journal replays equal in a process that can import no model, no verb and no
    network client.
    """
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(GOLDEN)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(list(GOLDEN.glob("v*/*.json")))
