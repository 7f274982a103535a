"""Laws of pinned wording: whatever phrase goes or comes, what was recorded replays as it was; and a diff tells which decisions would be others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ordain.contracts.catalog import Catalog, CatalogData
from ordain.contracts.policy import Policy
from ordain.effects.effect import Wait, WaitFor
from ordain.errors import JournalCorrupt
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.shipped import shipped_kinds
from ordain.journal.codec import Scribe
from ordain.journal.records import DecisionBody, RecordKind, Started, Status, raw
from ordain.ports.sessions import Entry, EntryKind
from ordain.ports.store import StoredRun
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, ExpectedType
from ordain.rules.decision import Rule
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.replay import EndOfJournal, NothingBeyond, drive_to_end, replay
from ordain.runtime.services import Catalogs
from ordain.runtime.setup import RunSetup
from ordain.runtime.wording_diff import COMPARED, answers_read, messages_read
from ordain.wording.languages import shipped_table
from ordain.wording.table import Table
from ordain.wording.wording import Wording, compiled, first_wording, wording_of
from tests.replay.golden_file import GOLDEN, GoldenTalk, read, read_talk

RUNS = {f"{file.parent.name}/{file.stem}": read(file) for file in sorted(GOLDEN.glob("v*/*.json"))}
TALKS = {file.stem: read_talk(file) for file in sorted(GOLDEN.glob("talks/*.json"))}
PHRASES = [(sign, phrase) for sign, named in shipped_table().phrases for phrase in named]
SMALL = Table.of([("stop", ["halt", "knofi"]), ("yes", ["jo", "knofi"]), ("no", ["noi"]), ("two", ["zwoi"]), ("date", ["heit"])])
ANSWERS = (("yes_no", "jo"), ("yes_no", "noi"), ("yes_no", "knofi"), ("choice", "zwoi"), ("date_time", "heit"), ("location", "Ulm"))


def catalog_with(table: Table) -> Catalog:
    """A catalog that pins a table."""
    data = CatalogData(policy=Policy(version=1), wording=f"1:{table.digest}")
    return Catalog(data, {table.digest: table.encoded}.get)


def without(table: Table, sign: str, phrase: str) -> Table:
    """The table without one phrase."""
    return Table.of(((name, [one for one in named if (name, one) != (sign, phrase)]) for name, named in table.phrases), table.lists)


def having(table: Table, sign: str, phrase: str) -> Table:
    """The table with one more phrase, which comes before all others."""
    return Table.of([(sign, [phrase]), *table.phrases], table.lists)


changed = st.sampled_from(PHRASES).map(lambda pair: without(shipped_table(), *pair)) | st.builds(
    having,
    st.just(shipped_table()),
    st.sampled_from([sign for sign, _ in shipped_table().phrases]),
    st.sampled_from(["yes", "B", "Lisbon"]),
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(changed)
def test_any_phrase_may_go_or_come(table: Table) -> None:
    """Under a current catalog whose table has one phrase less or more, every golden run and conversation replays equal under its own."""
    current = catalog_with(table)
    wording_of(current)
    for name, golden in RUNS.items():
        pinned = Catalogs(current, {golden.compiled().digest: golden.catalog}.get).pinned(golden.compiled().digest)
        assert (name, replay(golden.run, pinned, shipped_kinds()).verdict) == (name, "equal")
    for name, talk in TALKS.items():
        pinned = Catalogs(current, {talk.compiled().digest: talk.catalog}.get).pinned(talk.compiled().digest)
        verdicts = {replay(run, pinned, shipped_kinds(), talk.read).verdict for run in talk.runs}
        assert (name, verdicts) == (name, {"equal"})


class Asked(Struct, frozen=True, kw_only=True):
    """What the flow of these laws is given: questions with the answers that they got."""

    answers: tuple[tuple[str, str], ...]


async def judge(context: FlowContext, given: Asked) -> None:
    """Judge each answer by rule ``answer`` with the pinned wording, as flows do; then wait, so that the run has no end yet."""
    wording = wording_of(context.catalog)
    for expects, text in given.answers:
        facts = AnswerFacts(expects=ExpectedType(expects), size=len(text))
        context.fx.decide(ANSWER, facts, AnswerInputs(text=text, wording=wording))
    await context.fx.perform(Wait(what=WaitFor.ANSWER, about="", deadline=0))


def settled(_: object) -> Settlement:
    """However it was answered, it is done."""
    return Settlement(status=Status.COMPLETED, reason="ok")


JUDGE: Kind[Asked, None] = Kind(
    name="judge", version=1, run=judge, decode_input=msgspec.json.Decoder(Asked).decode, settle=settled, rules=(ANSWER,)
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
    opening = Opening(run="r", workspace="w", principal="p", subject="s", input=raw(given), key=key, at=0, deadline=10**15)
    new = root_run(JUDGE, opening, catalog)
    keeping = _Keeping(Scribe("r", key, new.started))
    setup = RunSetup.of("r", JUDGE, msgspec.json.decode(new.started.body or b"", type=Started), catalog)
    with pytest.raises(EndOfJournal):
        drive_to_end(judge(setup.context(setup.execution((new.started,), keeping, setup.state(0))), given))
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
        records=(new.started, *keeping.records),
    )


@pytest.mark.parametrize("gone", [(sign, phrase) for sign, named in SMALL.phrases for phrase in named])
def test_answers_replay_whatever_the_current_table_says(gone: tuple[str, str]) -> None:
    """Of a small table, whichever phrase goes from the current one or comes under another sign: the run that pinned it replays equal."""
    catalog = catalog_with(SMALL)
    run = recorded(catalog)
    stored = dict(catalog.stored)
    for table in (without(SMALL, *gone), having(SMALL, "thanks", gone[1])):
        current = catalog_with(table)
        pinned = Catalogs(current, {**stored, **dict(current.stored)}.get).pinned(catalog.digest)
        assert wording_of(pinned).id == catalog.wording_id
        report = replay(run, pinned, KINDS)
        assert (report.verdict, report.decisions, report.differences) == ("equal", len(ANSWERS), [])


def test_a_diff_names_the_answers_that_would_be_others() -> None:
    """Without a phrase, the answers that it carried are others, each with its address; with the recorded wording none is."""
    catalog = catalog_with(SMALL)
    run = recorded(catalog)
    same = answers_read(run, catalog, wording_of(catalog), KINDS)
    assert (same.verdict, same.judged, same.flips) == (COMPARED, len(ANSWERS), [])
    other = answers_read(run, catalog, compiled(without(SMALL, "yes", "jo")), KINDS)
    assert [(flip.address, flip.rule) for flip in other.flips] == [("0/answer#0", "answer")]
    assert "answer.unfit" in other.flips[0].now
    assert answers_read(RUNS[next(iter(RUNS))].run, catalog, wording_of(catalog), KINDS).judged == 0


@pytest.mark.parametrize(("altered", "says"), [(None, "not stored"), (SMALL.encoded, "was altered"), (b"[]", "altered")])
def test_a_wording_that_is_nowhere_is_read_with_no_other(altered: bytes | None, says: str) -> None:
    """A catalog whose table was lost or altered has no wording, and no run that pins it replays."""
    catalog = catalog_with(having(SMALL, "stop", f"nobody has compiled this: {says}"))
    ((table, _), (digest, encoded)) = catalog.stored
    left = {digest: encoded} if altered is None else {digest: encoded, table: altered}
    with pytest.raises(JournalCorrupt, match=says):
        wording_of(Catalogs(catalog_with(SMALL), left.get).pinned(digest))


class _Told:
    """A golden conversation's transcript, as the port reads it."""

    def __init__(self, talk: GoldenTalk) -> None:
        self._entries = talk.transcript

    def entries(self, workspace: str, session: str, *, after: int, limit: int) -> Sequence[Entry]:
        return [entry for entry in self._entries if entry.seq > after][:limit]


