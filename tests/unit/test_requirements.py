"""The inventory's own law: what counts, what is a claim, what is done."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts import requirements
from scripts.requirements import (
    INVENTORY,
    RecordedTest,
    find_claims,
    find_faults,
    judge,
    read_rows,
    read_tests,
    rewrite,
)

PAGE = r"""
| id | requirement | status |
|---|---|---|
| PLN-30 | `finish==true` ⇒ `final_answer` non-null and `action` null. | planned |
| PLN-31 | `finish==false` ⇒ `action` non-null, one of `a\|b`. | done |
| HND-01 | Every agent handoff is an explicit object. | planned |
| HND-01a | Source agent id. | planned |
| HND-01b | Target agent id. | planned |
| B-01 | Salvage against failure. | Never a success. | planned |
"""
ROWS = read_rows(PAGE)
GOOD = (
    'PLN-30 "finish==true ⇒ final_answer non-null and action null.": a finish without an answer '
    "is refused."
)
PART = 'PLN-30 "final_answer non-null": a finish without an answer is refused.'


def proof(
    docstring: str, *, passed: int = 1, failed: int = 0, name: str = "tests/t.py::test_it"
) -> RecordedTest:
    return RecordedTest(name, docstring, passed, failed)


def outcome(*tests: RecordedTest) -> Mapping[str, bool]:
    return judge(ROWS, find_claims(tests, ROWS))


def faults(*tests: RecordedTest) -> list[str]:
    return find_faults(find_claims(tests, ROWS), ROWS)


def test_the_inventory_counts_224_rows() -> None:
    """Section A has 224 counted rows and fifteen parts, section B 46 resolutions."""
    rows = read_rows(INVENTORY.read_text(encoding="utf-8")).values()
    assert sum(row.counted for row in rows) == 224
    assert sum(row.whole is not None for row in rows) == 15
    assert sum(row.id.startswith("B-") for row in rows) == 46


def test_a_row_is_done_when_its_proof_passed() -> None:
    """A passing test that quotes a row makes it done, and only that row."""
    assert [row_id for row_id, done in outcome(proof(GOOD)).items() if done] == ["PLN-30"]
    assert faults(proof(GOOD)) == []


def test_a_row_is_done_by_all_its_clauses() -> None:
    """One clause of several leaves it planned, whoever quotes it; the tests that quote the others
    may be others.
    """
    rest = proof("PLN-30 “`finish==true` ⇒” and PLN-30 “and action null”", name="b")
    assert not outcome(proof(PART))["PLN-30"]
    assert ROWS["PLN-30"].unquoted(["final_answer non-null"]) == "finish==true ⇒ … and action null."
    assert outcome(proof(PART), rest)["PLN-30"]


def test_sources_and_resolutions_are_no_clauses() -> None:
    """Where a row comes from and what binds it need no proof, nor the conflict that a resolution
    settles.
    """
    row = read_rows("| ING-01 | One door. [S1 §2, S0 P1] [H] → B-04, B-05 | planned |")["ING-01"]
    assert row.unquoted(["One door."]) == ""
    assert ROWS["B-01"].unquoted(["Never a success."]) == ""
    assert faults(proof('B-01 "Salvage against failure."')) == [
        "tests/t.py::test_it: B-01 does not say 'Salvage against failure.'"
    ]


@pytest.mark.parametrize(("passed", "failed"), [(0, 0), (0, 1), (5, 1)])
def test_a_row_is_planned_when_its_proof_did_not_hold(passed: int, failed: int) -> None:
    """A skipped proof proves nothing, and one failing case undoes the others."""
    assert not outcome(proof(GOOD, passed=passed, failed=failed))["PLN-30"]


def test_one_failing_proof_undoes_the_others() -> None:
    """A row with a passing and a failing proof is planned."""
    assert not outcome(proof(GOOD, name="a"), proof(GOOD, passed=0, failed=1, name="b"))["PLN-30"]


def test_a_row_with_parts_is_done_when_all_parts_are() -> None:
    """Naming the whole proves no part of it; the parts together prove the whole."""
    whole, first, second = (
        proof('HND-01 "explicit object".'),
        proof('HND-01a "Source agent id".'),
        proof('HND-01b "Target agent id".'),
    )
    assert not outcome(whole)["HND-01"]
    assert not outcome(first)["HND-01"]
    assert outcome(first, second)["HND-01"]


@pytest.mark.parametrize(
    ("docstring", "fault"),
    [
        ("PLN-30 is proven here.", "quotes no clause of PLN-30"),
        ('PLN-30 "final_answer may be null".', "PLN-30 does not say 'final_answer may be null'"),
        ('PLN-30 "final".', "PLN-30 does not say 'final'"),
        ('PLN-99 "final_answer non-null".', "there is no row PLN-99"),
    ],
)
def test_a_claim_that_quotes_nothing_true_is_a_fault(docstring: str, fault: str) -> None:
    """Naming a row without its words, with other words, or a row that does not exist is
    reported.
    """
    assert faults(proof(docstring)) == [f"tests/t.py::test_it: {fault}"]


def test_a_test_names_three_rows_at_most() -> None:
    """A fourth id in one docstring is reported."""
    docstring = f'{GOOD}\nPLN-31 “one of a|b”\nHND-01a: "Source agent id"\n'
    assert faults(proof(docstring)) == []
    assert faults(proof(docstring + 'HND-01b: "Target agent id"')) == [
        "tests/t.py::test_it: names 4 rows, 3 at most"
    ]


def test_other_words_with_numbers_are_no_claims() -> None:
    """UTF-8, SHA-256 and their like name no row."""
    assert find_claims([proof("Invalid UTF-8 and SHA-256 are understood.")], ROWS) == []


def test_rewriting_changes_statuses_only() -> None:
    """The page with new statuses differs from the old one in the status words alone."""
    rewritten = rewrite(PAGE, outcome(proof(GOOD)))
    assert {row.id for row in read_rows(rewritten).values() if row.done} == {"PLN-30"}
    assert rewritten.replace("done", "planned") == PAGE.replace("done", "planned")


def test_the_recording_is_read_as_written() -> None:
    """A recording's entries become tests with their counts."""
    recording = json.dumps(
        {"t.py::test_a": {"docstring": "Says.", "passed": 2, "failed": 0, "skipped": 1}}
    )
    assert read_tests(recording) == [RecordedTest("t.py::test_a", "Says.", 2, 0)]


def test_the_page_must_equal_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command fails while page and run differ, `--write` mends the page, and the last line
    counts.
    """
    page, recording = tmp_path / "page.md", tmp_path / "tests.json"
    page.write_text(PAGE, encoding="utf-8")
    recording.write_text(
        json.dumps({"t.py::test_a": {"docstring": GOOD, "passed": 1, "failed": 0, "skipped": 0}}),
        encoding="utf-8",
    )
    monkeypatch.setattr(requirements, "INVENTORY", page)
    monkeypatch.setattr(requirements, "RECORDING", recording)
    assert requirements.main([]) == 1
    assert "PLN-31: the page says done, this run says planned" in capsys.readouterr().out
    assert requirements.main(["--write"]) == 0
    assert requirements.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "done 1 of 3"
