"""The ledger twice: what a flow's own account says it spent, and what a fold of its journal says,
are the same.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import Fold
from ordain.rules.header import render_header
from ordain.runtime.flow_outcome import NothingBeyond, flow_outcome
from ordain.runtime.replay import opened
from tests.replay.golden_file import GOLDEN, read

FILES = sorted(GOLDEN.glob("v*/*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_account_and_fold_agree(file: Path) -> None:
    """Tokens, money, model calls and verb calls agree between the flow's account and the fold of
    its journal.
    """
    golden = read(file)
    catalog = golden.compiled()
    kinds = shipped_kinds()
    setup = opened(golden.run, catalog, kinds)
    state = setup.state(golden.run.records[0].at)
    flow_outcome(
        setup, setup.execution(golden.run.records, beyond := NothingBeyond(), state), beyond
    )
    assert Fold(golden.run.id, golden.run.records, kinds).spent == state.authority.spent


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_fold_survives_erased_bodies(file: Path) -> None:
    """A fold over a journal with erased bodies says less but never fails."""
    golden = read(file)
    for seq in range(len(golden.run.records)):
        records = [
            msgspec.structs.replace(record, body=None) if record.seq >= seq else record
            for record in golden.run.records
        ]
        assert render_header(
            Fold(golden.run.id, records, shipped_kinds()).header("completed", "ok")
        )
