"""Laws of pinned wording: whatever phrase goes or comes, what was recorded replays as it was; and a
diff tells which decisions would be others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.effects.effect import Wait, WaitFor
from ordain.errors import JournalCorrupt
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.shipped import shipped_kinds
from ordain.journal.codec import Scribe
from ordain.journal.records import DecisionBody, RecordKind, Status, raw
from ordain.ports.sessions import Entry, EntryKind
from ordain.ports.store import StoredRun
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, ExpectedType
from ordain.rules.decision import Rule
from ordain.runtime.diff import diff
from ordain.runtime.flow_outcome import NothingBeyond, OutOfJournal, flow_outcome
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.replay import replay
from ordain.runtime.services import Catalogs
from ordain.runtime.setup import RunSetup
from ordain.runtime.wording_diff import COMPARED, answers_read, messages_read
from ordain.testing import ScriptedEffects
from ordain.wording.languages import shipped_table
from ordain.wording.table import Table
from ordain.wording.wording import Wording, compiled, wording_of
from tests.at_once import at_once, awaited
from tests.replay.golden_file import GOLDEN, GoldenTalk, read, read_talk
from tests.replay.mutate import begun_with

RUNS = {f"{file.parent.name}/{file.stem}": read(file) for file in sorted(GOLDEN.glob("v*/*.json"))}
TALKS = {file.stem: read_talk(file) for file in sorted(GOLDEN.glob("talks/*.json"))}
SMALL = Table.of(
    [
        ("stop", ["halt", "knofi"]),
        ("yes", ["jo", "knofi"]),
        ("no", ["noi"]),
        ("two", ["zwoi"]),
        ("date", ["heit"]),
    ]
)
ANSWERS = (
    ("yes_no", "jo"),
    ("yes_no", "noi"),
    ("yes_no", "knofi"),
    ("choice", "zwoi"),
    ("date_time", "heit"),
    ("location", "Ulm"),
)


def catalog_with(table: Table) -> Catalog:
    """A catalog that pins a table."""
    data = CatalogData(policy=Policy(version=1), wording=f"1:{table.digest}")
    return Catalog(data, {table.digest: table.encoded}.get)


def without(table: Table, sign: str, phrase: str) -> Table:
    """The table without one phrase."""
    return Table.of(
        (
            (name, [one for one in named if (name, one) != (sign, phrase)])
            for name, named in table.phrases
        ),
        table.lists,
    )


def having(table: Table, sign: str, phrase: str) -> Table:
    """The table with one more phrase, which comes before all others."""
    return Table.of([(sign, [phrase]), *table.phrases], table.lists)


class Asked(Struct, frozen=True, kw_only=True):
    """What the flow of these laws is given: questions with the answers that they got."""

    answers: tuple[tuple[str, str], ...]


async def judge(context: FlowContext, given: Asked) -> None:
    """Judge each answer by rule ``answer`` with the pinned wording, as flows do; then wait, so that
    the run has no end yet.
    """
    wording = wording_of(context.catalog)
    for expects, text in given.answers:
        facts = AnswerFacts(expects=ExpectedType(expects), size=len(text))
        context.fx.decide(ANSWER, facts, AnswerInputs(text=text, wording=wording))
    await context.fx.perform(Wait(what=WaitFor.ANSWER, about="", deadline=0))


def settled(_: object) -> Settlement:
    """However it was answered, it is done."""
    return Settlement(status=Status.COMPLETED, reason="ok")


JUDGE: Kind[Asked, None] = Kind(
    name="judge",
    version=1,
    run=judge,
    decode_input=msgspec.json.Decoder(Asked).decode,
    settle=settled,
    rules=(ANSWER,),
)
KINDS = shipped_kinds((JUDGE,))


class _Keeping(NothingBeyond):
    """Keeps what is decided as records."""

    def __init__(self, scribe: Scribe) -> None:
        self.scribe, self.records = scribe, list[Any]()

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        self.records.append(self.scribe.write(RecordKind.DECISION, rule.name, body, 0))


def recorded(catalog: Catalog, answers: Sequence[tuple[str, str]] = ANSWERS) -> StoredRun:
    """A run of that flow as it is stored, up to before its end."""
    given, key = Asked(answers=tuple(answers)), bytes(32)
    opening = Opening(
        run="r",
        workspace="w",
        principal="p",
        subject="s",
        input=raw(given),
        key=key,
        at=0,
        deadline=10**15,
    )
    new = root_run(JUDGE, opening, catalog)
    keeping = _Keeping(Scribe("r", key, new.record))
    setup = RunSetup.of("r", JUDGE, new.started, catalog, KINDS)
    assert (
        flow_outcome(setup, setup.execution((new.record,), keeping, setup.state(0)), keeping)
        == OutOfJournal()
    )
    return StoredRun(
        id="r",
        flow=JUDGE.name,
        flow_version=JUDGE.version,
        workspace="w",
        subject="s",
        catalog=catalog.digest,
        key=key,
        status=Status.RUNNING,
        reason="",
        parent=None,
        parent_addr=0,
        index=0,
        root="r",
        resumes=0,
        wake_at=None,
        created_at=0,
        ended_at=None,
        records=(new.record, *keeping.records),
    )


@pytest.mark.parametrize(
    "gone", [(sign, phrase) for sign, named in SMALL.phrases for phrase in named]
)
def test_answers_replay_whatever_the_current_table_says(gone: tuple[str, str]) -> None:
    """Of a small table, whichever phrase goes from the current one or comes under another sign: the
    run that pinned it replays equal.
    """
    catalog = catalog_with(SMALL)
    run = recorded(catalog)
    stored = dict(catalog.stored)
    for table in (without(SMALL, *gone), having(SMALL, "thanks", gone[1])):
        current = catalog_with(table)
        pinned = at_once(
            Catalogs(current, awaited({**stored, **dict(current.stored)}.get)).pinned(
                catalog.digest
            )
        )
        assert wording_of(pinned).id == catalog.wording_id
        report = replay(run, pinned, KINDS)
        assert (report.verdict, report.decisions, report.differences) == ("equal", len(ANSWERS), [])


def test_a_diff_names_the_answers_that_would_be_others() -> None:
    """Without a phrase, the answers that it carried are others, each with its address; with the
    recorded wording none is.
    """
    catalog = catalog_with(SMALL)
    run = recorded(catalog)
    same = answers_read(run, catalog, wording_of(catalog), KINDS)
    assert (same.verdict, same.judged, same.flips) == (COMPARED, len(ANSWERS), [])
    other = answers_read(run, catalog, compiled(without(SMALL, "yes", "jo")), KINDS)
    assert [(flip.address, flip.rule) for flip in other.flips] == [("0/answer#0", "answer")]
    assert "answer.unfit" in other.flips[0].now
    assert answers_read(RUNS[next(iter(RUNS))].run, catalog, wording_of(catalog), KINDS).judged == 0


def test_a_run_is_read_with_the_wording_that_it_began_with() -> None:
    """A build that reads with another one under the same catalog does not replay it; a run that
    names none is read by its catalog's.
    """
    catalog = catalog_with(SMALL)
    run = recorded(catalog)
    verdicts = [
        replay(begun_with(run, wording), catalog, KINDS).verdict
        for wording in (catalog.wording_id, "", "1:another")
    ]
    assert verdicts == ["equal", "equal", "journal_diverged"]


async def judge_and_break(context: FlowContext, given: Asked) -> None:
    """Judge each answer, then meet a bug."""
    wording = wording_of(context.catalog)
    for expects, text in given.answers:
        facts = AnswerFacts(expects=ExpectedType(expects), size=len(text))
        context.fx.decide(ANSWER, facts, AnswerInputs(text=text, wording=wording))
    raise ZeroDivisionError


def test_a_run_that_has_faulted_is_compared_as_far_as_it_came() -> None:
    """Its fault stands in its journal: it is no error of the comparison, with words or with
    policy.
    """
    catalog = catalog_with(SMALL)
    kind = replace(JUDGE, run=judge_and_break)
    run = ScriptedEffects(kind, catalog).play(Asked(answers=ANSWERS), faults=True).stored
    kinds = shipped_kinds((kind,))
    assert replay(run, catalog, kinds).verdict == "equal"
    report = answers_read(run, catalog, compiled(without(SMALL, "yes", "jo")), kinds)
    assert (report.verdict, report.judged, [flip.address for flip in report.flips]) == (
        COMPARED,
        len(ANSWERS),
        ["0/answer#0"],
    )
    other = diff(run, catalog, catalog.policy, kinds, lambda _: None)
    assert (other.verdict, other.flips) == ("flow_fault:ZeroDivisionError", [])


@pytest.mark.parametrize(
    ("altered", "says"), [(None, "not stored"), (SMALL.encoded, "was altered"), (b"[]", "altered")]
)
def test_a_wording_that_is_nowhere_is_read_with_no_other(altered: bytes | None, says: str) -> None:
    """A catalog whose table was lost or altered has no wording, and no run that pins it replays."""
    catalog = catalog_with(having(SMALL, "stop", f"nobody has compiled this: {says}"))
    ((table, _), (digest, encoded)) = catalog.stored
    left = {digest: encoded} if altered is None else {digest: encoded, table: altered}
    with pytest.raises(JournalCorrupt, match=says):
        wording_of(at_once(Catalogs(catalog_with(SMALL), awaited(left.get)).pinned(digest)))


class _Told:
    """A golden conversation's transcript, as the port reads it."""

    def __init__(self, talk: GoldenTalk) -> None:
        self._entries = talk.transcript

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        return [entry for entry in self._entries if entry.seq > after][:limit]


