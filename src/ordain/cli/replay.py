"""``ordain replay``: run again from the journal. Imports no model, no verb and nothing of HTTP."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ordain.cli.archive import open_archive
from ordain.cli.backups import unpacked
from ordain.cli.damaged import NamedWork, every_name, ledger_of, nothing_read
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.options import NO_JUDGING, Everything, Judging
from ordain.cli.output import print_json, show, show_line
from ordain.cli.places import home_of
from ordain.cli.policy_trial import Trial, comparing, not_held, try_policy, unjudged
from ordain.cli.processes import PieceWork, cores, each
from ordain.cli.wording_comparison import compare_wording
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.policy import Policy
from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.runtime.diff import PolicyDiff
from ordain.runtime.policy_changes import COMPARED
from ordain.runtime.replay import Difference, Replayed
from ordain.runtime.store_replay import EQUAL, Ledgered, LedgerKnows
from ordain.runtime.transcript_replay import NOT_THERE, Retold
from ordain.settings import read_policy
from ordain.store.damage import DAMAGED, check_damage

ERASED = "erased"
NOT_COVERED = (
    "tokens",
    "mail that its run has taken, whose journal holds it",
    "what shared decisions of kinds keep for the next of them",
    "what engines note of their own work",
)
"""What a folder holds that is no record of what happened, and so under no chain."""
_HEAD = re.compile(r"[1-9][0-9]{0,17}-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the record is compared with, at most one: a policy's file, a folder of phrases; and how
    a policy is judged by that.
    """

    policy: Path | None = None
    wording: Path | None = None
    judging: Judging = NO_JUDGING


def replay_runs(
    data_dir: Path | None,
    run: str | None,
    compared: Compared,
    everything: Everything,
    *,
    as_json: bool,
) -> int:
    """Replay a run with its children, or all runs and every session's transcript and the ledger
    over them; or compare with another policy or wording.

    All are replayed by ``jobs`` processes, as many as there are cores where that is None, and told
    as they are found.

    Raises:
        ConfigurationError: neither a run nor ``--all`` is named, or both; fewer than one process; a
            head that is none, or without ``--all``; or the policy or the wording is wrong.
        NotFound: no such run.
    """
    jobs, head, judging = everything.jobs, everything.head, compared.judging
    if judging.asked and compared.policy is None:
        raise ConfigurationError(
            "--since, --until, --fail-on and --report go with --policy FILE", code="usage"
        )
    if judging.asked and run is not None and (everything.every or judging.since or judging.until):
        raise ConfigurationError("name one run, or --since, --until and --all", code="usage")
    if not judging.asked and (run is None) is not everything.every:
        raise ConfigurationError("name one run, or --all", code="usage")
    if compared.policy is not None and compared.wording is not None:
        raise ConfigurationError(
            "compare with a policy or with a wording, one at a time", code="usage"
        )
    if head is not None and (
        run is not None
        or compared != Compared(judging=replace(NO_JUDGING, backup=judging.backup))
        or not _HEAD.fullmatch(head)
    ):
        message = (
            "--head goes with --all alone and is a head as that prints it: a number, -, and 32 "
            "hex digits"
        )
        raise ConfigurationError(message, code="usage")
    if jobs is not None and jobs < 1:
        raise ConfigurationError("--jobs is 1 or more", code="usage")
    with (
        unjudged() if judging.asked and compared.policy is not None else nullcontext(),
        _place(data_dir, judging.backup) as home,
    ):
        if compared.policy is not None and judging.asked:
            return try_policy(
                Trial(home=home, run=run, jobs=jobs or cores()),
                compared.policy,
                judging,
                as_json=as_json,
            )
        if compared.policy is not None:
            return _compare(home, run, compared.policy, as_json=as_json)
        if compared.wording is not None:
            return compare_wording(home, run, compared.wording, as_json=as_json)
        return _replay(home, run, (jobs or cores(), head or ""), as_json=as_json)


@contextmanager
def _place(data_dir: Path | None, backup: Path | None) -> Generator[Path]:
    """The data folder, or the rows of a backup in a folder that is gone afterwards."""
    if backup is None:
        yield home_of(data_dir)
        return
    if data_dir is not None:
        raise ConfigurationError(
            "a backup is read instead of a data folder: --backup or --data-dir", code="usage"
        )
    with unpacked(backup) as home:
        yield home


