"""The report of a tried policy: as data, as Markdown for people, as JUnit for a CI's own page. Each
leads with how many runs would end otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from ordain.cli.output import cell_text, json_text, number_of
from ordain.cli.policy_findings import (
    PolicyFinding,
    PolicyFindingKind,
    ReasonTold,
    RunFate,
    RunJudged,
)
from ordain.errors import ConfigurationError
from ordain.rules.plain_reply import cleaned

SHOWN_RUNS = 50
"""Most runs that Markdown names of one group of findings; JSON and JUnit have all."""
NAMED_RUNS = 3
"""So many of them beside what is said of them; the rest is folded, or nobody reads what is said."""
KINDS = {
    PolicyFindingKind.NEW_ALLOW: "Allowed now, and was not",
    PolicyFindingKind.NEW_DENY: "Allowed no more",
    PolicyFindingKind.OUTCOME: "Ends otherwise",
    PolicyFindingKind.COURSE: "Takes another way; how it ends, no journal can say",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyReport:
    """Everything that was found of every run, the policy's file, and which kinds of findings
    fail.

    ``ledger`` says why the store's ledger does not hold, "" where it does or nobody asked: what was
    taken out of a store is among no runs.
    """

    policy: str
    fails: frozenset[PolicyFindingKind]
    runs: Sequence[RunJudged]
    ledger: str = ""

    def count(self, fate: RunFate) -> int:
        """How many runs have this fate."""
        return sum(run.fate is fate for run in self.runs)

    def findings(self) -> Iterator[PolicyFinding]:
        """Every finding, oldest run first."""
        return (found for run in self.runs for found in run.findings)

    def failing(self) -> list[PolicyFinding]:
        """The findings that were named as failures."""
        return [found for found in self.findings() if found.kind in self.fails]

    def unreadable(self) -> list[tuple[str, str, str]]:
        """Each run that cannot be judged, as (it, the run above it all, why)."""
        return [(run, judged.run, why) for judged in self.runs for run, why in judged.unreadable]

    def lead(self) -> str:
        """The first line."""
        judged = len(self.runs) - self.count(RunFate.UNREADABLE) - self.count(RunFate.ERASED)
        return f"{self.count(RunFate.OUTCOME)} of {judged} runs would end otherwise"

    def rest(self) -> Iterator[str]:
        """What else there is to count, each in words; nothing where there is none."""
        counted = (
            (RunFate.COURSE, "would take another way, to an end that no journal can say"),
            (RunFate.SAME_END, "would come to the same end another way, or sooner"),
            (RunFate.SHORTER_TOOLS, "would only be offered fewer tools, none of which was called"),
            (RunFate.ERASED, "were erased, and are not judged"),
        )
        yield from (f"{count} {words}" for fate, words in counted if (count := self.count(fate)))
        if unreadable := self.unreadable():
            yield f"{len(unreadable)} cannot be read, and are not judged"
        if self.ledger:
            yield self.ledger
        yield "budgets were not simulated again: what a call cost is weighed as recorded"


Group = tuple[PolicyFindingKind, str, str, ReasonTold, ReasonTold, bool]


def groups(report: PolicyReport) -> Mapping[Group, list[PolicyFinding]]:
    """Findings that say the same of several runs, the gravest kind first, the most frequent
    first.
    """
    found: dict[Group, list[PolicyFinding]] = {}
    for one in report.findings():
        found.setdefault(
            (one.kind, one.rule, one.verb, one.before, one.after, one.exact), []
        ).append(one)
    order = list(PolicyFindingKind)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))))


def told(group: Group) -> str:
    """A group in one line of words."""
    _, rule, verb, before, after, exact = group
    about = f"{cell_text(verb)}: " if verb else ""
    by = f" (rule {rule})" if rule else ""
    certainty = "" if exact else ", on the facts that were recorded"
    return (
        f"{about}{_said(before)} → {_said(after)}{by}{certainty}"
        if before.code or before.words
        else f"{_said(after)}{by}"
    )


def _said(reason: ReasonTold) -> str:
    code = cell_text(reason.code)
    words = reason.words.rstrip(".")  # more follows on the line
    return f"{words} [{code}]" if words and code else words or code


def as_data(report: PolicyReport) -> dict[str, Any]:
    """The report as data."""
    return {
        "lead": report.lead(),
        "policy": report.policy,
        "fail_on": sorted(report.fails),
        "failed": bool(report.failing()),
        "runs": {"total": len(report.runs), **{fate.value: report.count(fate) for fate in RunFate}},
        "findings": [asdict(found) for found in report.findings()],
        "shorter_tools": [run.run for run in report.runs if run.fate is RunFate.SHORTER_TOOLS],
        "other_decisions": _others(report),
        "unreadable": [
            {"run": run, "root": root, "verdict": why} for run, root, why in report.unreadable()
        ],
        "ledger": report.ledger,
    }


def _others(report: PolicyReport) -> dict[str, int]:
    counted = Counter[str]()
    for run in report.runs:
        counted.update(run.others)
    return dict(sorted(counted.items()))


def as_json(report: PolicyReport) -> str:
    """The report as JSON."""
    return json_text(as_data(report), indent=2) + "\n"


def as_markdown(report: PolicyReport) -> str:
    """The report for people, as a comment or a job's summary shows it."""
    lines = [
        f"## {report.lead()}",
        "",
        f"Policy {_code(report.policy)}, tried on recorded runs without a model.",
    ]
    lines += ["", *(f"- {_escaped(line)}" for line in report.rest())]
    kind = None
    for group, findings in groups(report).items():
        if group[0] is not kind:
            kind = group[0]
            fails = " — fails" if kind in report.fails else ""
            lines += ["", f"### {KINDS[kind]} (`{kind}`{fails})", ""]
        lines += _said_of(told(group), list(dict.fromkeys(found.run for found in findings)))
    if shorter := [run.run for run in report.runs if run.fate is RunFate.SHORTER_TOOLS]:
        lines += [
            "",
            *_folded(
                f"Shorter tool lists: {number_of(len(shorter), 'run')} that called none of what is "
                "gone",
                [f"- {_code(run)}" for run in shorter],
            ),
        ]
    if others := _others(report):
        lines += [
            "",
            *_folded(
                "Other decisions that come out otherwise",
                [f"- rule `{rule}`: {count}" for rule, count in others.items()],
            ),
        ]
    if unreadable := report.unreadable():
        lines += [
            "",
            "### Not judged",
            "",
            *(f"- {_code(run)}: {_code(why)}" for run, _, why in unreadable),
        ]
    return "\n".join(lines) + "\n"


