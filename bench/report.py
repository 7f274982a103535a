"""docs/benchmarks.md from the figures of one run. Nothing here is measured, and no figure stands
here.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from textwrap import wrap
from typing import Any

from bench.conversation.report import section
from bench.conversation.report import targets as conversation_targets
from bench.faces import targets as faces_targets
from bench.page import Target, spread, table

Figures = dict[str, Any]
COLUMNS = 100
NAMES = {
    "floor": "Floor",
    "ordain": "Ordain",
    "langgraph": "LangGraph",
    "agents": "OpenAI Agents SDK",
    "pydantic-ai": "Pydantic AI",
}
KEEPS = {
    "floor": "a row per step",
    "ordain": "every decision, intent and observation, before anything depends on it",
    "langgraph": 'a checkpoint per superstep, durability "sync"',
    "agents": "nothing",
    "pydantic-ai": "nothing",
}
MODES = {"scripted": "In process", "http": "Over HTTP"}
YARDSTICK_MS = 18.8
"""CPU of LangGraph's turn at 64 concurrent on this page of 2026-11-24."""


def _turns_per_s(cell: Figures) -> float:
    return cell["turns"] / cell["wall_s"]


def _cpu_ms(cell: Figures) -> float:
    return cell["cpu_s"] / cell["turns"] * 1000


def _of(
    figures: Figures, mode: str, concurrency: int, system: str, figure: Callable[[Figures], float]
) -> list[float]:
    return [figure(cell) for cell in figures["cells"][f"{mode}/{concurrency}/{system}"]]


def _ratios(
    figures: Figures,
    mode: str,
    concurrency: int,
    pair: tuple[str, str],
    figure: Callable[[Figures], float],
) -> list[float]:
    """First over second, round by round."""
    one, other = (_of(figures, mode, concurrency, system, figure) for system in pair)
    return [a / b for a, b in zip(one, other, strict=True)]


IMPORTING = (
    "Most of it is importing: modules, the classes that they make, and what is made of the wire's "
    "contracts."
)


def targets(figures: Figures) -> list[Target]:
    """Every target with its ratio from this run."""
    steps = figures["turn"]["steps"]
    in_process = [turns * steps for turns in _of(figures, "scripted", 64, "ordain", _turns_per_s)]
    against = _ratios(figures, "scripted", 64, ("ordain", "langgraph"), _turns_per_s)
    over_floor = {
        each: _ratios(figures, "http", each, ("ordain", "floor"), _cpu_ms) for each in (1, 16)
    }
    journal = figures["journal"]["records_beyond_per_step"]
    last = [each["last"] for each in figures["resume"]]
    cpu_replayed = median([each["cpu_ms_per_turn"] for each in figures["replay"]["rounds"]])
    starts = {
        kind: [each["cpu_s"] for each in figures["start"][kind]] for kind in ("fresh", "used")
    }
    slower = max(starts.values(), key=median)
    prompts, said = (
        [each["cpu_s"] for each in figures["start"][kind]] for kind in ("prompt", "chat")
    )
    replays = [each["turns_per_s"] for each in figures["replay"]["shared"]]
    return [
        Target(
            words="In process at least 2,000 durable steps/s at 64 concurrent turns",
            measured=(
                f"{spread(in_process, 0)} steps/s, {median(in_process) / 2000:.2f} times the target"
            ),
            met=median(in_process) >= 2000,
            missed=_why_slow(figures, "scripted", 64, median(in_process) / 2000),
        ),
        Target(
            words="In process at least 10 times LangGraph's turns/s, 64 concurrent",
            measured=f"{spread(against)} times",
            met=median(against) >= 10,
            missed=_why_slow(figures, "scripted", 64, median(against) / 10),
        ),
        Target(
            words="Over HTTP at most 2 times the floor's CPU per turn at 16 concurrent turns",
            measured=f"{spread(over_floor[16], 2)} times",
            met=median(over_floor[16]) <= 2,
            missed=_why_slow(figures, "http", 16, 2 / median(over_floor[16])),
        ),
        Target(
            words="Over HTTP at most 3 times the floor's CPU per turn at 1 concurrent turn",
            measured=f"{spread(over_floor[1], 2)} times",
            met=median(over_floor[1]) <= 3,
            missed=_why_slow(figures, "http", 1, 3 / median(over_floor[1])),
        ),
        Target(
            words="Journal at most 1.5 kB per step beyond payloads",
            measured=f"{journal / 1000:.2f} kB, {journal / 1500:.2f} times the target",
            met=journal <= 1500,
            missed=_why_large(figures),
        ),
        Target(
            words=f"{figures['resumed_runs']:,} interrupted runs resumed in under 5 s",
            measured=f"{spread(last, 2)} s, {median(last) / 5:.2f} times the target",
            met=median(last) < 5,
            missed=(
                "Each run is read, checked and driven anew; reading less of a run than all its "
                "records would need snapshots."
            ),
        ),
        Target(
            words="At least 1,500 recorded seven-step turns replayed per second",
            measured=f"{spread(replays, 0)} turns/s, {median(replays) / 1500:.2f} times the target",
            met=median(replays) >= 1500,
            missed=(
                f"A turn takes {cpu_replayed:.2f} ms of CPU on one core: every prompt rendered, "
                "every digest checked, every rule applied anew."
            ),
        ),
        Target(
            words="`serve` up in 0.7 s of CPU",
            measured=(
                f"fresh folder {spread(starts['fresh'], 2)} s, used one "
                f"{spread(starts['used'], 2)} s, {median(slower) / 0.7:.2f} times the target"
            ),
            met=median(slower) <= 0.7,
            missed=IMPORTING,
        ),
        Target(
            words="`ordain chat` can be typed at after 0.6 s of CPU",
            measured=f"{spread(prompts, 2)} s, {median(prompts) / 0.6:.2f} times the target",
            met=median(prompts) <= 0.6,
            missed=IMPORTING,
        ),
        Target(
            words=(
                "`ordain chat` with one message, no server: 0.6 s of CPU from its beginning to "
                "its end"
            ),
            measured=f"{spread(said, 2)} s, {median(said) / 0.6:.2f} times the target",
            met=median(said) <= 0.6,
            missed=IMPORTING,
        ),
    ]