def _replay(home: Path, run: str | None, how: tuple[int, str], *, as_json: bool) -> int:
    jobs, head = how
    ledgered, known, named = asyncio.run(_begun(home, run, head))
    reports, retold = list[Replayed](), list[Retold]()
    for report in each(partial(replaying, home, known), named.runs, jobs):
        reports.append(report)
        if not as_json:
            _print_report(report)
    for told in each(partial(retelling, home, known), named.sessions, jobs):
        retold.append(told)
        if not as_json:
            _print_retold(told)
    if as_json:
        found: dict[str, Any] = {
            "runs": [{**asdict(report), "equal": report.equal} for report in reports]
        }
        if run is None:
            found["sessions"] = [{**asdict(told), "verifies": told.verifies} for told in retold]
        if ledgered is not None:
            found["ledger"] = asdict(ledgered)
            found["not_covered"] = NOT_COVERED
            found["lists_damaged"] = named.lacks
        print_json(found)
    else:
        if ledgered is not None:
            _print_ledgered(ledgered)
        for lacking in named.lacks:
            show_line(f"{DAMAGED:<16} list of {lacking}  a part of it cannot be read: more may be")
        equal = sum(report.equal for report in reports)
        show(
            f"{equal} of {len(reports)} runs replay equal, "
            f"{sum(report.decisions for report in reports)} decisions made again"
        )
        if retold:
            verify = sum(told.verifies for told in retold)
            show(
                f"{verify} of {len(retold)} sessions verify, "
                f"{sum(told.decisions for told in retold)} messages attached again"
            )
        if run is None:
            show(f"not covered, since it is no record of what happened: {'; '.join(NOT_COVERED)}")
    passing = {"equal", ERASED} if run is None else {"equal"}
    holds = ledgered is None or ledgered.verdict == EQUAL
    return (
        OK
        if holds
        and not named.lacks
        and all(report.verdict in passing for report in reports)
        and all(told.verifies for told in retold)
        else FAILED
    )


async def _begun(
    home: Path, run: str | None, head: str
) -> tuple[Ledgered | None, LedgerKnows | None, NamedWork]:
    """What the whole store's ledger says and what is to be gone through; of one run, that and what
    is below it.
    """
    if run is not None:
        with open_archive(home) as archive:
            return None, None, NamedWork(runs=await archive.tree(run))
    try:
        with open_archive(home) as archive:
            return *(await ledger_of(archive, head)), await every_name(archive)
    except StorageUnavailable as error:
        raise nothing_read(home, check_damage(error)) from error


@contextmanager
def replaying(home: Path, ledger: LedgerKnows | None = None) -> Generator[PieceWork[str, Replayed]]:
    """What replays runs, whatever process this is. Raises as ``Archive.replays`` and
    ``open_archive``.
    """
    with open_archive(home) as archive:

        async def replayed(runs: Sequence[str]) -> Sequence[Replayed]:
            found = await archive.replays(runs, ledger)
            if ledger is None or all(report.verdict in {EQUAL, ERASED} for report in found):
                return found
            with archive.as_of_one_commit():
                _, since = await ledger_of(archive)  # a server may have swept something since
                pairs = zip(runs, found, strict=True)
                return [
                    report
                    if report.verdict in {EQUAL, ERASED}
                    else await archive.replay(run, since)
                    for run, report in pairs
                ]

        yield lambda runs: asyncio.run(replayed(runs))


@contextmanager
def retelling(
    home: Path, ledger: LedgerKnows | None
) -> Generator[PieceWork[tuple[str, str], Retold]]:
    """What tells sessions again; of one that is gone the ledger says whether it was erased.
    Raises as ``replaying``.
    """
    with open_archive(home) as archive:

        async def retold(sessions: Sequence[tuple[str, str]]) -> Sequence[Retold]:
            found = [
                await archive.retell(workspace, session, ledger) for workspace, session in sessions
            ]
            if ledger is None or all(told.verifies for told in found):
                return found
            # as above, or a run has placed a message
            with archive.as_of_one_commit():
                ledgered, since = await ledger_of(archive)
                again = [
                    told if told.verifies else await archive.retell(*session, since)
                    for session, told in zip(sessions, found, strict=True)
                ]
            if ledgered.verdict != EQUAL:
                return again
            # the ledger holds without it: it was erased since it was named, and its id with it
            return [
                replace(told, verdict=ERASED) if told.verdict == NOT_THERE else told
                for told in again
            ]

        yield lambda sessions: asyncio.run(retold(sessions))


