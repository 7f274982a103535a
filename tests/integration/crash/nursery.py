"""The process that all processes of the crash harness are forked from: it has imported and built
everything once.

It reads lists of cases from its input, one JSON line each, runs some at a time, and writes one JSON
line for each case. It has no threads and no event loop of its own, so that forking it is safe.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

from tests.integration.crash.case import Case, build_houses, run_case
from tests.shapes.ledger import Ledger

AT_ONCE = 3


def main(port: int, folder: Path) -> None:
    """Serve until the input ends."""
    ledger = Ledger(port)
    houses = build_houses(ledger)
    gc.freeze()  # what was built is shared by all that are forked: the collector leaves it alone
    os.write(1, b'{"ready": true}\n')
    for line in sys.stdin:
        cases = [
            Case(**{**case, "deaths": tuple(map(tuple, case["deaths"]))})
            for case in json.loads(line)
        ]
        running = 0
        for case in cases:
            if running == AT_ONCE:
                os.wait()
                running -= 1
            if os.fork() == 0:
                report = run_case(case, folder / case.id, houses[case.shape], ledger)
                os.write(1, (json.dumps(report) + "\n").encode())
                os._exit(0)
            running += 1
        for _ in range(running):
            os.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
