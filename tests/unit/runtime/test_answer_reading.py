"""A message read against an open question: with the words of the run that asked, or not at all."""

from __future__ import annotations

import pytest

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import Message
from ordain.errors import JournalCorrupt
from ordain.ports.sessions import OpenQuestion
from ordain.ports.shared import SessionState
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.message_entry import message_of
from ordain.wording.table import Table
from tests.unit.flows.house import shipped

ASKED = OpenQuestion(run="child", root="turn", addr=0, key="told", expects="yes_no", until=9)
TABLE = Table.of([("yes", ["jofi"])])
OTHER = Catalog(
    shipped().data.model_copy(update={"wording": f"1:{TABLE.digest}"}),
    {TABLE.digest: TABLE.encoded}.get,
)
LOST = Catalog(shipped().data.model_copy(update={"wording": f"1:{'0' * 64}"}), {}.get)


def reading(text: str, under: Catalog | None) -> AnswerReading:
    """The message, read under the shipped catalog; the question's run pins another, which is stored
    nowhere where it is None.
    """
    message = Message.model_validate(
        {"session_id": "s1", "user_id": "ada", "message": {"text": text}}
    )
    state = SessionState(
        workspace="w",
        session="s1",
        subject="s",
        key=b"",
        seq=1,
        next_thread=1,
        active=0,
        threads=(),
        at_work=(),
        open=0,
        pinned={"child": "elsewhere"},
    )

    def pinned(digest: str) -> Catalog:
        assert digest == "elsewhere"
        if under is None:
            raise JournalCorrupt("not stored")
        return under

    return AnswerReading(state, message_of(message, "m1", "ada", shipped()), pinned)


@pytest.mark.parametrize(
    ("text", "under", "fits", "value"),
    [
        ("jofi", OTHER, True, True),
        ("jofi", shipped(), False, None),
        ("yes", OTHER, False, None),
        ("yes", shipped(), True, True),
        ("no", shipped(), True, False),
        ("yes", LOST, False, None),
        ("yes", None, False, None),
    ],
)
def test_it_is_read_with_the_words_of_the_run_that_asked(
    text: str, under: Catalog | None, fits: bool, value: object
) -> None:
    """Where those cannot be had it answers nothing, and the message is taken in all the same."""
    read = reading(text, under)
    assert (read.fits(ASKED), read.value(ASKED)) == (fits, value)


def test_a_run_that_nobody_knows_is_read_as_the_message_is() -> None:
    """There is nothing else to read by."""
    assert reading("yes", None).fits(
        OpenQuestion(run="another", root="turn", addr=0, key="told", expects="yes_no", until=9)
    )
