"""Cues: what the wording of a message says, as features. Every engine comes to them; recorded facts
hold them.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Partly(StrEnum):
    """What a message says to a question without being a whole answer."""

    NO = ""
    """Nothing: it may be about anything."""
    MAYBE = "maybe"
    """Nothing in it says yes or no, or it asks or orders something: a matter of its own, unless a
    model says that it is about the question.
    """
    LEANS = "leans"
    """It says something to a question, and grants nothing."""
    CONDITION = "condition"
    """It grants with a reservation (*yes but only to the German ones*)."""


class Cues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Features of a message's wording; the graded ones are 0 (no), 1 (it could mean that) or 2 (it
    means that).
    """

    words: int = 0
    question: bool = False
    stop: int = 0
    steer: int = 0
    nudge: int = 0
    trouble: int = 0
    filler: int = 0
    yes: bool = False
    no: bool = False
    date_time: bool = False
    location: bool = False
    choice: str = ""
    order: bool = False
    """It begins with the verb of a task of its own (*find*, *book*, *translate*)."""
    whole: bool = False
    """Its yes and no are whole messages from closed lists, and what follows is read, too: engines
    from 3 on.
    """
    partly: Partly = Partly.NO
    hold: bool = False
    """It is a bare *wait*, or says no more than that something is wrong with what runs."""
    go_on: bool = False
    """It is a bare order to go on: engines from 5 on."""
    protest: bool = False
    """It is nothing but a no that is said more than once, drawn out or a stop as well, and so an
    order where it answers nothing: engines from 6 on.
    """
    apart: bool = False
    """It begins as an answer or an order does, and goes on with a matter of its own (*wait, what is
    a lighthouse?*): engines from 7 on.
    """
    reasoned: bool = False
    """It orders to stop or to wait and says more than that (*stop! the numbers are wrong*): a
    message of its own where nothing works. Engines from 8 on.
    """
    lead: str = ""
    """The yes or the no that such a message begins with (*yes, and what is a lighthouse?*)."""
    refuses: bool = False
    """Its no is one to any question, also to one that asks for a day or an option: engines from 9
    on.
    """