def _print_report(report: Replayed) -> None:
    state = "settled" if report.settled else "unsettled"
    show_line(
        f"{report.verdict:<16} {report.run}  {report.flow}  {report.records} records, "
        f"{report.decisions} decisions, {state}"
    )
    _print_differences(report.differences)


def _print_retold(report: Retold) -> None:
    erased = f", {report.erased} erased" if report.erased else ""
    name = (
        report.session
        if report.workspace == DEFAULT_WORKSPACE
        else f"{report.session} in {report.workspace}"
    )
    show_line(
        f"{report.verdict:<16} session {name}  {report.entries} entries, {report.decisions} "
        f"decisions{erased}"
    )
    _print_differences(report.differences)


def _print_ledgered(report: Ledgered) -> None:
    read = f"{report.rows} rows, head {report.head}" if report.head else "not read to its end"
    show_line(f"{report.verdict:<16} ledger  {read}")
    _print_differences(report.differences)


def _print_differences(differences: Sequence[Difference]) -> None:
    for difference in differences:
        show_line(f"  {difference.line}")


def _compare(home: Path, run: str | None, file: Path, *, as_json: bool) -> int:
    """A flip is what was asked for and no failure; a run that cannot be replayed is one, and so is
    a store that its ledger does not hold.
    """
    policy = read_policy(file)
    with comparing(home, policy) as compared:
        diffs = compared(asyncio.run(_roots(home, run, policy, str(file))))
    every = [one for diff in diffs for one in _flat(diff)]
    if as_json:
        print_json({"runs": [_view(diff) for diff in diffs]})
    else:
        for diff in diffs:
            _print_diff(diff, "")
        flipped = sum(len(one.flips) for one in every)
        compared = sum(one.verdict == COMPARED for one in every)
        left = len(every) - compared
        others = f"{left} others were not compared; " if left else ""
        show_line(
            f"{flipped} decisions of {compared} runs come out otherwise; {others}budgets were not "
            "simulated again"
        )
    held = run is not None or not not_held(home)
    return OK if held and all(one.verdict in {COMPARED, ERASED} for one in every) else FAILED


async def _roots(home: Path, run: str | None, policy: Policy, named: str) -> Sequence[str]:
    with open_archive(home) as archive:
        archive.runtime.services.kinds.check_policy(policy, named)
        return (
            (await archive.tree(run))[:1]
            if run is not None
            else await archive.runs(roots_only=True)
        )


def _flat(diff: PolicyDiff) -> Iterator[PolicyDiff]:
    yield diff
    for child in diff.children:
        yield from _flat(child)


def _view(diff: PolicyDiff) -> dict[str, Any]:
    return {
        "run": diff.run,
        "flow": diff.flow,
        "verdict": diff.verdict,
        "frontier": diff.frontier,
        "ended": diff.ended,
        "flips": [asdict(flip) for flip in diff.flips],
        "children": [_view(child) for child in diff.children],
    }


def _print_diff(diff: PolicyDiff, indent: str) -> None:
    frontier = (
        "no frontier"
        if diff.frontier is None
        else "bounded throughout"
        if diff.frontier < 0
        else f"frontier at effect {diff.frontier}"
    )
    ended = f", ends {diff.ended[0]} ({diff.ended[1]})" if diff.ended is not None else ""
    came = f"{len(diff.flips)} flips, {frontier}{ended}"
    show_line(
        f"{indent}{diff.verdict:<16} {diff.run}  {diff.flow}  "
        f"{came if diff.verdict == COMPARED else 'not compared'}"
    )
    for flip in diff.flips:
        show_line(
            f"{indent}  {'exact  ' if flip.exact else 'bounded'} {flip.address}: recorded "
            f"{flip.recorded}; now {flip.now}"
        )
    for child in diff.children:
        _print_diff(child, indent + "  ")
