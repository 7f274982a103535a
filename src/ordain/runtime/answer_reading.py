"""A message read as an answer, before the run that asked has it: with the words that the run pins,
by the rule that the run will ask.

Own words may have changed since the question was asked. Whoever takes a message for an answer and
whoever then judges it must read it alike, or the question is gone and nothing was answered.
"""

from __future__ import annotations

from collections.abc import Callable

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import UserQuestion
from ordain.errors import JournalCorrupt
from ordain.flows.answer_text import given_value, said, sorted_as
from ordain.ports.sessions import OpenQuestion
from ordain.ports.shared import SessionState
from ordain.rules.answer import (
    ANSWER,
    OPTION_KEYS,
    AnswerFacts,
    AnswerInputs,
    AnswerOutcome,
    Chosen,
    ExpectedType,
    Takes,
    fits,
    partly,
    whole_answer,
)
from ordain.runtime.message_entry import Received
from ordain.wording.cues import Cues, Partly
from ordain.wording.wording import Wording, wording_of


class AnswerReading:
    """One message, against the open questions of its session."""

    def __init__(
        self, state: SessionState, message: Received, pinned: Callable[[str], Catalog]
    ) -> None:
        """``pinned`` has the catalog of a digest; raises ``JournalCorrupt`` where it is not
        stored.
        """
        self._state, self._message, self._pinned = state, message, pinned

    def fits(self, asked: OpenQuestion) -> bool:
        """Whether the message is what the question expects; none is where the words of its run
        cannot be had.
        """
        wording = self._wording(asked)
        if wording is None:
            return False
        expects, found = ExpectedType(asked.expects), self._found(wording)
        if not asked.options:
            return fits(expects, found)
        return whole_answer(expects, self._inputs(asked, wording), found) is not None

    def partly(self, asked: OpenQuestion) -> Partly:
        """What the message is to the question where it is no whole answer: nothing where the run
        takes whole answers alone.
        """
        wording = self._wording(asked)
        if wording is None or not asked.takes or self.fits(asked):
            return Partly.NO
        return partly(
            ExpectedType(asked.expects), self._found(wording), self._inputs(asked, wording)
        )

    def value(self, asked: OpenQuestion) -> object:
        """What the run will find that the message comes to, None where that is nothing."""
        text, wording = self._message.facts.text, self._wording(asked)
        if wording is None:
            return None
        facts = AnswerFacts(
            expects=ExpectedType(asked.expects), size=len(text), takes=Takes(asked.takes)
        )
        outcome = ANSWER.apply(
            facts, self._inputs(asked, wording), self._message.catalog.policy
        ).outcome
        if isinstance(outcome, Chosen) and asked.expects == ExpectedType.OPTION:
            return asked.options[OPTION_KEYS.index(outcome.option)]
        return given_value(outcome, text)

    def _found(self, wording: Wording) -> Cues:
        message = self._message
        return (
            message.found
            if wording.id == message.catalog.wording_id
            else wording.cues(message.facts.text)
        )

    def _inputs(self, asked: OpenQuestion, wording: Wording) -> AnswerInputs:
        return AnswerInputs(text=self._message.facts.text, wording=wording, options=asked.options)

    def _wording(self, asked: OpenQuestion) -> Wording | None:
        under = self._state.pinned.get(asked.run, self._message.catalog.digest)
        try:
            return wording_of(
                self._message.catalog
                if under == self._message.catalog.digest
                else self._pinned(under)
            )
        except JournalCorrupt:
            # nor can its run go on, which stops as that; the message is taken in all the same
            return None


def operators_answer(asked: UserQuestion, value: object, pinned: Catalog) -> AnswerOutcome:
    """What the run will find that a value comes to with which somebody answers for its user, under
    the catalog that the run pins.

    Raises:
        JournalCorrupt: the words of that catalog cannot be had.
    """
    text = said(value)
    facts = AnswerFacts(
        expects=ExpectedType(asked.expects),
        size=len(text),
        takes=Takes(asked.takes),
        sorted=sorted_as(value),
    )
    return ANSWER.apply(
        facts,
        AnswerInputs(text=text, wording=wording_of(pinned), options=asked.options),
        pinned.policy,
    ).outcome
