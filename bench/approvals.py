"""``python -m bench.approvals``: what runs that wait for an approver cost: memory, a start, and the
rule that sends them to wait; printed and not written.

``fill HOME COUNT TEMPLATE`` has that many conversations propose a workflow (``tell`` waits for a
yes, ``note`` needs none) and ends; ``again HOME`` is an ordinary start on what it left, beside
which one on an empty folder is measured; ``turns HOME`` measures turns with a yes and without;
``beside FULL OVER EMPTY`` measures turns that need no yes, by turns on a folder where as many wait,
on one whose conversations are all over, and on an empty one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.page import spread, table
from ordain import Ordain, VerbContext, verb
from ordain.app import Extras
from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.verbs import ArgumentRole, VerbEffect
from ordain.journal.records import MayAsk
from ordain.rules.authorize import AuthorizeFacts, AuthorizeInputs, decide_authorize
from ordain.runtime.approvals import ApproverWord
from ordain.settings import load_settings

COUNT, AT_ONCE, RULED = 10_000, 64, 20_000
WARM, TURNS = 30, 200
ROUNDS, EACH, CAUGHT_UP_S = 41, 20, 10
TEMPLATE = """\
id: {0}
version: 1
description: Tells somebody something.
schema:
  type: object
  properties: {{text: {{type: string, minLength: 1, maxLength: 500}}}}
  required: [text]
  additionalProperties: false
steps:
  - {{verb: bench.{0}, args: {{to: ada, text: {{$arg: text}}}}}}
"""


@verb(
    name="bench.tell",
    effect="send",
    arguments={"to": ArgumentRole.RECIPIENT, "text": ArgumentRole.CONTENT},
)
async def tell(to: str, text: str, context: VerbContext) -> str:
    """Tell somebody something."""
    return f"told {to} as {context.key}: {text}"


@verb(
    name="bench.note",
    effect="private",
    arguments={"to": ArgumentRole.RECIPIENT, "text": ArgumentRole.CONTENT},
)
async def note(to: str, text: str, context: VerbContext) -> str:
    """Note something down, which needs nobody's yes."""
    return f"told {to} as {context.key}: {text}"


def _ordain(home: Path) -> Ordain:
    """One of that folder, in which as many may wait as there are."""
    settings = load_settings({}, home)
    engine = settings.policy.engine.model_copy(update={"max_accepted": 4 * COUNT})
    return Ordain(
        settings.model_copy(
            update={"policy": settings.policy.model_copy(update={"engine": engine})}
        ),
        extras=Extras(verbs=(tell, note)),
    )


async def _fill(home: Path, count: int, template: str) -> None:
    left = iter(range(count))

    async def propose(ordain: Ordain) -> None:
        for number in left:
            answer = await ordain.chat(
                "tell them",
                session=f"s{number}",
                workflow={"template": template, "args": {"text": f"tea at {number}"}},
            )
            if (answer.approval is not None) is (template == "note"):
                raise AssertionError(f"conversation {number} came to {answer}")

    async with _ordain(home) as ordain:
        await asyncio.gather(*(propose(ordain) for _ in range(AT_ONCE)))


async def _again(home: Path) -> None:
    began = time.perf_counter()
    async with _ordain(home) as ordain:
        first = await ordain.runtime.approvals.listed("default", limit=50)
        ready = time.perf_counter() - began
        print(
            json.dumps({"ready_s": ready, "mb": _resident_mb(), "listed": len(first)}), flush=True
        )
        print(json.dumps(_ruled(ordain.catalog)), flush=True)


