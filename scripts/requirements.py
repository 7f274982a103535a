"""Hold docs/requirements.md to what the tests prove.

Reads the recording of the last full test run (`pytest --record`). A row is done when passing tests
quote every clause of it and none that names it failed; a row with parts is done when all parts are.
Naming is a claim: at most three ids per test, each followed by the clause it proves, word for word
in quotation marks. Without an option the committed statuses must equal the run; `--write` updates
them, `--unquoted` tells what no passing test quotes.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INVENTORY = ROOT / "docs" / "requirements.md"
RECORDING = ROOT / ".check" / "tests.json"
MOST_IDS_PER_TEST = 3
SHORTEST_CLAUSE = 8

_ROW = re.compile(
    r"^\| (?P<id>[A-Z]+-\d+[a-z]?) \|(?P<text>.*)\| (?P<status>planned|done) \|$", re.MULTILINE
)
_ASIDE = re.compile(r"\[(?:S\d|[DHF]\b)[^\]]*\]|→ (?:B-\d+(?:, )?)+")
"""What of a row is no clause: where it comes from, and which resolution binds it."""
_NAMED = re.compile(
    r"(?<![\w-])(?P<id>(?P<family>[A-Z]+)-\d+[a-z]?)(?![\w-])(?::?\s+(?:\"(?P<clause>[^\"]+)\"|"
    r"“(?P<curly>[^”]+)”))?"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One numbered row of the inventory and its committed status."""

    id: str
    text: str
    done: bool

    @property
    def whole(self) -> str | None:
        """The id of the row that this row is a part of, if it is one."""
        return self.id[:-1] if self.id[-1].isalpha() else None

    def unquoted(self, clauses: Iterable[str]) -> str:
        """What none of the clauses says, in the row's order; nothing where they say all of it."""
        left = _ASIDE.sub(lambda aside: " " * len(aside[0]), self.text)
        for clause in map(_plain, clauses):
            for found in re.finditer(re.escape(clause), self.text):
                left = left[: found.start()] + " " * len(clause) + left[found.end() :]
        return " … ".join(part for part in re.split(r"\s{2,}", left) if re.search(r"\w", part))

    @property
    def counted(self) -> bool:
        """Whether the row is one of the 224: neither a part nor a resolution of section B."""
        return self.whole is None and not self.id.startswith("B-")


@dataclass(frozen=True, slots=True)
class RecordedTest:
    """One test function of the recorded run."""

    name: str
    docstring: str
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A test's statement that it proves a clause of a row; `clause` is None where the docstring
    quotes none.
    """

    test: RecordedTest
    row_id: str
    clause: str | None


def read_rows(inventory: str) -> dict[str, Row]:
    """The rows of the inventory's tables by id, in their order."""
    return {
        match["id"]: Row(match["id"], _owed(match["id"], match["text"]), match["status"] == "done")
        for match in _ROW.finditer(inventory)
    }


def _owed(row_id: str, text: str) -> str:
    """A row's text; of a resolution its last column, for the conflict before it binds nobody."""
    return _plain(re.split(r"(?<!\\)\|", text)[-1] if row_id.startswith("B-") else text)


def read_tests(recording: str) -> list[RecordedTest]:
    """The tests of a recording."""
    return [
        RecordedTest(name, entry["docstring"], entry["passed"], entry["failed"])
        for name, entry in json.loads(recording).items()
    ]


def find_claims(tests: Iterable[RecordedTest], rows: Mapping[str, Row]) -> list[Claim]:
    """Every naming of a row in a docstring, unknown numbers of known families included."""
    families = {row_id.partition("-")[0] for row_id in rows}
    return [
        Claim(test, match["id"], match["clause"] or match["curly"])
        for test in tests
        for match in _NAMED.finditer(test.docstring)
        if match["family"] in families
    ]


def find_faults(claims: Iterable[Claim], rows: Mapping[str, Row]) -> list[str]:
    """What is wrong with the claims themselves: unknown rows, missing or altered quotations, too
    many ids.
    """
    faults: list[str] = []
    named: dict[str, set[str]] = {}
    for claim in claims:
        named.setdefault(claim.test.name, set()).add(claim.row_id)
        row = rows.get(claim.row_id)
        if row is None:
            faults.append(f"{claim.test.name}: there is no row {claim.row_id}")
        elif claim.clause is None:
            faults.append(f"{claim.test.name}: quotes no clause of {claim.row_id}")
        elif len(claim.clause) < SHORTEST_CLAUSE or _plain(claim.clause) not in row.text:
            faults.append(f"{claim.test.name}: {claim.row_id} does not say {claim.clause!r}")
    faults += [
        f"{name}: names {len(ids)} rows, {MOST_IDS_PER_TEST} at most"
        for name, ids in named.items()
        if len(ids) > MOST_IDS_PER_TEST
    ]
    return faults


