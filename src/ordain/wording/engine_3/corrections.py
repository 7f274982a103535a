"""Corrections that name what they correct, beyond those that engine 1 knows; and what could be one.

*20 percent, not 10* says what is to be and what it replaces; *nimm statt Äpfeln Birnen* names the
old first; *could you make it shorter?* is an order in the form of a question. An order with matter
of its own (*book Tuesday for the dentist*) corrects nothing for certain, whatever it is instead of.
"""

from __future__ import annotations

import re
from typing import Final

from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import OPEN, PAD, any_of
from ordain.wording.engine_1.signs import Sign

_NAMED: Final = any_of(
    Sign.OWN, Sign.NUMBER, Sign.DATE, Sign.PLACE, Sign.ONE, Sign.TWO, Sign.SEARCH
)
_SMALL: Final = any_of(Sign.THE, Sign.WITH, Sign.LETTER_A, Sign.IT)
_TOLD: Final = rf"[{_SMALL}]{{0,2}}[{_NAMED}]{{1,2}}"
_NOT: Final = any_of(Sign.NOT, Sign.NO_OR_NOT)
CONTRASTED: Final = re.compile(rf"^[{PAD},]*{_TOLD}[,.][{_NOT}]{_TOLD}[{PAD},.]*$")
"""*20 percent, not 10*: two things alike, the second of which is the one that was."""
USE_FOR: Final = re.compile(
    rf"{OPEN}{Sign.USE}[{Sign.PLEASE}]?{Sign.INSTEAD_OF}[{_SMALL}]?[{_NAMED}][{_SMALL}]?["
    rf"{_NAMED}][{PAD},.]*$"
)
"""*nimm statt Äpfeln Birnen*."""
REVISED: Final = re.compile(
    rf"^[{PAD},]*{Sign.CAN_YOU}[{any_of(Sign.CAN_YOU, Sign.PLEASE)}]*["
    rf"{any_of(Sign.IT, Sign.CHANGE, Sign.THE)}]?[{Sign.PLEASE}]*"
    rf"[{any_of(Sign.OWN, Sign.ALSO, Sign.RATHER_ADJ, Sign.LETTER_A, Sign.PLEASE)}]{{1,3}}["
    rf"{any_of(Sign.USE, Sign.PLEASE)}]?[?.]*$"
)
"""*could you make it shorter?*, where the asking words end in *make it*, or a verb of making comes
last.
"""
OWN_MATTER: Final = re.compile(
    rf"{Sign.ORDER}.*{Sign.WITH}[{_SMALL}]*[{_NAMED}]|[{Sign.USE}{Sign.ORDER}].*{Sign.WITH}"
    rf"{Sign.WITH}[{_SMALL}]*[{_NAMED}].*{Sign.INSTEAD_OF}"
)
_TASKS: Final = re.compile(rf"^[{PAD}{any_of(Sign.COMMA, Sign.STOPS, Sign.SI)}]*{Sign.ORDER}")
_APART: Final = re.compile(
    rf"^[{any_of(Sign.THANKS)},.]*{Sign.IMPATIENT}|^[{PAD},.]*["
    rf"{any_of(Sign.QUESTION, Sign.QUESTION_OPENS)}]"
)
"""*and the harbour*: it adds and changes nothing; or it begins as a question."""
_OWN: Final = Sign.OWN.name.lower()
_CORRECTING: Final = frozenset((Sign.NOT, Sign.NO_OR_NOT, Sign.INSTEAD_OF, Sign.CAN_YOU))
"""A message without any of these corrects nothing: each pattern has one."""
_ASKS, _CAN_YOU, _QUESTION_ENDS = map(str, (Sign.ASKS, Sign.CAN_YOU, Sign.QUESTION_ENDS))
MOST_SIGNS: Final = 30


def corrects(look: Look, revisions: frozenset[str]) -> bool:
    """Whether it names what it corrects, in a way that engine 1 does not know. ``revisions`` are
    the verbs of making it otherwise.
    """
    signs = look.signs
    if _CORRECTING.isdisjoint(signs):
        return False
    if CONTRASTED.match(signs) is not None or USE_FOR.match(signs) is not None:
        return True
    if REVISED.match(signs) is None:
        return False
    parts = look.parts
    return any(said in revisions for said, _ in parts) and any(
        sign == _OWN and said not in revisions for said, sign in parts
    )


def own_matter(signs: str) -> bool:
    """Whether it orders something with an object and a purpose of its own, so that a word like
    *instead* in it may be about that.
    """
    return OWN_MATTER.search(signs) is not None


def may_be_about_work(signs: str) -> bool:
    """Whether it could be said of what is being worked on: short, no question, and no order that
    begins a task of its own.
    """
    if len(signs) > MOST_SIGNS or (
        _CAN_YOU not in signs and (_ASKS in signs or _QUESTION_ENDS in signs)
    ):
        return False
    return _TASKS.match(signs) is None and _APART.match(signs) is None