async def _turns(home: Path) -> None:
    """Turns of the same workflow, one that needs a yes and one whose verb is the user's own, by
    turns; the processor's time of each, without the first ones.
    """
    took: dict[str, list[float]] = {"tell": [], "note": []}
    async with _ordain(home) as ordain:
        for number in range(WARM + TURNS):
            for template, spent in took.items():
                began = time.process_time()
                hints = {"workflow": {"template": template, "args": {"text": "tea"}}}
                said = {
                    "session_id": f"{template}{number}",
                    "user_id": "ada",
                    "message": {"text": "tell them"},
                }
                sent = await ordain.send({**said, "context": {"routing_hints": hints}})
                answer = await ordain.answer(sent)
                if (asked := answer.approval) is not None:
                    word = ApproverWord(approve=True, digest=asked.digest)
                    await ordain.runtime.approvals.decide(
                        DEFAULT_WORKSPACE, asked.approval_id, word, "local:ada"
                    )
                    answer = await ordain.answer(sent)
                if (
                    answer.reply is None
                    or not answer.reply.ok
                    or (asked is None) is (template == "tell")
                ):
                    raise AssertionError(f"turn {number} of {template} came to {answer}")
                spent.append(time.process_time() - began)
    print(
        json.dumps({name: statistics.median(spent[WARM:]) * 1000 for name, spent in took.items()}),
        flush=True,
    )


async def _stepped(home: Path) -> None:
    """Turns of a verb that is plainly allowed, so many for each line that is read: the processor's
    time of one, in milliseconds.

    Nothing else is at work then: what a start still had to do is over.
    """
    loop = asyncio.get_running_loop()
    async with _ordain(home) as ordain:
        number = 0
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            took = list[float]()
            for _ in range(int(line)):
                number += 1
                began = time.process_time()
                answer = await ordain.chat(
                    "note it",
                    session=f"beside{home.name}{number}",
                    workflow={"template": "note", "args": {"text": "tea"}},
                )
                if answer.reply is None or not answer.reply.ok or answer.approval is not None:
                    raise AssertionError(f"turn {number} came to {answer}")
                took.append(time.process_time() - began)
            print(json.dumps(statistics.fmean(took) * 1000), flush=True)


