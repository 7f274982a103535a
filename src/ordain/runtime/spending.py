"""What models cost: the attempts of a span of days, by day, lane, model, agent, flow or session,
added up from the journal.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice

import msgspec
from msgspec import Struct

from ordain.errors import JournalCorrupt
from ordain.flows.kinds import Kinds
from ordain.journal.codec import decode
from ordain.journal.records import Record, Started
from ordain.journal.spending import ModelAttempt, Spending
from ordain.ports.spending import SpendingRun, SpendingSearch

PAGE_RUNS = 100
RUNS_MAX = 200_000
GROUPS_MAX = GROUPS_AT_ONCE = 1000
OTHERS = "(others)"


class By(StrEnum):
    """What attempts are grouped by."""

    DAY = "day"
    LANE = "lane"
    MODEL = "model"
    FLOW = "flow"
    SESSION = "session"
    AGENT = "agent"


@dataclass(slots=True)
class Sum:
    """Attempts added up; ``estimated`` of them had no token counts of the provider's, ``models`` is
    who answered.
    """

    attempts: int = 0
    failed: int = 0
    estimated: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tokens: int = 0
    usd_micros: int = 0
    failures: dict[str, int] = field(default_factory=dict[str, int])
    models: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, attempt: ModelAttempt) -> None:
        """One more."""
        self.attempts += 1
        if attempt.code:
            self.failed += 1
            self.failures[attempt.code] = self.failures.get(attempt.code, 0) + 1
        elif attempt.model:
            self.models[f"{attempt.provider}: {attempt.model}"] = None
        self.estimated += attempt.estimated
        self.input_tokens += attempt.input_tokens
        self.output_tokens += attempt.output_tokens
        self.tokens += attempt.tokens
        self.usd_micros += attempt.usd_micros

    def merge(self, more: Sum) -> None:
        """All that another sum counts, as well."""
        self.attempts += more.attempts
        self.failed += more.failed
        self.estimated += more.estimated
        self.input_tokens += more.input_tokens
        self.output_tokens += more.output_tokens
        self.tokens += more.tokens
        self.usd_micros += more.usd_micros
        self.models.update(more.models)
        for code, number in more.failures.items():
            self.failures[code] = self.failures.get(code, 0) + number


@dataclass(slots=True, kw_only=True)
class SpentBetween:
    """What was spent between two moments (microseconds since 1970 UTC).

    ``since`` is later than was asked where the journal holds more runs than are looked at in one
    go; ``complete`` then is false. ``erased`` attempts are counted nowhere else: what they came to
    was erased with their content. Nor are those of ``unreadable`` runs.
    """

    by: By
    since: int
    until: int
    complete: bool = True
    runs: int = 0
    erased: int = 0
    unreadable: int = 0
    total: Sum = field(default_factory=Sum)
    groups: dict[str, Sum] = field(default_factory=dict[str, Sum])


class SpendingSpan(Struct, frozen=True, kw_only=True):
    """What is asked: attempts of a workspace since a moment; runs that began more than ``slack_us``
    before it made none in it.
    """

    workspace: str
    since: int
    until: int
    slack_us: int


async def spent(
    search: SpendingSearch,
    kinds: Kinds,
    by: By,
    span: SpendingSpan,
    runs_max: int = RUNS_MAX,
    groups_max: int = GROUPS_MAX,
) -> SpentBetween:
    """Add up, newest runs first; other work goes on between pages. Of more groups than
    ``groups_max`` the smallest are one.
    """
    found = SpentBetween(by=by, since=span.since, until=span.until)
    seen, before = 0, None
    while True:
        page = await search.spending(workspace=span.workspace, before=before, limit=PAGE_RUNS)
        for run in page.runs:
            try:
                _add(found, kinds, run)
            except (JournalCorrupt, msgspec.DecodeError):
                # one damaged run is no reason to say nothing of the others
                found.unreadable += 1
        found.unreadable += page.damaged
        seen += page.seen
        before = page.next
        if before is None or page.oldest < span.since - span.slack_us:
            break
        if seen >= runs_max:
            found.since, found.complete = max(found.since, page.oldest), False
            break
        await asyncio.sleep(0)
    found.groups = await largest(found, groups_max)
    return found


def _add(found: SpentBetween, kinds: Kinds, run: SpendingRun) -> None:
    """All of a run or, where some of it cannot be read, nothing."""
    told = Spending(run.records)
    attempts = [
        (_key(kinds, found.by, attempt, run), attempt)
        for attempt in told.attempts
        if found.since <= attempt.at <= found.until
    ]
    found.erased += told.erased
    found.runs += bool(attempts)
    for key, attempt in attempts:
        found.total.add(attempt)
        found.groups.setdefault(key, Sum()).add(attempt)


def day_of(at: int) -> str:
    """The UTC day of a moment."""
    return datetime.fromtimestamp(at / 1e6, UTC).date().isoformat()


def _key(kinds: Kinds, by: By, attempt: ModelAttempt, run: SpendingRun) -> str:
    match by:
        case By.DAY:
            return day_of(attempt.at)
        case By.LANE:
            return attempt.lane
        case By.MODEL:
            return attempt.profile
        case By.FLOW:
            return run.flow
        case By.SESSION:
            return run.session
        case By.AGENT:
            return agent_of(kinds, run.opening)


def agent_of(kinds: Kinds, opening: Record | None) -> str:
    """The agent that a root run works for, as its account is named
    (``flows.accounts.open_account``); "" where that is erased.
    """
    body = None if opening is None or opening.body is None else decode(opening)
    return kinds.label(body).agent if isinstance(body, Started) else ""


async def largest(found: SpentBetween, groups_max: int) -> dict[str, Sum]:
    """Days in order, everything else by what it cost; the tail of very many as one. Other work goes
    on between portions.
    """
    if found.by is By.DAY:
        return dict(sorted(found.groups.items()))
    groups, first, rest = iter(found.groups.items()), list[tuple[str, Sum]](), Sum()
    while some := list(islice(groups, GROUPS_AT_ONCE)):
        first = sorted(
            [*first, *some], key=lambda item: (-item[1].usd_micros, -item[1].tokens, item[0])
        )
        for _, small in first[groups_max:]:
            rest.merge(small)
        del first[groups_max:]
        await asyncio.sleep(0)
    kept = dict(first)
    if len(found.groups) > groups_max:
        kept.setdefault(OTHERS, Sum()).merge(rest)
    return kept
