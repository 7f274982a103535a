"""Laws of the journal's codec: whatever is changed is noticed, whatever is erased is not missed,
time never runs back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ordain.errors import Erased, JournalCorrupt
from ordain.journal.codec import Scribe, decode, verify
from ordain.journal.digests import (
    DIGEST_BYTES,
    KEY_BYTES,
    chain,
    content_digest,
    derived_id,
    digest,
    keyed_digests,
)
from ordain.journal.records import (
    BODY_OF,
    CURRENT_VERSION,
    ENCODER,
    NULL,
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    DeliveredBody,
    EndedBody,
    FaultedBody,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    ResumedBody,
    Started,
    Status,
    SuspendedBody,
    raw,
)
from ordain.journal.upcasters import UPCASTERS, upcast
from ordain.rules.spend import Spend

texts = st.text(st.characters(codec="utf-8"), max_size=10)
numbers = st.integers(-(2**62), 2**62)
values = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    texts,
    st.lists(texts, max_size=2),
    st.dictionaries(texts, numbers, max_size=2),
).map(raw)
keys = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
runs = st.text("0123456789abcdef", min_size=1, max_size=32)
spends = st.builds(
    Spend, tokens=numbers, usd_micros=numbers, model_calls=numbers, verb_calls=numbers
)

STRATEGIES: dict[RecordKind, st.SearchStrategy[Any]] = {
    RecordKind.STARTED: st.builds(
        Started,
        flow=texts,
        flow_version=numbers,
        catalog=texts,
        input=values,
        workspace=texts,
        principal=texts,
        subject=texts,
        parent=st.one_of(st.none(), texts),
        scope=st.lists(texts, max_size=2).map(tuple),
        deadline=numbers,
        allowance=spends,
        keep_thoughts=st.booleans(),
    ),
    RecordKind.DECISION: st.builds(
        DecisionBody,
        addr=texts,
        outcome=values,
        reason=texts,
        facts=values,
        refs=st.lists(numbers, max_size=3).map(tuple),
    ),
    RecordKind.CLAIM: st.builds(
        ClaimBody, addr=numbers, claim=values, outcome=values, reason=texts, facts=values
    ),
    RecordKind.INTENT: st.builds(IntentBody, addr=numbers, effect=values),
    RecordKind.OBSERVATION: st.builds(
        ObservationBody, addr=numbers, result=values, catalog=texts, mail=numbers
    ),
    RecordKind.DELIVERED: st.builds(
        DeliveredBody, addr=numbers, mail=numbers, what=texts, by=texts, why=texts
    ),
    RecordKind.CHILD_ENDED: st.builds(
        ChildEndedBody, addr=numbers, index=numbers, child=texts, ended=values, mail=numbers
    ),
    RecordKind.SUSPENDED: st.builds(
        SuspendedBody, addr=numbers, waits_for=texts, wake_at=st.one_of(st.none(), numbers)
    ),
    RecordKind.RESUMED: st.builds(ResumedBody, by=texts, why=texts),
    RecordKind.ENDED: st.builds(
        EndedBody, status=st.sampled_from(Status), reason=texts, header=texts, result=values
    ),
    RecordKind.FAULTED: st.builds(FaultedBody, error=texts, where=texts),
    RecordKind.NOTE: st.builds(NoteBody, by=texts, action=texts, why=texts, details=values),
}
bodies = st.one_of([st.tuples(st.just(kind), strategy) for kind, strategy in STRATEGIES.items()])
clocks = st.integers(0, 2**53)
entries = st.lists(st.tuples(bodies, texts, clocks), min_size=1, max_size=6)


def written(run: str, key: bytes, given_entries: list[Any]) -> list[Record]:
    scribe = Scribe(run, key)
    return [scribe.write(kind, name, body, at) for (kind, body), name, at in given_entries]


def unsealed(body: Any) -> Any:
    """The body as it was given to the scribe, which seals the result of an ending."""
    return msgspec.structs.replace(body, result_digest="") if isinstance(body, EndedBody) else body


def seq_of(error: pytest.ExceptionInfo[JournalCorrupt]) -> object:
    return error.value.details["seq"]


@given(runs, keys, entries)
def test_what_was_written_is_read(run: str, key: bytes, given_entries: list[Any]) -> None:
    """Every body of every kind comes back equal, at its number, and the whole is found intact;
    writing it again gives the same bytes.
    """
    records = written(run, key, given_entries)
    verify(run, key, records)
    assert [record.seq for record in records] == list(range(len(records)))
    assert [unsealed(decode(record)) for record in records] == [
        body for (_, body), _, _ in given_entries
    ]
    assert written(run, key, given_entries) == records


def test_every_kind_has_its_body() -> None:
    """The kinds are closed: each has a body, a version and a place in these laws."""
    assert set(BODY_OF) == set(CURRENT_VERSION) == set(STRATEGIES) == set(RecordKind)


@given(runs, keys, st.lists(clocks, min_size=1, max_size=8))
def test_time_never_runs_back(run: str, key: bytes, moments: list[int]) -> None:
    """A clock that is set back never makes a record older than the one before it; the latest moment
    so far stands.
    """
    scribe = Scribe(run, key)
    records = [
        scribe.write(RecordKind.NOTE, "n", NoteBody(by="b", action="a"), at) for at in moments
    ]
    assert [record.at for record in records] == [max(moments[: i + 1]) for i in range(len(moments))]
    verify(run, key, records)


def _flip(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


CHANGES: dict[str, Callable[[Record], Any]] = {
    "seq": lambda r: r.seq + 1,
    "kind": lambda r: RecordKind.NOTE if r.kind is not RecordKind.NOTE else RecordKind.FAULTED,
    "name": lambda r: r.name + "x",
    "v": lambda r: r.v + 1,
    "at": lambda r: r.at + 1,
    "digest": lambda r: _flip(r.digest),
    "chain": lambda r: _flip(r.chain),
    "body": lambda r: (r.body or b"") + b" ",
}


@pytest.mark.parametrize("field", CHANGES)
@given(runs, keys, entries, st.data())
def test_any_change_of_a_record_is_noticed(
    field: str, run: str, key: bytes, given_entries: list[Any], data: st.DataObject
) -> None:
    """Changing any one field of any one record is corruption, found at that record."""
    records = written(run, key, given_entries)
    place = data.draw(st.integers(0, len(records) - 1))
    records[place] = msgspec.structs.replace(
        records[place], **{field: CHANGES[field](records[place])}
    )
    with pytest.raises(JournalCorrupt) as error:
        verify(run, key, records)
    assert seq_of(error) == place


def test_every_field_of_a_record_is_covered() -> None:
    """The changes above are of all fields that a record has."""
    assert set(CHANGES) == set(Record.__struct_fields__)


@given(runs, keys, entries.filter(lambda found: len(found) > 1), st.data())
def test_records_missing_moved_or_repeated_are_noticed(
    run: str, key: bytes, given_entries: list[Any], data: st.DataObject
) -> None:
    """A record left out (but for the last), put elsewhere or doubled breaks the journal."""
    records = written(run, key, given_entries)
    place = data.draw(st.integers(0, len(records) - 2))
    swapped = [*records[:place], records[place + 1], records[place], *records[place + 2 :]]
    doubled = [*records[: place + 1], records[place], *records[place + 1 :]]
    for broken in (records[:place] + records[place + 1 :], swapped, doubled):
        with pytest.raises(JournalCorrupt):
            verify(run, key, broken)
    verify(run, key, records[:place])  # a prefix is a journal: the head is kept elsewhere


@given(runs, runs, keys, keys, entries, entries)
def test_records_of_another_run_or_subject_are_noticed(
    run: str, other: str, key: bytes, other_key: bytes, first: list[Any], second: list[Any]
) -> None:
    """A whole journal passed off as another run's, or checked with another subject's key, is
    corrupt; so is one joined from two.
    """
    assume(run != other and key != other_key)
    records, others = written(run, key, first), written(other, key, second)
    for named, with_key, found in (
        (other, key, records),
        (run, other_key, records),
        (run, key, others),
    ):
        with pytest.raises(JournalCorrupt):
            verify(named, with_key, found)
    joined = [*records, *(msgspec.structs.replace(r, seq=r.seq + len(records)) for r in others)]
    with pytest.raises(JournalCorrupt):
        verify(run, key, joined)


@given(runs, keys, entries, st.data())
def test_renumbering_and_relinking_needs_the_key(
    run: str, key: bytes, given_entries: list[Any], data: st.DataObject
) -> None:
    """Whoever rewrites body and chain but lacks the subject's key is found out by the digest."""
    records = written(run, key, given_entries)
    place = data.draw(st.integers(0, len(records) - 1))
    forged = msgspec.structs.replace(
        records[place], body=b'{"forged":1}', digest=digest(bytes(KEY_BYTES), b'{"forged":1}')
    )
    assume(key != bytes(KEY_BYTES))
    previous = records[place - 1].chain if place else bytes(DIGEST_BYTES)
    relinked: list[Record] = []
    for record in (forged, *records[place + 1 :]):
        link = chain(
            previous,
            run,
            record.seq,
            (record.kind, record.name, record.v, record.at),
            record.digest,
        )
        relinked.append(msgspec.structs.replace(record, chain=link))
        previous = link
    with pytest.raises(JournalCorrupt) as error:
        verify(run, key, [*records[:place], *relinked])
    assert seq_of(error) == place


