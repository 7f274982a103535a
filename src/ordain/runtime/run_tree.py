"""The runs below a run as a tree: what was handed to whom, how far each came, with which verdict,
and what it cost. Made from journals; reads only.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode
from ordain.journal.folds import ending
from ordain.journal.open_joins import joins
from ordain.journal.records import Started
from ordain.ports.store import StoredRun
from ordain.rules.header import render_header
from ordain.runtime.brief import read_brief
from ordain.runtime.headers import readable
from ordain.runtime.services import Services

RUNS_TOLD = 200


class RunBelow(Struct, frozen=True, kw_only=True):
    """A run in the tree, ``depth`` below its top. Verb: the call that it carries out, "" of none.
    Its cost is with all that is below it; money in micro-dollars.
    """

    run: str
    depth: int
    flow: str
    verb: str = ""
    status: str = ""
    reason: str = ""
    verdict: str = ""
    model_calls: int = 0
    verb_calls: int = 0
    tokens: int = 0
    usd_micros: int = 0
    duration_ms: int = 0


class RunTree(Struct, frozen=True, kw_only=True):
    """What is below a run, each before what is below it, in the order of opening; ``whole``:
    nothing was left out, and all of it can be read.
    """

    runs: tuple[RunBelow, ...]
    whole: bool


async def run_tree(services: Services, top: StoredRun, *, most: int = RUNS_TOLD) -> RunTree:
    """The runs below one, so many at most."""
    told: list[RunBelow] = []
    whole, rest = True, [(child, 1) for child in reversed(list(_children(top)))]
    while rest:
        if len(told) >= most:
            return RunTree(runs=tuple(told), whole=False)
        run, depth = rest.pop()
        found = (await services.store.load((run,))).get(run)
        if found is None:
            continue
        if isinstance(found, JournalCorrupt):
            whole = False
            told.append(RunBelow(run=run, depth=depth, flow="", reason="journal_corrupt"))
            continue
        told.append(_told(services, found, depth))
        rest += [(child, depth + 1) for child in reversed(list(_children(found)))]
    return RunTree(runs=tuple(told), whole=whole)


def _children(stored: StoredRun) -> Iterator[str]:
    """The ids of all that a run has opened, as far as its records say."""
    for join in joins(readable(stored.records), stored.id):
        yield from join.children


def _told(services: Services, stored: StoredRun, depth: int) -> RunBelow:
    facts, end = services.headers.own(stored), ending(stored.records)
    brief = read_brief(render_header(facts))
    return RunBelow(
        run=stored.id,
        depth=depth,
        flow=stored.flow,
        verb=_verb(stored),
        status=str(stored.status),
        reason=stored.reason,
        verdict="" if end is None else end.verdict,
        model_calls=facts.model_calls,
        verb_calls=facts.verb_calls,
        tokens=facts.tokens_in + facts.tokens_out if brief is None or brief.asked else 0,
        usd_micros=facts.usd_micros,
        duration_ms=facts.duration_ms,
    )


def _verb(stored: StoredRun) -> str:
    first = readable(stored.records[:1])
    body = decode(first[0]) if first and first[0].body is not None else None
    return body.label.verb if isinstance(body, Started) and body.label is not None else ""
