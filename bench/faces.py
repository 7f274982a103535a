"""What it costs to be spoken to by OpenAI's clients, and to hold a policy to what was said: the
figures of ``bench.openai_face`` and ``bench.first_token``, and how fast the conversations that the
first of them leaves are judged by another policy. ``python -m bench.faces HOME``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench import first_token, openai_face
from bench.page import Target, spread
from ordain.cli.policy_findings import RunFate
from ordain.cli.policy_trial import run_judge
from ordain.cli.processes import cores, each
from ordain.contracts.policy import Policy
from ordain.settings import read_policy
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore, StoreOptions

ROUNDS, TALKS = 5, 32
JUDGED = 3
OFTEN = 2
"""How often each turn is judged in a round: what a process costs to begin is little beside
thousands.
"""


def _judged_per_s(home: Path, runs: list[str], policy: Policy) -> float:
    began = time.perf_counter()
    found = list(each(partial(run_judge, home, policy), runs, cores()))
    if not all(one.fate is RunFate.UNCHANGED for one in found):
        raise AssertionError("a turn is judged otherwise by the policy that it ran under")
    return len(runs) / (time.perf_counter() - began)


def judged(home: Path) -> dict[str, Any]:
    """Chat turns a second, as ``ordain replay --policy FILE --fail-on …`` judges them by the policy
    that they ran under.
    """
    store = SqliteStore(home, StoreOptions())
    runs = list(asyncio.run(SqliteSearch(store).every_run(roots_only=True)))
    store.close()
    policy = read_policy(None)
    return {
        "turns": len(runs),
        "jobs": cores(),
        "turns_per_s": [_judged_per_s(home, runs * OFTEN, policy) for _ in range(JUDGED)],
    }


def measured(base: Path, rounds: int = ROUNDS) -> dict[str, Any]:
    """All of it, one after the other."""
    talks, tokens = base / "talks", base / "tokens"
    for home in (talks, tokens):
        home.mkdir(parents=True)
    openai_face.prepare(talks)
    face = asyncio.run(openai_face.measured(talks, rounds, TALKS))
    return {
        "face": face,
        "first_token": asyncio.run(first_token.measured(tokens, 40)),
        "judged": judged(talks),
    }


def targets(figures: dict[str, Any]) -> list[Target]:
    """Every target with its figure from this run."""
    face, token, policy = figures["face"], figures["first_token"], figures["judged"]
    ways = face["ratios"]
    return [
        Target(
            words="`/v1/chat/completions` at most 1.2 times the CPU of `/messages`",
            measured=(
                f"found by name {spread(ways['by_name'], 2)} times, by content "
                f"{spread(ways['by_content'], 2)} times"
            ),
            met=max(face["to_messages"].values()) <= 1.2,
            missed=(
                "A request brings its whole conversation, which is read, checked and digested, and "
                "an answer says more beside its text."
            ),
        ),
        Target(
            words="The first streamed token at most 5 ms of CPU behind the endpoint's",
            measured=f"{token['ms']:.2f} ms; nine in ten {token['ms_of_nine_in_ten']:.2f} ms",
            met=token["ms"] <= 5,
            missed="It is journaled nowhere, but read, checked and sent on in three tasks.",
        ),
        Target(
            words="Policy CI judges at least 1,000 recorded chat turns per second",
            measured=f"{spread(policy['turns_per_s'], 0)} turns/s with {policy['jobs']} processes",
            met=median(policy["turns_per_s"]) >= 1000,
            missed="Every decision of a turn is made again under the other policy.",
        ),
    ]


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]), *map(int, sys.argv[2:]))))