@given(runs, keys, entries, st.sets(st.integers(0, 5)))
def test_erased_bodies_leave_the_chain_whole(
    run: str, key: bytes, given_entries: list[Any], erased: set[int]
) -> None:
    """With any bodies erased, and also with the key destroyed, the journal is intact; an erased
    body reads as erased, not as damage.
    """
    records = [
        msgspec.structs.replace(r, body=None) if r.seq in erased else r
        for r in written(run, key, given_entries)
    ]
    verify(run, key, records)
    verify(run, None, records)
    for record in records:
        if record.seq in erased:
            with pytest.raises(Erased):
                decode(record)
    for place in range(len(records)):
        broken = [msgspec.structs.replace(r, at=r.at + 1) if r.seq == place else r for r in records]
        with pytest.raises(JournalCorrupt):
            verify(run, None, broken)


@given(runs, keys, entries, st.integers(0, 5))
def test_a_refused_suspension_leaves_no_trace(
    run: str, key: bytes, given_entries: list[Any], back: int
) -> None:
    """Going back to a mark makes the next record the one that would have followed it."""
    scribe = Scribe(run, key)
    expected = written(run, key, given_entries)
    for number, ((kind, body), name, at) in enumerate(given_entries):
        mark = scribe.mark()
        if number == back:
            scribe.write(RecordKind.NOTE, "never", NoteBody(by="b", action="a"), 2**60)
            scribe.back_to(mark)
        assert scribe.write(kind, name, body, at) == expected[number]
    again = Scribe(run, key, expected[-1])
    follow = again.write(RecordKind.NOTE, "n", NoteBody(by="b", action="a"), 0)
    verify(run, key, [*expected, follow])


