"""How fast a question about the state is answered while a turn runs, and what deciding about a
message takes with 16 threads open.

``python -m bench.conversation.nudges HOME PAIRS``. Latency: pairs of an empty turn (a first message
that the model answers at once) and a nudge in a session whose turn waits for its model, in turn.
Deciding: everything between reading the session and the one consequence, inside the write
transaction, since nobody else can write meanwhile: CPU of that thread by part, and ``wall`` for the
whole, which counts in what else the machine did.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench import work
from bench.conversation.talk import HOLD, Talk, talking
from ordain.errors import Refused
from ordain.ports.shared import SessionState
from ordain.runtime import conversation
from ordain.runtime.consequences import Consequence, Consequences
from ordain.store import shared_reads

OPEN = 16
WORDINGS = {
    "nudge": (
        "status?",
        "how far are you?",
        "any news yet",
        "are you still working on it?",
        "what is the status of the letter?",
        "ETA?",
    ),
    "filler": ("thanks!", "ok", "great, thank you", "👍", "cool", "alright then"),
    "request": (
        (
            "Please find out which depot order A-2291 leaves from and write me two sentences "
            "for the "
            "customer."
        ),
        "Which trains go from Lyon to Dijon on a Saturday morning?",
        "könntest du mir bitte eine Liste aller Aufträge dieser Woche machen?",
        "And what does the tail lift cost per hour, including the driver?",
    ),
    "longest": (
        (
            "The invoice of the third of May names twelve crates of glassware and a tail lift. "
            * 400
        )[:32_000],
    ),
}
AGENT = [
    {
        "thought": "look",
        "finish": False,
        "action": {"tool_id": "math.evaluate", "input": {"expression": "2 + 2"}},
        "final_answer": None,
    }
]


def _at(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "p50": median(values),
        "p99": _at(values, 0.99),
        "max": max(values),
        "count": len(values),
    }


# --- latency --------------------------------------------------------------------------------------


async def _ms(talk: Talk, session: str, text: str, expected: str) -> float:
    began = time.perf_counter_ns()
    said = await talk.say(session, text)
    took = (time.perf_counter_ns() - began) / 1e6
    if said.attached != expected or said.reply is None or not said.reply.ok:
        raise AssertionError(f"not answered: {said}")
    return took


async def _latency(talk: Talk, pairs: int) -> dict[str, Any]:
    brain = await talk.send("brain", f"{HOLD} Which depot does order A-1041 leave from?")
    agent = await talk.send(
        "agent", f"{HOLD} Work out the weight of order A-1041, please.", mode="agent"
    )
    await talk.held(2)
    empty, nudged, nudged_agent = list[float](), list[float](), list[float]()
    for number in range(pairs + 10):
        took = [
            await _ms(talk, f"empty-{number}", talk.question(), "new_request"),
            await _ms(talk, "brain", "what is the status?", "status_nudge"),
            await _ms(talk, "agent", "how far are you?", "status_nudge"),
        ]
        if number >= 10:
            for into, value in zip((empty, nudged, nudged_agent), took, strict=True):
                into.append(value)
    if talk.gate.waiting != 2:
        raise AssertionError("the turns that were asked about have not waited")
    talk.gate.open.set()
    for sent in (brain, agent):
        await talk.answer(sent)
    talk.gate.open.clear()
    return {
        "empty_ms": _spread(empty),
        "nudge_ms": _spread(nudged),
        "agent_nudge_ms": _spread(nudged_agent),
        "ratio": _spread([a / b for a, b in zip(nudged, empty, strict=True)]),
        "agent_ratio": _spread([a / b for a, b in zip(nudged_agent, empty, strict=True)]),
    }


# --- deciding -------------------------------------------------------------------------------------


class _Watch:
    """Times the parts of a decision: this process's own copies of the functions are wrapped."""

    def __init__(self) -> None:
        self.now: dict[str, float] = {}
        self._began = 0
        self.wall = 0.0
        self.state: SessionState | None = None

    def put_on(self) -> None:
        read = shared_reads.read_state

        def read_state(*given: Any) -> SessionState:
            self.now.clear()
            self._began = time.perf_counter_ns()
            self.state = state = self._timed("read", read, *given)
            return state

        shared_reads.read_state = read_state
        watch = self

        class Watched(Consequences):
            def decide(self, suggested: Any = None) -> Any:
                return watch._timed("facts_and_rule", super().decide, suggested)

            def of(self, facts: Any, decision: Any) -> Consequence:
                return watch._timed("consequence", super().of, facts, decision)

        conversation.Consequences = Watched  # type: ignore[misc] - this process only measures

    def _timed(self, name: str, function: Any, *given: Any) -> Any:
        began = time.thread_time_ns()
        try:
            return function(*given)
        finally:
            self.now[name] = (time.thread_time_ns() - began) / 1e6
            self.wall = (time.perf_counter_ns() - self._began) / 1e6


async def _decided(talk: Talk, watch: _Watch, rounds: int) -> dict[str, Any]:
    held = [
        await talk.send(
            "many", f"{HOLD} Please write letter number {number} to the depot in Dijon."
        )
        for number in range(OPEN)
    ]
    await talk.held(OPEN)
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        for kind, texts in WORDINGS.items():
            text = texts[number % len(texts)]
            try:
                await talk.answer(await talk.send("many", text))
            except Refused as refused:
                # the session has as many open turns as it may: decided like any other message, and
                # not accepted
                if refused.code != "session_busy":
                    raise
            parts = {**watch.now, "all": sum(watch.now.values()), "wall": watch.wall}
            for name, took in parts.items():
                found.setdefault(kind, {}).setdefault(name, []).append(took)
    state = watch.state
    assert state is not None
    if state.open != OPEN:
        raise AssertionError(f"{state.open} turns were open")
    talk.gate.open.set()
    for sent in held:
        await talk.answer(sent)
    return {
        kind: {name: _spread(values) for name, values in parts.items()}
        for kind, parts in found.items()
    }


async def _main(home: Path, pairs: int) -> dict[str, Any]:
    watch = _Watch()
    watch.put_on()
    finish = {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": work.ANSWER, "structured": {}},
    }
    async with talking(
        home, planner=[*AGENT * 3, finish], session={"max_active": OPEN, "max_open": OPEN}
    ) as talk:
        return {
            "pairs": pairs,
            "latency": await _latency(talk, pairs),
            "open": OPEN,
            "decided": await _decided(talk, watch, 2 * pairs),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2])))))
