"""Every field of every record of the golden journals, changed: corruption is always seen, forgery
wherever it has a consequence.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ordain.flows.shipped import shipped_kinds
from ordain.journal.records import RecordKind
from ordain.runtime.replay import replay
from tests.replay.golden_file import GOLDEN, read
from tests.replay.mutate import body_mutations, corrupted, forged

FILES = sorted(GOLDEN.glob("v*/*.json"))
ENVELOPE = {
    "name": "x",
    "v": 2,
    "at": 1,
    "digest": bytes(16),
    "chain": bytes(16),
    "kind": RecordKind.NOTE,
}

WITHOUT_CONSEQUENCE = {
    (RecordKind.STARTED, "principal"),  # who asked; no rule of this build reads it
    (RecordKind.STARTED, "deadline"),  # caps the request's own time-out, which came first
    (RecordKind.STARTED, "parent_addr"),
    (RecordKind.STARTED, "depth"),
    (RecordKind.STARTED, "allowance"),  # where the run never came to spend anything
    # where the run ended before a prompt was rendered, and the caller's own label
    (RecordKind.STARTED, "input"),
    (RecordKind.SUSPENDED, "addr"),  # beside the flow: re-execution passes over it
    (RecordKind.SUSPENDED, "wake_at"),
    (RecordKind.SUSPENDED, "waits_for"),
    (RecordKind.CHILD_ENDED, "mail"),
    # lines of the child's header that its parent's does not repeat
    (RecordKind.CHILD_ENDED, "ended.header"),
    (RecordKind.CHILD_ENDED, "ended.value"),
    (RecordKind.OBSERVATION, "result.counted"),
    (RecordKind.OBSERVATION, "result.why"),
    (RecordKind.OBSERVATION, "result.estimated"),  # where another call of the run was estimated too
    (RecordKind.OBSERVATION, "result.origin"),
    (RecordKind.OBSERVATION, "result.prompt_digest"),
    (RecordKind.OBSERVATION, "result.withheld"),
}
"""What a forger who holds the subject's key and remakes the whole chain may change unseen; beside
an exported head all of it shows.
"""


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_changed_field_is_detected(file: Path) -> None:
    """Changing any one field of any record's body is detected as corruption."""
    golden, flows = read(file), shipped_kinds()
    catalog, count = golden.compiled(), 0
    for seq, path, body in body_mutations(golden.run):
        report = replay(corrupted(golden.run, seq, body=body), catalog, flows)
        assert report.verdict == "journal_corrupt", (seq, path)
        assert report.differences[0].place == str(seq)
        count += 1
    assert count > 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_changed_envelope_is_detected(file: Path) -> None:
    """Changing a record's kind, name, version, time, digest or link is detected."""
    golden, flows = read(file), shipped_kinds()
    catalog = golden.compiled()
    for record in golden.run.records:
        for field, value in ENVELOPE.items():
            if getattr(record, field) != value:
                report = replay(corrupted(golden.run, record.seq, **{field: value}), catalog, flows)
                assert not report.equal, (record.seq, field)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_forged_field_is_detected_where_it_has_a_consequence(file: Path) -> None:
    """A forger who remakes every digest is caught by re-execution in every proposal, decision and
    fact.
    """
    golden, flows = read(file), shipped_kinds()
    catalog = golden.compiled()
    for seq, path, body in body_mutations(golden.run):
        report = replay(forged(golden.run, seq, body=body), catalog, flows)
        if report.equal:
            kind = golden.run.records[seq].kind
            names = [part for part in path if isinstance(part, str)]
            allowed = {(kind, names[0]), (kind, ".".join(names[:2]))}
            assert allowed & WITHOUT_CONSEQUENCE, (seq, kind, path)


def test_forged_decisions_and_intents_never_pass() -> None:
    """No field of a decision or an intent is without consequence."""
    assert not {kind for kind, _ in WITHOUT_CONSEQUENCE} & {
        RecordKind.DECISION,
        RecordKind.INTENT,
        RecordKind.ENDED,
        RecordKind.DELIVERED,
    }


def test_forging_changes_only_what_it_says() -> None:
    """Forging without a change gives the same journal: the test's own tool is sound."""
    golden = read(FILES[0])
    body = golden.run.records[0].body
    assert msgspec.json.encode(forged(golden.run, 0, body=body)) == msgspec.json.encode(golden.run)
