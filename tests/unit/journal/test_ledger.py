"""The ledger: its rows are a chain, its last word about a thing has to stand, and what does not is
named.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import JournalCorrupt
from ordain.journal.ledger import ITEMS_IN_ROW, LedgerFold, LedgerRow, in_rows, next_row
from ordain.journal.ledger_items import (
    COVERS_WORDS,
    UNDER_WAY,
    LedgerItem,
    account_item,
    asked_item,
    erased_item,
    fingerprint,
    kept_item,
    passage_link,
    placed_item,
    renamed_item,
    request_item,
    rest_item,
    run_item,
    sealed,
    session_item,
    swept_item,
    thread_item,
)
from ordain.journal.ledger_things import Thing

KEY = bytes(range(32))
ITEMS = st.builds(
    LedgerItem,
    what=st.sampled_from([Thing.RUN, Thing.REST, Thing.SESSION]),
    name=st.tuples(st.text(max_size=3)),
    value=st.binary(min_size=1, max_size=3),
    sealed=st.binary(max_size=2),
)


def rows(*batches: Sequence[LedgerItem]) -> list[LedgerRow]:
    """A ledger of these batches."""
    made: list[LedgerRow] = []
    for batch in batches:
        made.append(next_row((made[-1].no, made[-1].chain) if made else None, batch))
    return made


def folded(ledger: Sequence[LedgerRow]) -> LedgerFold:
    fold = LedgerFold()
    for row in ledger:
        fold.take(row)
    return fold


def other(ledger: Sequence[LedgerRow], *standing: LedgerItem) -> list[str]:
    """What a store with these things has otherwise than its ledger."""
    fold = folded(ledger)
    return [found.place for item in standing for found in fold.differing(item)] + [
        found.place for found in fold.missing()
    ]


@given(st.lists(st.lists(ITEMS, max_size=4), max_size=6))
def test_the_last_word_has_to_stand(batches: list[list[LedgerItem]]) -> None:
    """Whatever was said, what was said last of each thing is what may stand, all of it and nothing
    else.
    """
    last = {(item.what, *item.name): item for batch in batches for item in batch}
    ledger = rows(*batches)
    assert other(ledger, *last.values()) == []
    assert len(other(ledger)) == len(last)
    for item in last.values():
        assert (
            len(
                other(
                    ledger,
                    *(
                        msgspec.structs.replace(one, value=b"else") if one is item else one
                        for one in last.values()
                    ),
                )
            )
            == 1
        )


@given(st.lists(st.lists(ITEMS, min_size=1, max_size=2), min_size=2, max_size=5), st.data())
def test_a_row_that_is_gone_or_another_is_found(
    batches: list[list[LedgerItem]], data: st.DataObject
) -> None:
    """Altered, removed or put elsewhere, a row breaks the chain there; only an end that is cut off
    does not show, but by a head that was kept.
    """
    ledger = rows(*batches)
    at = data.draw(st.integers(0, len(ledger) - 1))
    row = ledger[at]
    for changed in (
        [*ledger[:at], LedgerRow(row.no, row.items + b"\xc0", row.chain), *ledger[at + 1 :]],
        [*ledger[:at], LedgerRow(row.no, row.items, bytes(16)), *ledger[at + 1 :]],
        [*ledger[:at], LedgerRow(row.no, "x", row.chain), *ledger[at + 1 :]],  # type: ignore[arg-type]
        *([[*ledger[:at], *ledger[at + 1 :]]] if at < len(ledger) - 1 else []),
    ):
        with pytest.raises(JournalCorrupt) as refused:
            folded(changed)
        assert refused.value.details["seq"] == row.no
    assert folded(ledger[:at]).chain != folded(ledger).chain


def test_an_unreadable_row_is_corrupt() -> None:
    """Also one whose link fits."""
    made = rows([])[0]
    with pytest.raises(JournalCorrupt):
        LedgerFold().take(next_row(None, [1]))  # type: ignore[list-item]
    assert folded([made]).no == 1


def test_content_is_sealed_with_its_subjects_key() -> None:
    """Without the key nobody can test a guess; what is empty, or whose key is destroyed, or is
    none, has no seal.
    """
    assert sealed(KEY, "Ada") != sealed(bytes(32), "Ada") != fingerprint("Ada")
    assert sealed(None, "Ada") == sealed(KEY, "", None) == sealed("key", "Ada") == b""  # type: ignore[arg-type]


@given(st.binary(min_size=1, max_size=40))
def test_a_longer_key_is_another_one(more: bytes) -> None:
    """Each byte of what stands in a key's place counts: it is no key of ours with something behind
    it, of which nobody would see that it was changed.
    """
    passage = (1, 0, 0, 0, 3, "", "tea")
    assert sealed(KEY + more, "Ada") != sealed(KEY, "Ada")
    assert passage_link(b"", passage, KEY + more) != passage_link(b"", passage, KEY)
    words = [
        session_item("w", "s", (1,), "Ada", KEY),
        thread_item(("w", "s", 1), (1,), ("about tea", None), KEY),
    ]
    laid = rows([*words, account_item("w", "user:Ada", (1, 2))])[0].items
    assert b"Ada" not in laid
    assert b"tea" not in laid


def test_erasing_restates_what_it_empties() -> None:
    """The last word about a session whose key is destroyed has no seal, and a key that is gone
    without that is named.
    """
    said, bare = session_item("w", "s", (1,), "Ada", KEY), session_item("w", "s", (1,), "Ada", None)
    assert (
        other(rows([said], [erased_item("w", "u", 5), bare]), bare, erased_item("w", "u", 5)) == []
    )
    assert other(rows([said]), bare, erased_item("w", "u", 5)) == [
        "session s in w",
        "subject u in w",
    ]
    assert other(rows([said], [erased_item("w", "u", 5), bare]), said) == [
        "session s in w",
        "subject u in w",
    ]


def test_requests_are_known_by_their_runs_alone() -> None:
    """No row names one; from the row on that says so, those that were named before are asked for by
    nobody.
    """
    asked = asked_item("r", "w", ("of-ada", "digest"), KEY, erased=False)
    named = request_item("w", "of-ada", "r", "digest", KEY)
    assert b"of-ada" not in rows([asked])[0].items
    assert other(rows([named]), named) == []
    assert other(rows([named], [COVERS_WORDS, asked]), asked) == []
    assert other(
        rows([COVERS_WORDS, asked]), asked_item("r", "w", ("of-eve", "digest"), KEY, erased=False)
    ) == ["request of run r"]
    assert other(rows([COVERS_WORDS, asked])) == ["request of run r"]
    assert other(rows([COVERS_WORDS]), asked) == ["request of run r"]


def test_what_an_erased_run_says_is_known() -> None:
    """Of one whose slices are under way nothing is asked; of a ledger that says nothing of it yet
    neither.
    """
    kept, under_way = kept_item("r", [(3, b"header")]), LedgerItem(Thing.KEPT, ("r",), UNDER_WAY)
    assert other(rows([COVERS_WORDS, kept]), kept) == []
    assert other(rows([COVERS_WORDS, kept]), kept_item("r", [(3, b"another")])) == ["run r"]
    assert other(rows([COVERS_WORDS, kept]), kept_item("r", [])) == ["run r"]
    assert (
        other(rows([COVERS_WORDS]), under_way) == other(rows([COVERS_WORDS, kept]), under_way) == []
    )
    assert other(rows([]), kept) == []


def test_what_is_over_stands_no_more() -> None:
    """A stop that was resumed with no reason, and an account that was dropped, are asked for by
    nobody.
    """
    stop, on = (
        rest_item("r", "faulted", "faulted", (None, 3, b"link")),
        rest_item("r", "ready", "", (None, 3, b"")),
    )
    account, dropped = account_item("w", "a", (1, 2)), account_item("w", "a", None)
    assert (on.value, dropped.value) == (b"", b"")
    assert other(rows([stop, account], [on, dropped]), on) == []
    assert other(rows([stop]), on) == ["run r"]
    assert rest_item("r", "ready", "faulted", (None, 3, b"")).value


def test_the_first_link_is_asked_for_until_the_last_one_fixes_it() -> None:
    """A run at rest has another link that covers the first."""
    opened = run_item("r", ("w",), b"first")
    assert other(rows([opened]), run_item("r", ("w",), b"")) == []
    assert other(rows([opened]), run_item("r", ("w",), b"other")) == ["run r"]
    assert other(rows([opened]), run_item("r", ("v",), b"")) == ["run r"]


def test_a_session_that_was_renamed_stands_by_its_name_of_now() -> None:
    """With its threads and placed messages, whose words are gone; what begins under the old name is
    another's.
    """
    was = [
        session_item("w", "s", (1,), "Ada", KEY),
        *(thread_item(("w", "s", n), (n,), ("about tea",), KEY) for n in (1, 2)),
    ]
    others = [
        session_item("w", "t", (1,), "Bo", KEY),
        thread_item(("w", "t", 1), (1,), ("about tea",), KEY),
    ]
    now = [
        session_item("w", "e", (1,), "", None),
        *(thread_item(("w", "e", n), (n,), ("",), None) for n in (1, 2)),
    ]
    ledger = rows(
        [*was, *others, placed_item(("w", "s", 3), b"a", b"b")],
        [renamed_item("w", "s", "e"), now[0]],
    )
    assert other(ledger, *others, *now) == []
    assert other(ledger, *others, *now[:2]) == ["thread 2 of session e in w"]
    assert other(ledger, *others, now[0], *was[1:]) == [
        f"thread {n} of session {name} in w" for name in "se" for n in (1, 2)
    ]
    assert folded(ledger).placed == {("w", "e"): {3: (b"a", b"")}}
    again = [
        session_item("w", "s", (2,), "Ada", KEY),
        thread_item(("w", "s", 1), (5,), ("about rain",), KEY),
    ]
    assert (
        other([*ledger, next_row((ledger[-1].no, ledger[-1].chain), again)], *others, *now, *again)
        == []
    )


def test_sweeps_and_placings_are_told_of() -> None:
    """Up to when content is gone only grows; of a message the last placing counts."""
    fold = folded(
        rows(
            [swept_item("input", 7), placed_item(("w", "s", 3), b"a", b"b")],
            [swept_item("input", 5), placed_item(("w", "s", 3), b"c", b"d")],
        )
    )
    assert fold.swept == {"input": 7}
    assert fold.placed == {("w", "s"): {3: (b"c", b"d")}}


def test_many_items_are_several_rows() -> None:
    """What a store held before its ledger is listed in rows of a bounded size, and nothing in one
    empty row.
    """
    many = [run_item(str(number), (), b"") for number in range(ITEMS_IN_ROW + 1)]
    assert [len(items) for items in in_rows(many)] == [ITEMS_IN_ROW, 1]
    assert list(in_rows([])) == [[]]