def judge(rows: Mapping[str, Row], claims: Iterable[Claim]) -> dict[str, bool]:
    """Which rows the run proves, by id."""
    proving: dict[str, list[Claim]] = {row_id: [] for row_id in rows}
    for claim in claims:
        if claim.row_id in proving:
            proving[claim.row_id].append(claim)
    done = {
        row_id: not _open(rows[row_id], claims) and not any(claim.test.failed for claim in claims)
        for row_id, claims in proving.items()
    }
    parts: dict[str, list[bool]] = {}
    for row in rows.values():
        if row.whole is not None:
            parts.setdefault(row.whole, []).append(done[row.id])
    return done | {whole: all(proofs) for whole, proofs in parts.items()}


def _open(row: Row, claims: Iterable[Claim]) -> str:
    return row.unquoted(claim.clause for claim in claims if claim.test.passed and claim.clause)


def rewrite(inventory: str, done: Mapping[str, bool]) -> str:
    """The inventory with the given statuses."""
    return _ROW.sub(
        lambda match: (
            f"| {match['id']} |{match['text']}| {'done' if done[match['id']] else 'planned'} |"
        ),
        inventory,
    )


def main(arguments: list[str] | None = None) -> int:
    """Compare or write the statuses; the last line printed is `done N of 224`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--write", action="store_true", help="write the statuses of the last full run into the page"
    )
    parser.add_argument(
        "--unquoted", action="store_true", help="list what of each row no passing test quotes"
    )
    parser.add_argument("--rows", action="store_true", help="list the rows that each test proves")
    options = parser.parse_args(arguments)
    if not RECORDING.exists():
        print(
            f"requirements: no recording at {RECORDING.relative_to(ROOT)}; run ./check, or pytest "
            f"--record={RECORDING.relative_to(ROOT)}"
        )
        return 1
    inventory = INVENTORY.read_text(encoding="utf-8")
    rows = read_rows(inventory)
    claims = find_claims(read_tests(RECORDING.read_text(encoding="utf-8")), rows)
    faults = find_faults(claims, rows)
    done = judge(rows, claims)
    if options.write and not faults:
        INVENTORY.write_text(rewrite(inventory, done), encoding="utf-8")
        rows = {row.id: replace(row, done=done[row.id]) for row in rows.values()}
    faults += [
        (
            f"{row.id}: the page says {'done' if row.done else 'planned'}, this run says "
            f"{'done' if done[row.id] else 'planned'}"
        )
        for row in rows.values()
        if row.done != done[row.id]
    ]
    for fault in faults:
        print(fault)
    if options.unquoted:
        for row in rows.values():
            if left := _open(row, [claim for claim in claims if claim.row_id == row.id]):
                print(f"{row.id}: {left}")
    _report(rows, claims, done, every_test=options.rows)
    return 1 if faults else 0


def _report(
    rows: Mapping[str, Row], claims: list[Claim], done: Mapping[str, bool], *, every_test: bool
) -> None:
    by_test: dict[str, set[str]] = {}
    for claim in claims:
        by_test.setdefault(claim.test.name, set()).add(claim.row_id)
    if every_test:
        for name, ids in sorted(by_test.items()):
            print(f"{', '.join(sorted(ids)):24} {name}")
    named = sum(len(ids) for ids in by_test.values())
    print(
        f"rows per test: {named / len(by_test) if by_test else 0:.2f} ({len(by_test)} tests name "
        f"rows, {named} times)"
    )
    resolutions = [row.id for row in rows.values() if row.id.startswith("B-")]
    print(f"resolutions done {sum(done[row_id] for row_id in resolutions)} of {len(resolutions)}")
    counted = [row.id for row in rows.values() if row.counted]
    print(f"done {sum(done[row_id] for row_id in counted)} of {len(counted)}")


def _plain(text: str) -> str:
    """Text without the marks of Markdown, so that a quotation may but need not carry them."""
    return " ".join(text.replace("\\|", "|").replace("`", "").split())


if __name__ == "__main__":
    sys.exit(main())
