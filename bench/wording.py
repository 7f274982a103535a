"""What reading a message costs: cues and the decision about it, over the labelled messages and
texts made to be slow; ``python -m bench.wording``.

A decision about a message holds up the writer of the house, so it has less than a millisecond of
CPU. Cues are read before the transaction.
"""

from __future__ import annotations

import gc
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns, process_time

from ordain.contracts.policy import Policy
from ordain.rules.attach import ATTACH, THREADS_MAX, AttachFacts, ThreadFact
from ordain.runtime.wording_diff import with_cues
from ordain.wording.cues import Cues
from ordain.wording.languages import shipped_table
from ordain.wording.wording import Wording, compiled

TESTS = Path(__file__).resolve().parents[1] / "tests"
MESSAGES = (
    TESTS / "unit/wording/cue_messages.json",
    TESTS / "fixtures/messages/own.json",
    TESTS / "fixtures/messages/independent.json",
)
SLOW = (
    "x " * 2000,
    "stop " * 200,
    "a. " * 1000,
    "haha 👍 " * 500,
    "rather instead of " * 40,
    "5 at 5 of 5 may 5 " * 40,
)
BEST_OF = 5


def main() -> None:
    """Measure, and print as JSON."""
    table = shipped_table()
    began = process_time()
    wording = compiled(table)
    compile_ms = (process_time() - began) * 1000
    texts = [
        message["text"]
        for file in MESSAGES
        for message in json.loads(file.read_text(encoding="utf-8"))
    ]
    gc.disable()
    figures = {
        name: spread(list(decided(wording, of)))
        for name, of in (("labelled", texts), ("slow", SLOW))
    }
    print(
        json.dumps(
            {
                "compile_ms": round(compile_ms, 1),
                "table_bytes": len(table.encoded),
                "decision_us": figures,
            },
            indent=1,
        )
    )


def decided(wording: Wording, texts: Sequence[str]) -> Iterator[float]:
    """Microseconds to read each text and to decide about it, in a session with as many threads as
    the rule sees.
    """
    policy = Policy(version=1)
    threads = tuple(
        ThreadFact(
            id=number,
            status="in_progress",
            live=True,
            asks="yes_no" if number % 2 else "",
            fits=False,
        )
        for number in range(1, THREADS_MAX + 1)
    )
    facts = AttachFacts(cues=Cues(), threads=threads, active=1, anchor=1, at_work=8, open=8)
    for text in texts:
        best = 10**12
        for _ in range(BEST_OF):
            began = perf_counter_ns()
            ATTACH.apply(with_cues(facts, wording.cues(text)), None, policy)
            best = min(best, perf_counter_ns() - began)
        yield best / 1000


def spread(values: list[float]) -> dict[str, float]:
    """Median, 99th percentile and the most."""
    ordered = sorted(values)
    return {
        "p50": round(statistics.median(ordered)),
        "p99": round(ordered[len(ordered) * 99 // 100]),
        "max": round(ordered[-1]),
    }


if __name__ == "__main__":
    main()
