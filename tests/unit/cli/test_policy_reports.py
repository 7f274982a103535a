"""The report of a tried policy, as Markdown for people, as data and as JUnit."""

from xml.etree import ElementTree as ET

import pytest

from ordain.cli.policy_findings import (
    PolicyFinding,
    PolicyFindingKind,
    ReasonTold,
    RunFate,
    RunJudged,
)
from ordain.cli.policy_reports import (
    NAMED_RUNS,
    SHOWN_RUNS,
    PolicyReport,
    as_data,
    as_junit,
    as_markdown,
    told,
)


def _judged(run: str) -> RunJudged:
    finding = PolicyFinding(
        kind=PolicyFindingKind.NEW_DENY,
        run=run,
        root=run,
        flow="turn@9",
        rule="entry",
        verb="chat",
        address="0/entry#0",
        before=ReasonTold(code="entry.of_mode", words="The mode's own entry verb"),
        after=ReasonTold(code="entry.inactive_verb", words="The verb is switched off here"),
        exact=True,
    )
    return RunJudged(
        run=run,
        flow="turn@9",
        fate=RunFate.OUTCOME,
        findings=(finding,),
        unreadable=(),
        others={},
    )


@pytest.mark.parametrize("number", [1, NAMED_RUNS, NAMED_RUNS + 1, SHOWN_RUNS, SHOWN_RUNS + 1])
def test_a_finding_is_one_line_however_many_runs_it_is_of(number: int) -> None:
    """Beside what a finding says stand how many runs it is of and the first few; the others are
    folded below it, as many as are shown at all, and what is beyond is counted.
    """
    runs = [f"{at:032x}" for at in range(number)]
    report = PolicyReport(policy="p.toml", fails=frozenset(), runs=[*map(_judged, runs)])
    text = as_markdown(report)
    (line,) = [one for one in text.split("\n") if one.startswith("- chat: ")]
    assert f": {number} run{'' if number == 1 else 's'}: " in line
    assert [run for run in runs if run in line] == runs[:NAMED_RUNS]
    assert [run for run in runs if run in text] == runs[:SHOWN_RUNS]
    folded = max(0, number - NAMED_RUNS)
    assert (f"  <summary>{folded} more</summary>\n" in text) == bool(folded)
    assert (f" and {number - SHOWN_RUNS} more\n" in text) == (number > SHOWN_RUNS)
    assert text.count("<details>") == text.count("</details>") == bool(folded)


def test_words_without_a_code_end_without_a_stop() -> None:
    """More follows on their line: the runs that it is about."""
    place = ReasonTold(code="", words="What goes into effect 2 is made from the policy.")
    nothing = ReasonTold(code="", words="")
    said = told((PolicyFindingKind.COURSE, "", "", nothing, place, True))
    assert said == "What goes into effect 2 is made from the policy"


def test_every_report_says_that_the_ledger_does_not_hold() -> None:
    """What was taken out of a store is among no runs: data, Markdown and JUnit tell it each, and
    one whose ledger holds tells nothing.
    """
    why = "the ledger over this store does not hold (journal_corrupt: run 01)"
    for ledger in (why, ""):
        report = PolicyReport(
            policy="p.toml", fails=frozenset(), runs=[_judged("0" * 32)], ledger=ledger
        )
        assert as_data(report)["ledger"] == ledger
        assert ("ledger over this store does not hold" in as_markdown(report)) == bool(ledger)
        suite = ET.fromstring(as_junit(report))
        assert suite.get("errors") == str(int(bool(ledger)))
        assert suite.get("tests") == str(1 + bool(ledger))
        assert [one.get("message") for one in suite.iter("error")] == [ledger] * bool(ledger)
