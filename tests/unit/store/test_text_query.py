"""What a question asks for by its letters."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordain.store.text_query import holds, of_literals, of_words, read_question, telling


@pytest.mark.parametrize(
    ("question", "literals"),
    [
        ('who wrote "the magic mountain"?', ("the magic mountain",)),
        ("what is in “the green folder”", ("the green folder",)),
        ("is INV-2024-113 paid?", ("INV-2024-113",)),
        ("open /etc/hosts and src/app.py, please", ("/etc/hosts", "src/app.py")),
        ("mail ada@example.org", ("ada@example.org",)),
        ("what did we decide on 2026-11-02?", ("2026-11-02",)),
        ("where is max_tokens set", ("max_tokens",)),
        ("read notes.txt", ("notes.txt",)),
        ("order 104233", ("104233",)),
    ],
)
def test_quotes_ids_and_paths_are_literals(question: str, literals: tuple[str, ...]) -> None:
    """What stands in quotes, and what looks like an id, a path, an address, a date or a number, is
    asked for by its letters.
    """
    assert read_question(question).literals == literals


@pytest.mark.parametrize(
    "question",
    [
        "how does Ada take her tea?",
        "two or three words",
        "it's 5 o'clock",
        "well-known facts, e.g. dates",
        "",
    ],
)
def test_plain_words_are_none(question: str) -> None:
    """A question in plain words has no literals."""
    assert read_question(question).literals == ()


@given(st.text("a1_-.:#/\\@%~([", min_size=1, max_size=4), st.sampled_from("a1_%@/"))
@example("_a", "%")
@example("a_", "%")
@example("a/", "%")
@example("1.", "%")
@example("a@", "%")
def test_no_question_takes_more_than_its_length(unit: str, last: str) -> None:
    """A word of 2000 characters that is nearly an id is read at all: no pattern tries its parts
    again and again.
    """
    word = "1" + (unit * 2000)[:1998] + last
    assert set(read_question(word).literals) <= {word, word.rstrip(".,;:!?)]")}


def test_telling_words_are_looked_up() -> None:
    """Words that stand in every text are left out, unless there are no others."""
    assert read_question("How does the cat eat?").words == ("cat", "eat")
    assert read_question("who is it").words == ("who", "is", "it")


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(['"', "a", "NEAR", "AND", "*", "(", "x-1", "col:", "\0", "“"])).map(
        "".join
    )
)
def test_every_question_is_an_expression_of_the_index(question: str) -> None:
    """Whatever is asked, the index takes what is made of it: there is no syntax in a question."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    db.execute("INSERT INTO t VALUES ('a text')")
    asked = read_question(question.encode(errors="replace").decode())
    for expression in (of_words(asked), of_literals(asked) if asked.literals else ""):
        if expression:
            db.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()
    db.close()


@given(
    st.lists(st.tuples(st.text(min_size=1), st.integers(0, 50)), unique_by=lambda one: one[0]),
    st.integers(0, 100),
)
def test_the_commonest_words_are_left_out(counted: list[tuple[str, int]], most: int) -> None:
    """No word that stays is commoner than one that goes; together they find no more than so much,
    unless one alone finds anything; no word more fits.
    """
    words, counts = [word for word, _ in counted], [count for _, count in counted]
    kept = telling(words, counts, most)
    count = dict(counted)
    left = [word for word in words if word not in kept]
    assert list(kept) == [word for word in words if word in kept]
    assert bool(kept) == bool(words)
    assert all(count[one] <= count[other] for one in kept for other in left)
    total = sum(count[word] for word in kept)
    assert total <= most or sum(count[word] > 0 for word in kept) == 1
    assert total or not any(counts)
    assert not left or total + min(count[word] for word in left) > most


def test_letters_are_compared_but_for_case_and_spaces() -> None:
    """A literal is held to its letters: a stem or a part in another order does not count."""
    assert holds("The  Magic\nMountain", ("magic mountain",))
    assert not holds("mountains of magic", ("magic mountain",))
    assert not holds("invoice INV-2024-114", ("INV-2024-113",))
