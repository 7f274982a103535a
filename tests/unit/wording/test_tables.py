"""Tables of phrases: split by language they are the table of before, their order says nothing, and
one phrase more or less is another table.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.catalog_data import FIRST_WORDING
from ordain.errors import ConfigurationError
from ordain.wording.engine_1.phrases import compile_phrases, folded_keys, is_plain, keys
from ordain.wording.engine_1.signs import PRECEDENCE, Sign
from ordain.wording.engines import ENGINES, NEWEST
from ordain.wording.languages import shipped_languages, shipped_table, table_of
from ordain.wording.packaged import KEYS, packaged_table
from ordain.wording.table import Table
from ordain.wording.wording import compiled, first_wording

FIRST = files("ordain.wording").joinpath("tables", "first.json").read_bytes()
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "messages"
TEXTS = [
    message["text"]
    for file in (
        Path(__file__).parent / "cue_messages.json",
        FIXTURES / "own.json",
        FIXTURES / "independent.json",
    )
    for message in json.loads(file.read_text(encoding="utf-8"))
]
FROZEN_TEXTS = 2221
FROZEN_CUES = "864535ccc8c0f1ba562580e0fc63397c3e9a4a999000e2a462c2172eba424a9e"
CHANGED: dict[tuple[str, ...], tuple[str | None, str | None]] = {}
"""Tokens of phrases whose sign is another in the shipped files than in the first table: (then,
now).
"""
UNSPOKEN = {Sign.NUMBER, Sign.EMOJI, Sign.QUOTED, Sign.OWN, Sign.COMMA, Sign.STOPS, Sign.ASKS}
"""What is told by its form: no phrase stands for it."""


def test_the_first_table_is_frozen() -> None:
    """The table that recorded runs are read with is byte for byte the one that was shipped first; a
    catalog without wording means it.
    """
    assert f"1:{hashlib.sha256(FIRST).hexdigest()}" == FIRST_WORDING
    assert first_wording().id == FIRST_WORDING
    assert (
        sum(len(one.known) for one in compile_phrases(Table.from_bytes(FIRST).phrases).values())
        == 11_297
    )


def test_the_first_engine_is_frozen() -> None:
    """What recorded runs are read with has the same cues for ever; another reading is another
    engine. Of a labelled message more, another sum.
    """
    cues = b"\n".join(msgspec.json.encode(first_wording().cues(text)) for text in TEXTS)
    assert (len(TEXTS), hashlib.sha256(cues).hexdigest()) == (FROZEN_TEXTS, FROZEN_CUES)


def test_the_languages_compile_to_the_first_table() -> None:
    """Split by language, every phrase means what it meant in the tables by topic, but for what has
    been changed since.
    """
    before, now = (_meanings(table) for table in (Table.from_bytes(FIRST), shipped_table()))
    assert {
        key: (before.get(key), now.get(key))
        for key in before.keys() | now.keys()
        if before.get(key) != now.get(key)
    } == CHANGED
    assert {
        name: words for name, words in shipped_table().lists.items() if name in ENGINES[1].lists
    } == Table.from_bytes(FIRST).lists


def _meanings(table: Table) -> dict[tuple[str, ...], str]:
    return {
        key: sign
        for one in compile_phrases(table.phrases).values()
        for key, sign in one.known.items()
    }


def test_what_shipped_phrases_are_compared_by_is_written_down() -> None:
    """No phrase of the shipped table is folded when the table is compiled, which took half of the
    time that a process's first message waited; what is written is what folding gives, with the
    Unicode of any Python.
    """
    table = shipped_table()
    said = [*(phrases for _, phrases in table.phrases), *table.lists.values()]
    folded = {
        phrase: found
        for phrases in said
        for phrase in phrases
        if not is_plain(phrase) and (found := folded_keys(phrase))
    }
    written = msgspec.json.decode(packaged_table(KEYS), type=dict[str, frozenset[tuple[str, ...]]])
    assert written == folded
    assert [phrase for phrase in folded if keys(phrase) != folded[phrase]] == []


def test_engines_share_what_they_make_of_a_table() -> None:
    """Engines stand on one another, and what is made of a table's lists is made once for all of
    them; another table has its own.
    """
    made: list[Table] = []

    def once(table: Table) -> int:
        made.append(table)
        return len(made)

    table, other = shipped_table(), Table.of([("yes", ["ja"])])
    assert [table.once(once), table.once(once), other.once(once), table.once(once)] == [1, 1, 2, 1]
    assert made == [table, other]


def test_shipped_and_first_read_every_labelled_message_alike() -> None:
    """By the first engine the labelled messages have the same cues under both."""
    shipped, first = compiled(shipped_table(), 1), first_wording()
    assert [text for text in TEXTS if shipped.cues(text) != first.cues(text)] == []


def test_the_second_engine_only_takes_back() -> None:
    """It reads every labelled message as the first one does, but for a yes or a choice that it does
    not find.
    """
    first, second = (compiled(shipped_table(), number) for number in (1, 2))
    for before, now in ((first.cues(text), second.cues(text)) for text in TEXTS):
        assert msgspec.structs.replace(before, yes=now.yes, choice=now.choice) == now
        assert before.yes >= now.yes
        assert now.choice in ("", before.choice)


def test_precedence_is_explicit() -> None:
    """Every sign that a phrase can have stands once in the order of precedence, and the first claim
    of a phrase holds.
    """
    assert len(PRECEDENCE) == len(set(PRECEDENCE))
    assert set(Sign) - set(PRECEDENCE) == UNSPOKEN
    assert list(ENGINES[1].signs) == [sign.name.lower() for sign in PRECEDENCE]
    claims = [("stop", ["halt"]), ("thanks", ["halt"])]
    assert compiled(Table.of(claims)).cues("halt").stop == 2
    assert compiled(Table.of(claims[::-1])).cues("halt").filler == 2


@given(st.randoms(use_true_random=False))
def test_the_order_of_files_says_nothing(chance: object) -> None:
    """In whatever order languages are read, their table is the same bytes."""
    shuffled = [*shipped_languages()]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert table_of(shuffled).digest == shipped_table().digest


def test_a_table_is_its_bytes() -> None:
    """What was stored comes back as the same table; what is none is refused."""
    table = shipped_table()
    assert Table.from_bytes(table.encoded) == table
    assert Table.from_bytes(table.encoded).digest == table.digest
    with pytest.raises(ConfigurationError, match="no table of phrases"):
        Table.from_bytes(b"[]")


def test_every_phrase_more_or_less_is_another_wording() -> None:
    """Of a small table every phrase counts: without it the identity is another, and what is read
    with the old one stays as it was.
    """
    claims = [("stop", ["halt", "knofi"]), ("yes", ["jo"]), ("thanks", ["merci", "knofi"])]
    whole = compiled(Table.of(claims))
    before = [whole.cues(text) for text in TEXTS[:200]]
    seen = {whole.id}
    for sign, phrases in claims:
        for gone in phrases:
            less = compiled(
                Table.of(
                    (name, [one for one in named if (name, one) != (sign, gone)])
                    for name, named in claims
                )
            )
            assert less.id not in seen
            seen.add(less.id)
    assert [whole.cues(text) for text in TEXTS[:200]] == before
    assert whole.cues("knofi").stop == 2


def test_an_empty_table_reads_everything_as_own_words() -> None:
    """Without any phrase a message is its own matter, and figures are still no time without the
    words beside them.
    """
    nothing = compiled(Table.of([]))
    assert (nothing.cues("stop it now").stop, nothing.cues("at 5").date_time) == (0, False)
    assert nothing.parts("stop 5") == (("stop", "own"), ("5", "number"))
    assert first_wording().cues("at 5").date_time


def test_the_newest_engine_is_the_one_that_is_shipped_with_phrases() -> None:
    """The shipped files use signs and lists that the newest engine knows."""
    engine = ENGINES[NEWEST]
    assert {sign for language in shipped_languages() for sign in language.phrases} == set(
        engine.signs
    )
    assert {name for language in shipped_languages() for name in language.lists} == engine.lists


def test_every_engine_is_had_by_its_number() -> None:
    """Each is another reading, the newest is the last, and of a number beyond there is none."""
    engines = [ENGINES[number] for number in ENGINES]
    assert [engine.number for engine in engines] == list(range(1, NEWEST + 1))
    assert len({engine.compile for engine in engines}) == NEWEST
    for before, after in pairwise(engines):
        assert before.lists <= after.lists
    for number in (0, NEWEST + 1):
        assert number not in ENGINES


def test_a_start_loads_no_engine_and_a_wording_none_after_its_own() -> None:
    """What reads with an early engine has no later one in memory."""
    code = (
        "import sys; from ordain.wording import wording; "
        "assert not [name for name in sys.modules if '.engine_' in name]; "
        "wording.first_wording(); "
        "assert not [name for name in sys.modules if '.engine_2' in name]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