def _beside(*homes: Path) -> list[tuple[float, ...]]:
    """The processor's time of a turn on each of these, in rounds that follow each other; which of
    them is first goes round.
    """
    command = (sys.executable, "-m", "bench.approvals", "stepped")
    sides = [
        subprocess.Popen(
            [*command, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for home in homes
    ]

    def turns(side: subprocess.Popen[str], number: int) -> float:
        assert side.stdin is not None
        assert side.stdout is not None
        side.stdin.write(f"{number}\n")
        side.stdin.flush()
        return json.loads(side.stdout.readline())

    try:
        for side in sides:
            turns(side, EACH)
        time.sleep(CAUGHT_UP_S)
        found = list[tuple[float, ...]]()
        for number in range(ROUNDS):
            order = [(number + place) % len(sides) for place in range(len(sides))]
            took = {place: turns(sides[place], EACH) for place in order}
            found.append(tuple(took[place] for place in range(len(sides))))
    finally:
        for side in sides:
            side.communicate()
    return found


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def _ruled(catalog: Catalog) -> Mapping[str, float]:
    """Microseconds of rule ``authorize`` for one call that needs a yes and for one that has it."""
    facts = {
        "asks": AuthorizeFacts(
            verb="bench.tell",
            call="c",
            in_scope=True,
            depth=0,
            verb_calls=0,
            cap_verb_calls=9,
            may_ask=MayAsk.PEOPLE,
        ),
        "approved": AuthorizeFacts(
            verb="bench.tell",
            call="c",
            in_scope=True,
            depth=0,
            verb_calls=0,
            cap_verb_calls=9,
            may_ask=MayAsk.PEOPLE,
            approval="a",
            by="ada",
        ),
    }
    assert catalog.verbs["bench.tell"].spec.effect is VerbEffect.SEND
    found = dict[str, float]()
    for name, one in facts.items():
        inputs, took = (
            AuthorizeInputs(args={"to": "ada", "text": "tea"}, catalog=catalog),
            list[float](),
        )
        for _ in range(RULED):
            began = time.perf_counter_ns()
            decide_authorize(one, inputs, catalog.policy)
            took.append((time.perf_counter_ns() - began) / 1000)
        took.sort()
        found[name] = took[len(took) * 99 // 100]
    return found


def _started(home: Path) -> tuple[dict[str, Any], dict[str, float]]:
    said = subprocess.run(
        [sys.executable, "-m", "bench.approvals", "again", str(home)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    start, ruled = (json.loads(line) for line in said.splitlines())
    return start, ruled


def _timed(home: Path) -> dict[str, float]:
    return json.loads(
        subprocess.run(
            [sys.executable, "-m", "bench.approvals", "turns", str(home)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    )


def _beside_rows(rounds: list[tuple[float, ...]]) -> list[list[str]]:
    words = (f"beside {COUNT:,} that wait", f"beside {COUNT:,} that are over", "on an empty folder")
    rows = [
        [f"a turn that needs no yes {where}, processor's time", f"{spread(list(took), 2)} ms"]
        for where, took in zip(words, zip(*rounds, strict=True), strict=True)
    ]
    for where, place in ((words[1], 1), (words[2], 2)):
        ratios = sorted(one[0] / one[place] for one in rounds)
        quarter = len(ratios) // 4
        told = (
            f"{statistics.median(ratios):.3f} (half of them "
            f"{ratios[quarter]:.3f}–{ratios[-1 - quarter]:.3f})"
        )
        rows.append([f"{words[0]} by {where}, {len(rounds)} rounds (at most 1.05)", told])
    return rows


def main() -> None:
    """Fill a folder of its own, start on it and on an empty one, and print."""
    with tempfile.TemporaryDirectory() as folder:
        full, over, empty, turns = (
            Path(folder, name) for name in ("full", "over", "empty", "turns")
        )
        for home in (full, over, empty, turns):
            (home / "workflows").mkdir(parents=True)
            for template in ("tell", "note"):
                (home / "workflows" / f"{template}.yaml").write_text(
                    TEMPLATE.format(template), encoding="utf-8"
                )
        took = _timed(turns)
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "bench.approvals", "fill", str(full), str(COUNT), "tell"],
            check=True,
        )
        filled = time.perf_counter() - began
        subprocess.run(
            [sys.executable, "-m", "bench.approvals", "fill", str(over), str(COUNT), "note"],
            check=True,
        )
        (start, ruled), (bare, _) = _started(full), _started(empty)
        rounds = _beside(full, over, empty)
    more = start["mb"] - bare["mb"]
    rows = [
        [f"proposing {COUNT:,} workflows, {AT_ONCE} conversations at once", f"{filled:.0f} s"],
        [
            "a start on them, until the first fifty are listed (at most 5 s)",
            f"{start['ready_s']:.2f} s",
        ],
        ["the same on an empty folder", f"{bare['ready_s']:.2f} s"],
        ["resident memory above that of the empty one (at most 50 MB)", f"{more:.1f} MB"],
        [
            "rule `authorize`, 99 of 100 calls that need a yes (at most 200 µs)",
            f"{ruled['asks']:.0f} µs",
        ],
        ["the same of calls that have it", f"{ruled['approved']:.0f} µs"],
        [
            "a turn with one step that nobody is asked about, processor's time, median",
            f"{took['note']:.2f} ms",
        ],
        [
            "the same turn where somebody is asked, and says yes",
            f"{took['tell']:.2f} ms ({took['tell'] / took['note']:.2f} times)",
        ],
    ]
    rows += _beside_rows(rounds)
    print(table(["", ""], rows))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    match sys.argv[1:]:
        case ["fill", home, count, template]:
            asyncio.run(_fill(Path(home), int(count), template))
        case ["turns", home]:
            asyncio.run(_turns(Path(home)))
        case ["again", home]:
            asyncio.run(_again(Path(home)))
        case ["stepped", home]:
            asyncio.run(_stepped(Path(home)))
        case ["beside", full, over, empty]:
            print(table(["", ""], _beside_rows(_beside(Path(full), Path(over), Path(empty)))))
        case _:
            main()
