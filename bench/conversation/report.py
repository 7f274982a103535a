"""The part of docs/benchmarks.md about conversation, from the figures of one run. Nothing here is
measured.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.page import Target, spread, table

Figures = dict[str, Any]
NAMES = {
    "ordain": "Planner turn, seven steps",
    "first-message": "Chat turn, first of its session",
    "chat": "Chat turn, history full",
}
AT_ONCE = (1, 16, 64)


def _cpu_ms(cell: Figures) -> float:
    return cell["cpu_s"] / cell["turns"] * 1000


def _cpu(figures: Figures, system: str, at_once: int) -> list[float]:
    return [_cpu_ms(cell) for cell in figures["cells"][f"{system}/{at_once}"]]


def _over_planner(figures: Figures, system: str, at_once: int) -> list[float]:
    """CPU per turn over that of the planner turn, round by round."""
    return [
        a / b
        for a, b in zip(
            _cpu(figures, system, at_once), _cpu(figures, "ordain", at_once), strict=True
        )
    ]


def _sessions(figures: Figures) -> list[Figures]:
    return [*figures["history"]["sessions"], figures["history"]["longest"]]


def _same(figures: Figures, end: int) -> list[float]:
    """Late turns over the early ones of the same session."""
    return [
        each["late"][str(end)]["ms"] / each["early_ms"]
        for each in _sessions(figures)
        if str(end) in each["late"]
    ]


def _beside(figures: Figures, end: int) -> list[float]:
    """Late turns over early ones that were made in the same moments."""
    return [
        found["ms"] / found["beside_ms"]
        for each in _sessions(figures)
        if (found := each["late"].get(str(end))) is not None
    ]


def _deciding_p99(figures: Figures) -> tuple[float, str]:
    decided = figures["nudges"]["decided"]
    worst = max(decided, key=lambda kind: decided[kind]["all"]["p99"])
    return decided[worst]["all"]["p99"], worst


def _served(figures: Figures, way: str) -> float:
    """Per cent of a core."""
    return figures["served"][way]["idle_share_of_a_core"] * 100


def _idle(figures: Figures) -> list[float]:
    return figures["readers"]["idle"]["watched"]


def targets(figures: Figures) -> list[Target]:
    """Every target of the conversation with what this run says of it."""
    short = figures["history"]["short"]
    same, beside = _same(figures, short), _beside(figures, short)
    slowest, kind = _deciding_p99(figures)
    idle, crowds = _idle(figures), figures["crowd"]
    bad = {end: count for each in crowds for end, count in each["ends"].items() if end != "ok"}
    return [
        Target(
            words=(
                f"CPU of session turns {short - 19:,}–{short:,} at most 1.2 times that of "
                "turns 11–30"
            ),
            measured=(
                f"{spread(beside, 2)} times, in the same moments; {spread(same, 2)} times those "
                "of the same session minutes before"
            ),
            met=median(beside) <= 1.2,
            missed=(
                "SQLite's own steps per turn, which nothing else on the machine changes, are "
                f"{_steps(figures):.2f} times those of a young session; "
                "what is above is Python's work."
            ),
        ),
        Target(
            words=f"{figures['served']['streams']} idle streams under 10 % of a core",
            measured=(
                f"server: SSE {_served(figures, 'sse'):.2f} %, WebSocket "
                f"{_served(figures, 'websocket'):.2f} %; in process {median(idle) * 100:.2f} %"
            ),
            met=max(_served(figures, "sse"), _served(figures, "websocket"), median(idle) * 100)
            < 10,
            missed="Each reader is woken although nothing is there for it.",
        ),
        Target(
            words=(
                f"Deciding about a message in under 1 ms of CPU with {figures['nudges']['open']} "
                "open threads, 99 of 100 times"
            ),
            measured=f"{slowest:.2f} ms at worst ({kind})",
            met=slowest < 1,
            missed=(
                "The parts are below: reading the session, the wording's features and the rule, "
                "the consequence."
            ),
        ),
        Target(
            words=f"{crowds[0]['sessions']:,} sessions at once, one turn each, without an error",
            measured=(
                f"{spread([each['cpu_s'] for each in crowds])} s CPU, "
                f"{spread([each['wall_s'] for each in crowds])} s"
            ),
            met=not bad and not any(each["unsettled"] for each in crowds),
            missed=f"Ends other than an answer: {bad}.",
        ),
    ]


def _steps(figures: Figures) -> float:
    young, old = figures["history"]["steps"]
    return old / young


def section(figures: Figures) -> str:
    """The section of the page."""
    parts = [
        "## Conversation",
        (
            "Messages in through `Runtime.receive`, answers out through `Conversation.answer`, in "
            "process, SQLite in a folder, the scripted model, "
            "mode brain on the direct path: a `turn` run with a child run of `chat_general`. "
            "History is full from the twentieth turn on: 24 to 40 "
            "entries whole, and every eighth turn older ones are summed up by a third run. The "
            "planner turn above is measured beside it, in rounds as "
            f"above ({figures['rounds']})."
        ),
        _turn_table(figures),
        _stored(figures),
        "### Where a chat turn's CPU goes",
        _phases(figures),
        "### Long sessions",
        _history(figures),
        "### Nudges and decisions",
        _nudges(figures),
        "### Streams",
        _streams(figures),
        "### Many sessions",
        _crowd(figures),
    ]
    return "\n\n".join(parts)


def _turn_table(figures: Figures) -> str:
    rows: list[list[str]] = []
    for at_once in AT_ONCE:
        for system, name in NAMES.items():
            cells = figures["cells"][f"{system}/{at_once}"]
            speed = median(cell["turns"] / cell["wall_s"] for cell in cells)
            commits = median(cell["counted"]["commits"] / cell["turns"] for cell in cells)
            ratio = median(_over_planner(figures, system, at_once))
            cpu = spread(_cpu(figures, system, at_once), 2)
            rows.append(
                [name, str(at_once), f"{speed:,.0f}", cpu, f"{ratio:.2f}", f"{commits:.1f}"]
            )
    heading = [
        "",
        "at once",
        "turns/s",
        "CPU ms per turn",
        "times the planner turn's CPU",
        "commits per turn",
    ]
    return (
        f"{table(heading, rows)}\n\n"
        "A chat turn asks its model once, and costs about as much as a planner turn that asks "
        "four times and calls three "
        "tools: it is two runs, each opened, checked and ended with a header of its own, the "
        "first of which waits for the second; it is received and decided in a transaction of its "
        "own, and it writes the transcript beside the journal."
    )


def _stored(figures: Figures) -> str:
    rows: list[list[str]] = []
    for system in ("first-message", "chat"):
        kept = figures["stored"][system]
        numbers = [
            kept[name]
            for name in (
                "said_bytes",
                "records_bytes",
                "transcript_bytes",
                "decision_bytes",
                "file_bytes",
            )
        ]
        rows.append(
            [
                NAMES[system],
                f"{kept['runs']:.1f}",
                f"{kept['records']:.1f}",
                *(f"{number:,.0f}" for number in numbers),
            ]
        )
    heading = [
        "",
        "runs",
        "records",
        "said",
        "records, bytes",
        "transcript without decision",
        "attach decision",
        "file with indexes",
    ]
    largest = ", ".join(
        f"{row['kind']} {row['bytes']:.0f} B" for row in figures["stored"]["chat"]["kinds"][:6]
    )
    return (
        f"What a turn leaves, per turn; bytes:\n\n{table(heading, rows)}\n\n"
        f"Largest records of a turn with a full history: {largest}."
    )


def _phases(figures: Figures) -> str:
    names = list(
        dict.fromkeys(
            name
            for system in ("chat", "first-message")
            for name in figures["phases"][system]["phases"]
        )
    )
    names.sort(
        key=lambda name: (
            name == "everything else",
            -figures["phases"]["chat"]["phases"].get(name, {"us": 0})["us"],
        )
    )
    rows: list[list[str]] = []
    for name in names:
        row = [name]
        for system in ("first-message", "chat"):
            found = figures["phases"][system]
            phase = found["phases"].get(name, {"us": 0, "calls": 0})
            row += [f"{phase['us']:.0f}", f"{phase['us'] / found['us_per_turn'] * 100:.0f} %"]
        rows.append(
            [*row, f"{figures['phases']['chat']['phases'].get(name, {'calls': 0})['calls']:.1f}"]
        )
    totals = ", ".join(
        f"{NAMES[system].lower()} {figures['phases'][system]['us_per_turn']:.0f} µs"
        for system in ("first-message", "chat")
    )
    return (
        f"As above, at {figures['phases']['chat']['concurrency']} at once: {totals}. `attach` "
        "reads the session and decides, inside the write "
        "transaction; `transcript` reads histories and answers.\n\n"
        + table(["", "first message, µs", "share", "history full, µs", "share", "calls"], rows)
    )


def _history(figures: Figures) -> str:
    history = figures["history"]
    collected = history["collected"]
    rows: list[list[str]] = []
    for end in (history["short"], history["long"]):
        late = median(
            each["late"][str(end)]["ms"] for each in _sessions(figures) if str(end) in each["late"]
        )
        rows.append(
            [
                f"{end - 19:,}–{end:,}",
                f"{late:.2f}",
                spread(_same(figures, end), 2),
                spread(_beside(figures, end), 2),
            ]
        )
    return (
        f"Three sessions in one process on one database that ends with {history['entries']:,} "
        "transcript entries. A session's turns 11–30 took "
        f"{spread([each['early_ms'] for each in _sessions(figures)], 2)} ms of CPU each. Late "
        "turns are compared with them, and, because the machine is "
        "shared and its speed changes between the two, with turns 11–30 of a session in a young "
        "database, made alternately with them. SQLite's virtual machine makes "
        f"{history['steps'][1]:,} steps for a turn after the longest session, "
        f"{history['steps'][0]:,} for one at the beginning: {_steps(figures):.2f} times.\n\n"
        f"Not in the table: {collected['count']} full garbage collections of Python's in all "
        "these turns, "
        f"{collected['ms'] / max(1, collected['count']):.0f} ms each, "
        f"{collected['ms'] / collected['of_ms'] * 100:.1f} % of the CPU; the turn in which one "
        "falls waits for it. And the look for commits of other processes, ten times a second "
        "while something is written: "
        f"{history['look_us']:.0f} µs with {history['runs']:,} runs in the database.\n\n"
        + table(
            [
                "Turns",
                "CPU ms per turn",
                "times turns 11–30 of the same session",
                "times turns 11–30 made alternately",
            ],
            rows,
        )
    )


def _nudges(figures: Figures) -> str:
    nudges = figures["nudges"]
    said = nudges["latency"]
    rows: list[list[str]] = []
    for kind, parts in nudges["decided"].items():
        named = [parts[name] for name in ("read", "facts_and_rule", "consequence", "all", "wall")]
        rows.append(
            [
                kind,
                *(f"{took['p50']:.2f} / {took['p99']:.2f}" for took in named),
                f"{parts['all']['max']:.1f}",
            ]
        )
    return (
        "While a turn waits for its model, “what is the status?” is answered in "
        f"{said['nudge_ms']['p50']:.1f} ms (99 of 100: "
        f"{said['nudge_ms']['p99']:.1f}), an empty chat turn beside it in "
        f"{said['empty_ms']['p50']:.1f} ms ({said['empty_ms']['p99']:.1f}): "
        f"{said['ratio']['p50']:.2f} times; about an agent's turn "
        f"{said['agent_ratio']['p50']:.2f} times ({nudges['pairs']} pairs, by the clock).\n\n"
        f"Deciding about a message in a session with {nudges['open']} turns at work, inside the "
        "write transaction: ms of CPU, median / 99 of 100, "
        "and by the clock. `request` is decided as `session_busy` there; `longest` has 32,000 "
        "characters. A longest time far above the others is the "
        "collector of garbage.\n\n"
        + table(
            [
                "",
                "read the session",
                "features and rule",
                "consequence",
                "all",
                "by the clock",
                "longest",
            ],
            rows,
        )
    )


def _streams(figures: Figures) -> str:
    readers = figures["readers"]
    idle = readers["idle"]
    rows = [
        [str(row["followers"]), f"{row['us_per_piece']:.0f}", f"{row['more_us']:.0f}"]
        for row in readers["following"]
    ]
    alone = spread([share * 100 for share in idle["alone"]], 2)
    return (
        f"{idle['readers']} readers, each of a session of its own, over {idle['seconds']:.0f} s "
        "in which nothing happens: "
        f"{spread([share * 100 for share in idle['watched']], 2)} % of a core; the same process "
        f"without them, in turn: {alone} %. Both are what looks "
        "ten times a second for commits of other processes.\n\n"
        f"One turn whose model says {readers['pieces']:,} pieces, followed by so many readers of "
        "its session, in process; without a reader a piece costs what the model's side of it "
        "costs:\n\n"
        + table(["Readers", "CPU µs per piece", "of it for the readers"], rows)
        + "\n\n"
        "`ordain serve` as a process of its own (`bench/streams.py`), "
        f"{figures['served']['seconds']:.0f} s in which nothing happens, then turns "
        "that all clients hear, each with its header, text and reply:\n\n"
        + table(["Clients", "% of a core, idle", "CPU ms per turn"], _over_http(figures))
    )


def _over_http(figures: Figures) -> list[list[str]]:
    served = figures["served"]
    rows = [["none", f"{served['alone_share_of_a_core'] * 100:.2f}", "–"]]
    for way, name in (
        ("one_sse", "1 over SSE"),
        ("sse", f"{served['streams']} over SSE"),
        ("websocket", f"{served['streams']} over WebSocket"),
    ):
        rows.append(
            [
                name,
                f"{_served(figures, way):.2f}",
                f"{served[way]['cpu_ms_per_turn_heard_by_all']:.0f}",
            ]
        )
    return rows


def _crowd(figures: Figures) -> str:
    crowds = figures["crowd"]
    each = median(crowd["cpu_s"] / crowd["sessions"] * 1000 for crowd in crowds)
    return (
        f"{crowds[0]['sessions']:,} sessions send one message in the same moment, under the "
        "shipped policy (`max_accepted` "
        f"{crowds[0]['max_accepted']:,}, `max_running` {crowds[0]['max_running']:,}): all "
        "answered after "
        f"{spread([crowd['wall_s'] for crowd in crowds])} s, "
        f"{spread([crowd['cpu_s'] for crowd in crowds])} s of CPU, {each:.2f} ms each; the last "
        "message was acknowledged after "
        f"{spread([crowd['acknowledged_s'] for crowd in crowds], 2)} s. Largest memory of the "
        "process: "
        f"{max(crowd['memory_mb'] for crowd in crowds):.0f} MB."
    )