def _why_slow(figures: Figures, mode: str, concurrency: int, reached: float) -> str:
    """``reached`` is how much of the target was reached, below 1 where it was missed."""
    steps, phases = figures["turn"]["steps"], figures["phases"]["phases"]
    cpu = median(_of(figures, mode, concurrency, "ordain", _cpu_ms))
    wall = median(_of(figures, mode, concurrency, "ordain", _turns_per_s)) * steps
    largest = sorted(
        (name for name in phases if name != "everything else"), key=lambda name: -phases[name]["us"]
    )[:4]
    named = ", ".join(f"{name} ({phases[name]['us']:.0f} µs per turn)" for name in largest)
    return (
        f"A turn takes {cpu:.2f} ms of CPU {MODES[mode][0].lower()}{MODES[mode][1:]} at "
        f"{concurrency} concurrent, with which one core gives at "
        f"most {1000 / cpu * steps:,.0f} steps/s; {wall:,.0f} were reached, and the rest of the "
        "time went into waiting for storage (fsync "
        f"{median(figures['fsync_ms']):.2f} ms) and for other work on the machine. With "
        f"{cpu * reached:.2f} ms per turn, and the same share "
        f"of waiting, the target would be reached. The largest phases are {named}. One process "
        "drives a store, so that a second one would not help."
    )


def _why_large(figures: Figures) -> str:
    journal = figures["journal"]
    kinds = ", ".join(f"{row['kind']} {row['bytes']:.0f} B" for row in journal["kinds"][:4])
    saved = [
        journal[f"{name}_per_step"]
        for name in ("repeated_trace", "repeated_decisions", "repeated_facts")
    ]
    trace, again, within = saved
    left = journal["records_beyond_per_step"] - sum(saved)
    return (
        f"Largest per turn: {kinds}. Of a step's bytes, {trace:.0f} are the trace in `ended`, "
        "which repeats what the observations hold, "
        f"{again:.0f} are decisions made again on the same facts, and {within:.0f} are "
        "caps that stand in `started` already or outcomes that repeat their facts. "
        f"Without these a step would have {left / 1000:.2f} kB beyond payloads."
    )


