"""What model calls cost, twice: the account of attempts and the fold that headers are made of say
the same.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import Fold
from ordain.journal.records import Record, RecordKind
from ordain.journal.spending import SPENDING, Spending
from tests.replay.golden_file import GOLDEN, read, read_talk

FILES = sorted(GOLDEN.glob("v*/*.json"))
TALKS = sorted((GOLDEN / "talks").glob("*.json"))


def own(records: tuple[Record, ...]) -> list[Record]:
    """The records of the run's own model calls, without its children's."""
    return [record for record in records if record.name in SPENDING]


def check(run: str, records: tuple[Record, ...]) -> int:
    """The law, for one run; how many attempts it made."""
    told, fold = Spending(own(records)), Fold(run, own(records), shipped_kinds())
    assert sum(attempt.tokens for attempt in told.attempts) == fold.spent.tokens
    assert sum(attempt.usd_micros for attempt in told.attempts) == fold.spent.usd_micros
    assert sum(attempt.input_tokens for attempt in told.attempts) == fold.tokens_in
    assert sum(attempt.output_tokens for attempt in told.attempts) == fold.tokens_out
    beside = sum(
        record.kind is RecordKind.OBSERVATION and b'"beside":' in (record.body or b"")
        for record in own(records)
    )
    assert len(told.attempts) == sum(record.name == "settle" for record in records) + beside
    assert all(attempt.lane and attempt.profile for attempt in told.attempts)
    assert Spending(records).attempts == told.attempts
    return len(told.attempts)


def test_attempts_and_ledger_agree() -> None:
    """Tokens and money agree between the attempts and the fold of every golden journal, and every
    attempt has its lane and profile.
    """
    runs = [read(file).run for file in FILES] + [
        run for file in TALKS for run in read_talk(file).runs
    ]
    assert sum(check(run.id, run.records) for run in runs) >= 60


@pytest.mark.parametrize("file", FILES[:6], ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_erased_attempts_are_counted_as_such(file: Path) -> None:
    """With bodies erased from any record on, the attempts that can still be told and the erased
    ones are all of them.
    """
    records = read(file).run.records
    every = len(Spending(records).attempts)
    for seq in range(len(records)):
        left = Spending(
            [
                msgspec.structs.replace(record, body=None) if record.seq >= seq else record
                for record in records
            ]
        )
        assert len(left.attempts) + left.erased == every
