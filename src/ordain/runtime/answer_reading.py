"""A message read as an answer, before the run that asked has it: with the words that the run pins, by the rule that the run will ask.

Own words may have changed since the question was asked. Whoever takes a message for an answer and whoever then judges it must read it alike, or
the question is gone and nothing was answered.
"""

from __future__ import annotations

from collections.abc import Callable

from ordain.contracts.catalog import Catalog
from ordain.errors import JournalCorrupt
from ordain.flows.answer_text import given_value
from ordain.ports.sessions import OpenQuestion
from ordain.ports.shared import SessionState
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, ExpectedType, fits
from ordain.runtime.message_entry import Received
from ordain.wording.wording import Wording, wording_of


class AnswerReading:
    """One message, against the open questions of its session."""

    def __init__(self, state: SessionState, message: Received, pinned: Callable[[str], Catalog]) -> None:
        """``pinned`` has the catalog of a digest; raises ``JournalCorrupt`` where it is not stored."""
        self._state, self._message, self._pinned = state, message, pinned

    def fits(self, asked: OpenQuestion) -> bool:
        """Whether the message looks like what the question expects; none does where the words of its run cannot be had."""
        message, wording = self._message, self._wording(asked)
        if wording is None:
            return False
        read = message.found if wording.id == message.catalog.wording_id else wording.cues(message.facts.text)
        return fits(ExpectedType(asked.expects), read)

    def value(self, asked: OpenQuestion) -> object:
        """What the run will find that the message comes to, None where that is nothing."""
        text, wording = self._message.facts.text, self._wording(asked)
        if wording is None:
            return None
        facts = AnswerFacts(expects=ExpectedType(asked.expects), size=len(text))
        outcome = ANSWER.apply(facts, AnswerInputs(text=text, wording=wording), self._message.catalog.policy).outcome
        return given_value(outcome, text)

    def _wording(self, asked: OpenQuestion) -> Wording | None:
        under = self._state.pinned.get(asked.run, self._message.catalog.digest)
        try:
            return wording_of(self._message.catalog if under == self._message.catalog.digest else self._pinned(under))
        except JournalCorrupt:  # nor can its run go on, which stops as that; the message is taken in all the same
            return None