ASKING = """
## Asking a model what a message means

Measured apart, by `python -m bench.asking HOME` on a busy machine: ten messages whose wording leaves them open, while a question is. With SmolLM2-135M behind lane `local`, on one thread, their answer comes after 780 ms (longest 1,210; in another run 710 and 2,530) instead of 17 (69) by wording alone. The model is given a prompt of about 1 kB and the session's threads, and at most 200 tokens to answer; after 3 s (`attach.timeout_seconds`) it is not waited for. It named no class with enough confidence, so each message was placed by its wording: a model of that size costs its delay and helps nobody. Wording and rule alone take 0.08 ms of CPU per message (99 of 100: 0.21; the labelled messages).

What wording alone and a model that reads well come to, over 623 labelled messages of somebody who had read no table (`python -m tests.labelled.judging`), with engine 9; one half was counted once, at the end. With engine 8 151 of 244 and 135 of 227 turns were stray by wording alone: what engine 9 reads beyond it helps the half that it was made with, and not the other:

| Half | Mode | Messages | False consents | False refusals or choices | Wrong stops | Stray turns |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| looked at | wording alone | 329 | 0 | 0 | 0 | 139 of 244 |
| looked at | oracle | 329 | 0 | 0 | 0 | 5 of 244 |
| looked at | always override | 329 | 0 | 0 | 0 | 60 of 244 |
| held out | wording alone | 294 | 0 | 0 | 1 | 135 of 227 |
| held out | oracle | 294 | 0 | 0 | 1 | 7 of 227 |
| held out | always override | 294 | 0 | 0 | 1 | 67 of 227 |

A turn is stray where a message that deserves none of its own opens one while something runs or is asked. Of 42 messages labelled consent 11 are whole ones; the others go back once.
"""
"""Measured apart, where there is a model: nothing of a run of the bench stands in it."""
TOGETHER = """
## Several models together

Measured apart; printed, and written here by hand. CPU per proposal of a model, all runs below included, beside that of work with one model in the same process, round by round. The target is 1.5 times at most.

| | CPU per proposal, ms | beside | CPU per proposal, ms | times as much |
| --- | ---: | --- | ---: | ---: |
| Round with five seats, chair and auditor (`python -m bench.council`) | 2.26 (1.68–2.96) | a plan of four proposals | 2.18 (2.05–2.69) | 0.94 (0.77–1.12) |
| Eight agents beside each other, and a synthesis (`python -m bench.fanout`) | 2.59 (2.40–2.73) | a turn in agent mode, two proposals | 4.67 (4.06–5.38) | 0.57 (0.50–0.63) |
| | | a turn, answered at once | 6.53 (5.69–7.63) | 0.41 (0.34–0.44) |

Five rounds each, of 96 councils and 96 plans, 16 side by side, and of 48 turns of each kind, 8 side by side; over a file, on two cores that much other work shared (load 8). An earlier run, with other work beside it as well, came to 0.91 ms
beside 0.80 (1.11 times, 1.07–1.13), and to 1.64 ms beside 2.91 and 4.03 (0.56 and 0.40 times). A plan is the hardest to compare with: it costs less per proposal than either turn.
"""
"""Measured apart, too."""


def rendered(figures: Figures) -> str:
    """The page."""
    machine, listed = (
        figures["machine"],
        [
            *targets(figures),
            *faces_targets(figures["faces"]),
            *conversation_targets(figures["conversation"]),
        ],
    )
    met = sum(target.met for target in listed)
    parts = [
        "# Benchmarks",
        "<!-- Written by bench/run; change bench/report.py, not this page. -->",
        (
            f"One run of `bench/run`: {met} of {len(listed)} targets met. All systems do the same "
            "scripted work side by side on the same "
            "machine, so the ratios say more than the absolute figures."
        ),
        _machine(figures, machine),
        "## Targets",
        table(
            ["Target", "Measured: median (lowest–highest)", ""],
            [
                [target.words, target.measured, "met" if target.met else "**missed**"]
                for target in listed
            ],
        ),
        _yardstick(figures),
        *_missed(listed),
        "## A turn",
        _work(figures),
    ]
    for mode, name in MODES.items():
        parts += [f"### {name}", _turn_table(figures, mode)]
    parts += [
        _notes(figures),
        "## Where Ordain's CPU goes",
        _phases(figures),
        "## Journal",
        _journal(figures),
        "## Resume and replay",
        _again(figures),
        section(figures["conversation"]),
        ASKING.strip(),
        TOGETHER.strip(),
    ]
    return "\n".join(line for part in parts for line in (*_in_columns(part), ""))