@pytest.mark.parametrize("kind", RecordKind)
@pytest.mark.parametrize("version", [-1, 0, "next", 99])
def test_versions_never_written_are_refused(kind: RecordKind, version: int | str) -> None:
    """A body of a newer version, or of one that never was, is refused and not guessed at."""
    number = CURRENT_VERSION[kind] + 1 if version == "next" else int(version)
    for body in (b"{}", b""):
        with pytest.raises(JournalCorrupt):
            upcast(kind, number, body)
        with pytest.raises(JournalCorrupt):
            decode(
                Record(seq=3, kind=kind, name="n", v=number, at=1, digest=b"", chain=b"", body=body)
            )


def test_every_old_version_has_its_upcaster() -> None:
    """Each version from the first to the one before the current leads on to the next, and no
    upcaster leads elsewhere.
    """
    assert set(UPCASTERS) == {
        (kind, version)
        for kind, current in CURRENT_VERSION.items()
        for version in range(1, current)
    }


@given(
    st.sampled_from(RecordKind),
    st.integers(-2, 5),
    st.one_of(
        st.binary(max_size=60),
        values.map(bytes),
        st.just(b"[" * 100_000),
        st.just(b'{"addr":' + b"[" * 100_000),
    ),
)
def test_any_bytes_decode_or_are_corrupt(kind: RecordKind, version: int, body: bytes) -> None:
    """Whatever stands in a row, reading it gives a body of its kind or ``journal_corrupt``, never
    another failure.
    """
    record = Record(seq=0, kind=kind, name="n", v=version, at=0, digest=b"", chain=b"", body=body)
    try:
        body_read = decode(record)
    except JournalCorrupt:
        return
    assert isinstance(body_read, BODY_OF[kind])