@cache
def texts_of(name: str) -> list[str]:
    """What people said in a golden conversation."""
    return [
        msgspec.json.decode(entry.body or b"{}")["text"]
        for entry in TALKS[name].transcript
        if entry.kind is EntryKind.MESSAGE
    ]


@pytest.mark.parametrize("name", sorted(TALKS))
def test_messages_read_as_they_were_are_decided_as_they_were(name: str) -> None:
    """With the wording that they were read with no decision about a message is another; without its
    one phrase some are.
    """
    talk = TALKS[name]

    def read_with(wording: Wording) -> Any:
        return at_once(
            messages_read(_Told(talk), "default", "s1", wording, awaited(lambda _: talk.compiled()))
        )  # type: ignore[arg-type]

    report = read_with(wording_of(talk.compiled()))
    assert (report.verdict, report.judged, report.unjudged, report.flips) == (
        COMPARED,
        len(texts_of(name)),
        0,
        [],
    )
    if "stop" in texts_of(name):
        flips = read_with(compiled(without(shipped_table(), "stop", "stop"))).flips
        assert flips
        assert all(flip.address.endswith("/attach") and "attach." in flip.now for flip in flips)


def test_what_was_erased_is_not_judged() -> None:
    """A message without its text counts, and decides nothing."""
    talk = next(iter(TALKS.values()))
    erased = msgspec.structs.replace(
        talk,
        transcript=tuple(msgspec.structs.replace(entry, body=None) for entry in talk.transcript),
    )
    report = at_once(
        messages_read(
            _Told(erased),
            "default",
            "s1",
            compiled(Table.of([])),
            awaited(lambda _: talk.compiled()),
        )
    )  # type: ignore[arg-type]
    assert (report.judged, report.flips) == (0, [])
    assert report.unjudged == len(texts_of(next(iter(TALKS))))
