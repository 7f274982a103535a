"""``ordain replay --policy FILE`` with ``--since``, ``--fail-on`` or ``--report``: a policy is
tried on recorded runs, and its findings decide the exit code.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ordain.cli.archive import open_archive
from ordain.cli.comma_lists import names_of
from ordain.cli.exit_codes import FAILED, OK, UNREADABLE, Unjudged
from ordain.cli.hints import in_folder
from ordain.cli.options import Judging
from ordain.cli.output import cell_text, print_json, show_line, warn
from ordain.cli.policy_findings import PolicyFindingKind, RunFate, RunJudged, judged
from ordain.cli.policy_reports import (
    KINDS,
    PolicyReport,
    as_data,
    check_names,
    groups,
    told,
    write_reports,
)
from ordain.cli.processes import PieceWork, each
from ordain.cli.time_spans import moment_us
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.policy import Policy
from ordain.engines.clock import SystemClock
from ordain.errors import ConfigurationError, JournalCorrupt, NotFound
from ordain.runtime.diff import PolicyDiff, TriedPolicy
from ordain.runtime.store_replay import EQUAL, Ledgered
from ordain.settings import read_policy

GROUPS_SHOWN = 20
TELLS_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a policy is tried on: the folder, one run or all, and how many processes do it."""

    home: Path
    run: str | None
    jobs: int


def try_policy(trial: Trial, file: Path, judging: Judging, *, as_json: bool) -> int:
    """Judge every run by the policy, tell and write what was found.

    Raises:
        ConfigurationError: the policy, a span, a kind of finding or a report's name is wrong.
        NotFound: there is no such run, none in that time that is not erased, or no data.
    """
    fails = _fails(judging.fail_on)
    check_names(judging.report)
    within = _within(judging)
    policy = read_policy(file)
    runs = asyncio.run(_named(trial, within, policy, str(file)))
    if not runs:
        raise NotFound(
            "no run began in that time, so nothing can be said of the policy", code="no_runs"
        )
    found = tuple(
        _told_of(each(partial(run_judge, trial.home, policy), runs, trial.jobs), len(runs))
    )
    ledger = "" if trial.run is not None else not_held(trial.home)
    report = PolicyReport(policy=str(file), fails=fails, runs=found, ledger=ledger)
    if report.count(RunFate.ERASED) == len(found):
        raise NotFound(
            "every run of that time was erased, so nothing can be said of the policy",
            code="no_runs",
        )
    write_reports(report, judging.report)
    if as_json:
        print_json(as_data(report))
    else:
        _print(report)
    if report.failing():
        return FAILED
    return OK if not ledger and not report.unreadable() else UNREADABLE


@contextmanager
def unjudged() -> Generator[None]:
    """A store that is damaged can be judged no more than a run that is: neither is a finding of the
    policy.

    Raises:
        Unjudged: it is damaged.
    """
    try:
        yield
    except JournalCorrupt as error:
        raise Unjudged(error.message, code=error.code, details=error.details) from error


def not_held(home: Path) -> str:
    """Why the ledger does not hold what is there, and no more: what was taken out of a store is
    judged by nobody. Tells it on stderr, too; "" where it does.
    """

    async def held() -> Ledgered:
        with open_archive(home) as archive:
            return (await archive.held_to_ledger())[0]

    ledgered = asyncio.run(held())
    if ledgered.verdict == EQUAL:
        return ""
    places = ", ".join(cell_text(str(one.place)) for one in ledgered.differences[:3])
    message = (
        f"the ledger over this store does not hold ({ledgered.verdict}: {places}), so "
        "something was altered or is missing: ordain replay --all"
    )
    warn(in_folder(message))
    return message


def _fails(given: Sequence[str]) -> frozenset[PolicyFindingKind]:
    names, known = names_of(given, "--fail-on"), set(PolicyFindingKind)
    if unknown := [name for name in names if name not in known]:
        message = (
            f"--fail-on takes {', '.join(PolicyFindingKind)}, several with commas between "
            f"them{did_you_mean(unknown[0], known)}"
        )
        raise ConfigurationError(message, code="usage")
    return frozenset(map(PolicyFindingKind, names))


def _within(judging: Judging) -> tuple[int | None, int | None]:
    now = datetime.fromtimestamp(SystemClock().now() / 1e6, UTC)
    since, until = (
        None if text is None else moment_us(text, now, option)
        for text, option in ((judging.since, "--since"), (judging.until, "--until"))
    )
    if since is not None and until is not None and since >= until:
        raise ConfigurationError("--since lies before --until", code="usage")
    return since, until


async def _named(
    trial: Trial, within: tuple[int | None, int | None], policy: Policy, file: str
) -> Sequence[str]:
    with open_archive(trial.home) as archive:
        archive.runtime.services.kinds.check_policy(policy, file)
        if trial.run is not None:
            return (await archive.tree(trial.run))[:1]
        return await archive.runs(roots_only=True, since=within[0], until=within[1])


@contextmanager
def comparing(home: Path, policy: Policy) -> Generator[PieceWork[str, PolicyDiff]]:
    """What compares runs, each with all below it, whatever process this is. What is wrong with one
    is in its verdict.
    """
    tried = TriedPolicy(policy)
    with open_archive(home) as archive:
        yield lambda runs: asyncio.run(archive.diffs(runs, tried))


@contextmanager
def run_judge(home: Path, policy: Policy) -> Generator[PieceWork[str, RunJudged]]:
    """What says to what comparing them comes."""
    with comparing(home, policy) as compared:
        yield lambda runs: [judged(diff) for diff in compared(runs)]


def _told_of(found: Iterator[RunJudged], total: int) -> Iterator[RunJudged]:
    """The same, telling on stderr how far it is where that takes long."""
    last = time.monotonic()
    for number, one in enumerate(found, 1):
        yield one
        if (now := time.monotonic()) - last >= TELLS_EVERY_S:
            last = now
            warn(f"judged {number} of {total} runs")


def _print(report: PolicyReport) -> None:
    show_line(report.lead())
    for line in report.rest():
        show_line(f"  {line}")
    grouped, kind = groups(report), None
    for group, findings in list(grouped.items())[:GROUPS_SHOWN]:
        if group[0] is not kind:
            kind = group[0]
            show_line(f"{KINDS[kind]} ({kind}{', fails' if kind in report.fails else ''})")
        runs = list(dict.fromkeys(found.run for found in findings))
        show_line(
            f"  {told(group)}: {runs[0]}{f' and {len(runs) - 1} more' if len(runs) > 1 else ''}"
        )
    if len(grouped) > GROUPS_SHOWN:
        show_line(f"  and {len(grouped) - GROUPS_SHOWN} groups more: --report FILE.md has all")
    for run, _, why in report.unreadable():
        show_line(f"not judged: {run}  {why}")