def _said_of(what: str, runs: Sequence[str]) -> list[str]:
    """What is said of these runs, the first ones named, others folded below it as a part of it."""
    named, rest = runs[:NAMED_RUNS], runs[NAMED_RUNS:SHOWN_RUNS]
    line = f"- {_escaped(what)}: {number_of(len(runs), 'run')}: {', '.join(map(_code, named))}"
    if not rest:
        return [line]
    more = f" and {len(runs) - SHOWN_RUNS} more" if len(runs) > SHOWN_RUNS else ""
    folded = _folded(f"{len(runs) - len(named)} more", [f"{', '.join(map(_code, rest))}{more}"])
    return [line, "", *(f"  {part}" if part else "" for part in folded), ""]


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def _code(text: str) -> str:
    return f"`{cell_text(text).replace('`', chr(39))}`"


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_<>|#&~" else char for char in text)


def as_junit(report: PolicyReport) -> str:
    """The report as JUnit: a case for each run; a finding that fails is its failure, what cannot be
    read its error. A ledger that does not hold is a case of its own.
    """
    failed = {found.root for found in report.failing()}
    errors = sum(bool(run.unreadable) and run.run not in failed for run in report.runs)
    errors, cases = errors + bool(report.ledger), len(report.runs) + bool(report.ledger)
    attributes = {
        "name": f"{report.lead()} under {_plain(report.policy)}",
        "tests": str(cases),
        "failures": str(len(failed)),
        "errors": str(errors),
        "skipped": str(report.count(RunFate.ERASED)),
    }
    suite = ET.Element("testsuite", attributes)
    for run in report.runs:
        case = ET.SubElement(
            suite, "testcase", {"classname": _plain(run.flow) or "run", "name": _plain(run.run)}
        )
        failing = [found for found in run.findings if found.kind in report.fails]
        if failing:
            kinds = ", ".join(dict.fromkeys(found.kind.value for found in failing))
            ET.SubElement(
                case, "failure", {"type": kinds, "message": _line(failing[0])}
            ).text = "\n".join(map(_line, failing))
        elif run.unreadable:
            why = "; ".join(f"{one}: {said}" for one, said in run.unreadable)
            ET.SubElement(
                case, "error", {"type": _plain(run.unreadable[0][1]), "message": _plain(why)}
            )
        elif run.fate is RunFate.ERASED:
            ET.SubElement(case, "skipped", {"message": "erased"})
        if told_only := [found for found in run.findings if found.kind not in report.fails]:
            ET.SubElement(case, "system-out").text = "\n".join(map(_line, told_only))
    if report.ledger:
        case = ET.SubElement(suite, "testcase", {"classname": "store", "name": "ledger"})
        ET.SubElement(case, "error", {"type": "ledger", "message": _plain(report.ledger)})
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _line(found: PolicyFinding) -> str:
    group = (found.kind, found.rule, found.verb, found.before, found.after, found.exact)
    return _plain(f"{found.kind} in {found.run} at {found.address}: {told(group)}")


def _plain(text: str) -> str:
    return cleaned(cell_text(text) if len(text) < 200 else text)


WRITERS: Mapping[str, Callable[[PolicyReport], str]] = {
    ".md": as_markdown,
    ".json": as_json,
    ".xml": as_junit,
}


def check_names(files: Sequence[Path]) -> None:
    """Refuse what no report can be written to, before anything is judged.

    Raises:
        ConfigurationError: its name ends otherwise, or its folder is not there.
    """
    for file in files:
        if file.suffix not in WRITERS:
            raise ConfigurationError(
                f"--report {file}: a report's name ends in .md, .json or .xml (JUnit)", code="usage"
            )
        if not file.absolute().parent.is_dir() or file.is_dir():
            raise ConfigurationError(
                f"--report {file} cannot be written: its folder is not there, or it is one itself",
                code="cannot_write",
            )


def write_reports(report: PolicyReport, files: Sequence[Path]) -> None:
    """Write each.

    Raises:
        ConfigurationError: one cannot be written.
    """
    for file in files:
        try:
            file.write_text(WRITERS[file.suffix](report), encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(
                f"--report {file} cannot be written: {error.strerror}", code="cannot_write"
            ) from error
