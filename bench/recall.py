"""What recall costs over many notes: ``python -m bench.recall [NOTES]``, printed and not written.
Needs the extra ``recall``.

Time is CPU time of the whole process, which a busy machine does not change much, and wall time
beside it. Each question goes through the library as a verb's would: embedding, the reading
transaction, the comparison with every vector, and the fragments.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

from ordain.contracts.verbs import Trust
from ordain.engines.clock import SystemClock
from ordain.models.embedding import StaticEmbedder
from ordain.ports.library import ItemKind, LibrarySearch, NewItem, Section
from ordain.store.library import SqliteLibrary
from ordain.store.sqlite import SqliteStore, StoreOptions

NOTES = 100_000
PER_ITEM = 50
QUESTIONS = 200
_WORDS = [
    "garden",
    "boiler",
    "invoice",
    "meeting",
    "passport",
    "tea",
    "bicycle",
    "server",
    "contract",
    "museum",
    "holiday",
    "doctor",
    "budget",
    "release",
    "customer",
    "flight",
    "recipe",
    "tent",
    "insurance",
    "piano",
    "storm",
    "harbour",
    "lawyer",
    "printer",
    "keyboard",
    "salad",
    "mountain",
    "ticket",
    "heating",
    "window",
    "orchard",
    "violin",
    "password",
    "battery",
    "novel",
    "teacher",
    "salary",
    "shadow",
    "market",
    "engine",
    "bridge",
    "letter",
    "summer",
    "winter",
    "morning",
    "evening",
    "river",
    "forest",
    "bakery",
]


_VOCABULARY = [*_WORDS, *(f"{one}{other}" for one in _WORDS for other in _WORDS)]
_OFTEN = [1 / (rank + 1) for rank in range(len(_VOCABULARY))]
"""As in a language: the second word half as often as the first, and so on."""


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(_VOCABULARY, _OFTEN, k=chance.randint(8, 30))).capitalize() + "."


async def _filled(library: SqliteLibrary, notes: int) -> float:
    """Add the notes, 50 to an item, and say how long that took."""
    chance = random.Random(1)
    began = time.perf_counter()
    for _ in range(notes // PER_ITEM):
        sections = tuple(Section(text=_text(chance)) for _ in range(PER_ITEM))
        await library.add(
            NewItem(workspace="w", kind=ItemKind.DOCUMENT, sections=sections, trust=Trust.OWN)
        )
    return time.perf_counter() - began


async def _asked(library: SqliteLibrary, question: str) -> tuple[float, float]:
    """(CPU, wall) of one question in milliseconds."""
    search = LibrarySearch(workspace="w", query=question, limit=8, kinds=tuple(ItemKind))
    cpu, wall = time.process_time(), time.perf_counter()
    found = await library.search(search)
    assert found.fragments
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def _row(name: str, values: list[float]) -> dict[str, Any]:
    cuts = quantiles(values, n=100)
    return {"what": name, "p50": cuts[49], "p95": cuts[94], "max": max(values)}


async def measured(folder: Path, notes: int) -> list[dict[str, Any]]:
    """Every figure, in milliseconds."""
    store = SqliteStore(folder, StoreOptions(holder="bench"))
    embedder = StaticEmbedder()
    library = SqliteLibrary(store, SystemClock(), lambda: embedder)
    took = await _filled(library, notes)
    chance = random.Random(2)
    cold = SqliteLibrary(store, SystemClock(), lambda: embedder)
    first = await _asked(cold, _text(chance))
    rows: list[dict[str, Any]] = [
        {"what": f"adding {notes} passages, ms each", "p50": took * 1000 / notes},
        {"what": "first question after a start: CPU", "p50": first[0]},
        {"what": "first question after a start: wall", "p50": first[1]},
    ]
    dense = [await _asked(cold, _text(chance)[:60]) for _ in range(QUESTIONS)]
    rows += [
        _row("by meaning: CPU", [one[0] for one in dense]),
        _row("by meaning: wall", [one[1] for one in dense]),
    ]
    quoted = [
        await _asked(cold, f'"{chance.choice(_WORDS)} {chance.choice(_WORDS)}"')
        for _ in range(QUESTIONS)
    ]
    rows += [
        _row("in quotes: CPU", [one[0] for one in quoted]),
        _row("in quotes: wall", [one[1] for one in quoted]),
    ]
    worded = SqliteLibrary(store, SystemClock(), lambda: None)
    words = [
        await _asked(worded, " ".join(chance.choices(_VOCABULARY, _OFTEN, k=8)))
        for _ in range(QUESTIONS)
    ]
    rows += [
        _row("by words alone: CPU", [one[0] for one in words]),
        _row("by words alone: wall", [one[1] for one in words]),
    ]
    after: list[tuple[float, float]] = []
    for _ in range(20):
        await library.add(
            NewItem(
                workspace="w",
                kind=ItemKind.NOTE,
                sections=(Section(text=_text(chance)),),
                trust=Trust.OWN,
            )
        )
        after.append(await _asked(cold, _text(chance)[:60]))
    rows.append(_row("by meaning, just after a note was added: CPU", [one[0] for one in after]))
    for one in (library, cold, worded):
        one.close()
    store.close()
    return rows


def main() -> None:
    """Measure in a folder of its own and print."""
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    with tempfile.TemporaryDirectory() as folder:
        for row in asyncio.run(measured(Path(folder), notes)):
            print(
                f"{row['what']:<50}"
                + "  ".join(
                    f"{name} {value:8.2f} ms" for name, value in row.items() if name != "what"
                )
            )


if __name__ == "__main__":
    main()