def _in_columns(part: str) -> list[str]:
    """A part's lines, its paragraphs in lines of at most 100 columns; a table's rows stay whole."""
    found: list[str] = []
    for line in part.split("\n"):
        whole = len(line) <= COLUMNS or line.startswith("|")
        found += [line] if whole else wrap(line, COLUMNS, break_on_hyphens=False)
    return found


def _yardstick(figures: Figures) -> str:
    """How fast this machine is beside the one that the absolute targets were set on, by work of which
    nothing is Ordain's.
    """
    now = median(_of(figures, "scripted", 64, "langgraph", _cpu_ms))
    return (
        "**Yardstick.** Targets in seconds, or per second, were set where LangGraph's turn in "
        f"process took {YARDSTICK_MS} ms of CPU; here it took {now:.1f}, {now / YARDSTICK_MS:.2f} "
        "times as much. The table above holds what was measured here to the targets as they are."
    )


def _missed(listed: list[Target]) -> list[str]:
    """Why, and what would reach it; targets with the same answer stand together."""
    answers: dict[str, list[str]] = {}
    for target in listed:
        if not target.met:
            answers.setdefault(target.missed, []).append(target.words)
    return [f"**Missed: {'; '.join(words)}.** {why}" for why, words in answers.items()]


def _machine(figures: Figures, machine: Figures) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"**Machine.** {machine['cores']} cores, {machine['processor']}, {machine['memory_gb']} "
        f"GB; {machine['system']}, Python "
        f"{machine['python']}, SQLite {machine['sqlite']}. Shared with other work: load "
        f"{spread(figures['load'])} before each round. "
        f"An fsync of 4 kB took {spread(figures['fsync_ms'], 2)} ms (median of 20, before each "
        "round); when Ordain began, "
        f"{figures['ordain_fsync_ms']['scripted']:.2f} in process and "
        f"{figures['ordain_fsync_ms']['http']:.2f} over HTTP: above 2 it commits in a thread of "
        "its own, "
        f"which costs more CPU. Versions: {versions}."
    )


def _work(figures: Figures) -> str:
    turn = figures["turn"]
    return (
        f"{turn['model_calls']} model calls and {turn['tool_calls']} calls of an `async` Python "
        "tool, each with an argument from the answer "
        f"before and a result of about 250 bytes: {turn['steps']} durable steps. The model is "
        "scripted, in the same process or behind an "
        "OpenAI-compatible server without latency in another one. Every system runs in a warm "
        "process of its own on asyncio's own loop and with "
        "the settings of the garbage collector that `ordain serve` has (`tune_collector`), with "
        "its database on the same disk; a round gives each the same work in an order that moves "
        f"on by one. Rounds: {figures['rounds']}; "
        "figures are medians of the rounds, ratios medians of the ratios within a round. CPU is "
        "user and system time of the measured "
        "process, threads included. Every answer is compared."
    )


def _turn_table(figures: Figures, mode: str) -> str:
    rows: list[list[str]] = []
    for concurrency in (1, 16, 64):
        for system, name in NAMES.items():
            speed = _of(figures, mode, concurrency, system, _turns_per_s)
            cpu = _of(figures, mode, concurrency, system, _cpu_ms)
            steps = (
                f"{median(speed) * figures['turn']['steps']:,.0f}"
                if system in {"ordain", "langgraph", "floor"}
                else "–"
            )
            ratio = median(_ratios(figures, mode, concurrency, (system, "floor"), _cpu_ms))
            faster = median(
                _ratios(figures, mode, concurrency, (system, "langgraph"), _turns_per_s)
            )
            rows.append(
                [
                    name,
                    str(concurrency),
                    f"{median(speed):,.0f}",
                    steps,
                    f"{faster:.1f}",
                    f"{median(cpu):.2f}",
                    f"{ratio:.2f}",
                ]
            )
    heading = [
        "",
        "concurrent",
        "turns/s",
        "durable steps/s",
        "times LangGraph's turns/s",
        "CPU ms per turn",
        "times the floor's CPU",
    ]
    return table(heading, rows)