@cache
def texts_of(name: str) -> list[str]:
    """What people said in a golden conversation."""
    return [msgspec.json.decode(entry.body or b"{}")["text"] for entry in TALKS[name].transcript if entry.kind is EntryKind.MESSAGE]


@pytest.mark.parametrize("name", sorted(TALKS))
def test_messages_read_as_they_were_are_decided_as_they_were(name: str) -> None:
    """With the wording that they were read with no decision about a message is another; without its one phrase some are."""
    talk = TALKS[name]

    def read_with(wording: Wording) -> Any:
        return messages_read(_Told(talk), "default", "s1", wording, lambda _: talk.compiled())  # type: ignore[arg-type]

    report = read_with(first_wording())
    assert (report.verdict, report.judged, report.unjudged, report.flips) == (COMPARED, len(texts_of(name)), 0, [])
    if "stop" in texts_of(name):
        flips = read_with(compiled(without(shipped_table(), "stop", "stop"))).flips
        assert flips
        assert all(flip.address.endswith("/attach") and "attach." in flip.now for flip in flips)


def test_what_was_erased_is_not_judged() -> None:
    """A message without its text counts, and decides nothing."""
    talk = next(iter(TALKS.values()))
    erased = msgspec.structs.replace(talk, transcript=tuple(msgspec.structs.replace(entry, body=None) for entry in talk.transcript))
    report = messages_read(_Told(erased), "default", "s1", compiled(Table.of([])), lambda _: talk.compiled())  # type: ignore[arg-type]
    assert (report.judged, report.flips) == (0, [])
    assert report.unjudged == len(texts_of(next(iter(TALKS))))