@given(keys, keys, st.binary(), st.binary())
def test_digests_tell_bodies_and_keys_apart(
    key: bytes, other: bytes, body: bytes, another: bytes
) -> None:
    """A digest depends on body and key, so that without the key nobody can test a guess; a content
    address on the content alone.
    """
    assert (digest(key, body) == digest(other, another)) == ((key, body) == (other, another))
    of = keyed_digests(key)
    assert [of(body), of(another), of(body)] == [
        digest(key, body),
        digest(key, another),
        digest(key, body),
    ]
    assert (content_digest(body) == content_digest(another)) == (body == another)


@given(runs, runs, st.integers(0, 99), st.integers(0, 99), st.integers(0, 9), st.integers(0, 9))
def test_derived_ids_are_of_their_place(
    run: str, other: str, addr: int, elsewhere: int, k: int, j: int
) -> None:
    """The same place gives the same id, another run, address or count another one."""
    assert (derived_id(run, addr, k) == derived_id(other, elsewhere, j)) == (
        (run, addr, k) == (other, elsewhere, j)
    )


@given(
    runs, keys, STRATEGIES[RecordKind.ENDED].filter(lambda body: body.result != raw(None)), values
)
def test_a_swept_result_is_no_damage_and_nothing_else_is_excused(
    run: str, key: bytes, ended: EndedBody, forged: Any
) -> None:
    """An ended body is intact with its result and without it; with another result, header, reason
    or seal it is not.
    """
    (record,) = written(run, key, [((RecordKind.ENDED, ended), "end", 1)])
    sealed = decode(record)

    def check(**changes: Any) -> None:
        verify(
            run,
            key,
            [
                msgspec.structs.replace(
                    record, body=ENCODER.encode(msgspec.structs.replace(sealed, **changes))
                )
            ],
        )

    check()
    check(result=NULL)
    if forged not in (ended.result, raw(None)):
        with pytest.raises(JournalCorrupt):
            check(result=forged)
    for changes in (
        {"header": ended.header + "!"},
        {"reason": ended.reason + "!"},
        {"result_digest": ""},
        {"result_digest": "00" * DIGEST_BYTES},
    ):
        for result in (sealed.result, NULL):
            with pytest.raises(JournalCorrupt):
                check(**changes, result=result)


@given(
    runs,
    keys,
    st.one_of(
        st.binary(max_size=40),
        st.just(b"[" * 100_000),
        st.just(b'{"result":' + b"[" * 100_000),
        st.just(b'{"result_digest":7}'),
    ),
)
def test_an_ending_of_any_bytes_is_checked(run: str, key: bytes, body: bytes) -> None:
    """Whatever stands in an ended row in place of its body is corruption, never another failure."""
    (record,) = written(
        run,
        key,
        [
            (
                (RecordKind.ENDED, EndedBody(status=Status.COMPLETED, reason="ok", header="h")),
                "end",
                1,
            )
        ],
    )
    with pytest.raises(JournalCorrupt):
        verify(run, key, [msgspec.structs.replace(record, body=body)])