def _notes(figures: Figures) -> str:
    kept = "; ".join(f"{NAMES[system]}: {what}" for system, what in KEEPS.items())
    in_process = median(_ratios(figures, "scripted", 64, ("ordain", "floor"), _cpu_ms))
    return (
        f"What each keeps of a turn: {kept}. The floor asks with `httpx2` and writes one row per "
        "step with `synchronous=FULL`. LangGraph is its "
        "prebuilt agent and asynchronous SQLite saver, with `synchronous=FULL`; over HTTP its "
        "model is the `openai` client, since LangChain's "
        "own wrapper is not among the pinned packages. The Agents SDK runs without session and "
        "tracing, Pydantic AI without a durable engine: "
        "their figures are what a turn costs before anything is kept.\n\n"
        "Read the ratios to the floor with care. Over HTTP they compare two clients as well: "
        "Ordain does not ask through `httpx2`'s client "
        "(`src/ordain/models/exchange.py` says why), and its steps at many concurrent turns share "
        "commits, where the floor's and LangGraph's do "
        "not. A ratio below 1 there does not mean that durability costs nothing: in process, "
        f"without any client, a turn takes {in_process:.1f} "
        "times the floor's CPU at 64 concurrent."
    )


def _phases(figures: Figures) -> str:
    found = figures["phases"]
    rows = [
        [
            name,
            f"{row['us']:.0f}",
            f"{row['us'] / found['us_per_turn'] * 100:.0f} %",
            f"{row['calls']:.1f}" if row["calls"] else "–",
        ]
        for name, row in found["phases"].items()
    ]
    return (
        f"One turn in process at {found['concurrency']} concurrent, clocks around each phase "
        "(`bench/phases.py`), measured once: "
        f"{found['us_per_turn']:.0f} µs of CPU. Time in a phase within another counts for the "
        "inner one. `write` takes "
        f"{found['write_wall_us']:.0f} µs of wall time per turn with its fsyncs.\n\n"
        + table(["", "µs per turn", "share", "calls"], rows)
    )


def _journal(figures: Figures) -> str:
    journal, stored = figures["journal"], figures["stored"]
    rows = [[row["kind"], f"{row['count']:.1f}", f"{row['bytes']:.0f}"] for row in journal["kinds"]]
    return (
        f"{journal['payload_per_turn']:,} bytes are said in a turn: the request, the model's "
        "answers, the tool's results. The records of a step "
        f"take {journal['records_per_step']:,.0f} bytes with their headings, "
        f"{journal['records_beyond_per_step']:,.0f} beyond what was said; "
        "the database file, with indexes, search tables and free space in pages, "
        f"{journal['file_per_step']:,.0f} and "
        f"{journal['file_beyond_per_step']:,.0f}. For comparison, file bytes per turn: "
        f"{', '.join(f'{NAMES[system]} {stored[system]:,.0f}' for system in ('ordain', 'langgraph', 'floor'))}.\n"
        "\n" + table(["Record", "per turn", "bytes per turn"], rows)
    )


def _again(figures: Figures) -> str:
    resume, replay = figures["resume"], figures["replay"]
    first, last, ended = (
        median([each[name] for each in resume]) for name in ("first", "last", "ended")
    )
    one = {name: median([each[name] for each in replay["rounds"]]) for name in replay["rounds"][0]}
    shared = {
        name: median([each[name] for each in replay["shared"]]) for name in replay["shared"][0]
    }
    return (
        f"**Resume.** A process with {figures['resumed_runs']:,} turns in the middle, each in its "
        "second tool call, is killed with SIGKILL. From "
        "the start of the next process (interpreter and imports included) the first interrupted "
        f"call is made again after {first:.2f} s, the last "
        f"run's after {last:.2f} s; all turns have ended after {ended:.2f} s.\n\n"
        f"**Replay.** {replay['runs']} recorded turns of {one['steps_per_turn']:.0f} steps, "
        f"{one['records_per_turn']:.0f} records and "
        f"{one['decisions_per_turn']:.0f} decisions each: {one['turns_per_s']:,.0f} turns/s on "
        f"one core, {one['decisions_per_s']:,.0f} decisions/s, "
        f"{one['cpu_ms_per_turn']:.2f} ms of CPU per turn, {one['reading_ms_per_turn']:.2f} ms of "
        "it reading the records. Every digest is checked, "
        "every fact computed, every rule applied and every prompt rendered again. `ordain replay "
        "--all` shares the runs among "
        f"{shared['jobs']:.0f} processes here: {shared['turns_per_s']:,.0f} turns/s, from "
        "beginning the processes on."
    )
