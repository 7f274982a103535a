"""Patterns over shapes: which sequences of signs order a stop, correct, ask after progress,
acknowledge or answer.
"""

from __future__ import annotations

import re
from typing import Final

from ordain.wording.engine_1.signs import Sign


def any_of(*signs: Sign) -> str:
    """A character class's inside: any of these signs."""
    return "".join(re.escape(sign.value) for sign in signs)


BREAKS: Final = any_of(Sign.COMMA, Sign.STOPS)
PAD: Final = any_of(
    Sign.PLEASE,
    Sign.GREETING,
    Sign.IMPATIENT,
    Sign.THANKS,
    Sign.OKAY,
    Sign.OKAY_IF,
    Sign.EMOJI,
    Sign.ACTUALLY,
    Sign.YES,
    Sign.NO,
    Sign.NO_OR_NOT,
    Sign.CAN_YOU,
    Sign.BUT,
)
REF: Final = any_of(Sign.IT, Sign.THE, Sign.WORK, Sign.SEARCH, Sign.YOU)
OBJECT: Final = any_of(Sign.OWN, Sign.PLACE)
SEARCHED: Final = (
    rf"(?<=[{Sign.IT}{Sign.THE}])[{OBJECT}]{{1,2}}(?={Sign.SEARCH})|(?<={Sign.SEARCH}){Sign.WITH}["
    rf"{OBJECT}{any_of(Sign.WITH, Sign.THE, Sign.IT, Sign.LETTER_A)}]{{1,6}}(?=[{PAD}{BREAKS}]*$)"
)
OPEN: Final = rf"^[{PAD}{any_of(Sign.HOLD, Sign.MEANT, Sign.IT, Sign.SI)}]*"
"""What may stand before the verb of a clause."""
WITH_REF: Final = rf"{Sign.WITH}(?=[{REF}])"

STOPPED: Final = re.compile(
    rf"(?:[{PAD}{REF}{BREAKS}"
    rf"{any_of(Sign.STOP, Sign.STOP_OPEN, Sign.HOLD, Sign.NEEDLESS, Sign.STILL, Sign.PARTICLE, Sign.NOW, Sign.PROGRESS, Sign.RATHER, Sign.RATHER_ADJ, Sign.MEANT, Sign.NEGATIVE)}]|"
    rf"{WITH_REF}|{SEARCHED}"
    r")+"
)
HAS_STOP: Final = re.compile(
    rf"{Sign.STOP}|{Sign.STOP_OPEN}[{Sign.PLEASE}{Sign.WITH}]*["
    rf"{any_of(Sign.IT, Sign.THE, Sign.WORK, Sign.SEARCH, Sign.PARTICLE)}]"
)
STOP_FIRST: Final = re.compile(rf"{OPEN}[{any_of(Sign.STOP, Sign.STOP_OPEN, Sign.HOLD)}]")
UNSTOPPED: Final = re.compile(
    rf"{Sign.KEEP}|{Sign.GO_ON}|[{Sign.NOT}{Sign.NEGATIVE}][^{BREAKS}]*[{Sign.STOP}"
    rf"{Sign.STOP_OPEN}]|[{Sign.STOP}{Sign.STOP_OPEN}][^{BREAKS}{Sign.STOP}]*{Sign.NOT}"
)
MAYBE_NOT: Final = re.compile(rf"{Sign.NO_OR_NOT}[{Sign.STOP}{Sign.STOP_OPEN}]")
DECLINED: Final = re.compile(
    rf"[{PAD}{BREAKS}{REF}{Sign.NEGATIVE}]*{Sign.NEGATIVE}[{PAD}{BREAKS}{REF}]*"
)
SPEAKS_ON: Final = re.compile(rf"^[{PAD}]*[{any_of(Sign.I, Sign.IT, Sign.YOU, Sign.NEEDLESS)}]")

CHANGES: Final = re.compile(
    rf"{OPEN}{Sign.CHANGE}.|.{Sign.CHANGED}.?.?$|^[^{BREAKS}?]{{1,10}}{Sign.CHANGED}.{{1,10}}$"
)
MEANT: Final = re.compile(rf"^[{PAD}{Sign.HOLD}]*{Sign.MEANT}[^{PAD}]")
USES: Final = re.compile(rf"{OPEN}[{any_of(Sign.USE, Sign.ORDER, Sign.WORK, Sign.SEARCH)}]")
REPLACES_FIRST: Final = re.compile(
    rf"{OPEN}{Sign.INSTEAD}[^{any_of(Sign.QUESTION, Sign.QUESTION_OPENS)}]"
)
REPLACES_LAST: Final = re.compile(rf"[{Sign.INSTEAD}][{PAD}{Sign.NOW}]*$")
NO_INSTEAD: Final = re.compile(
    rf"^[{PAD}{BREAKS}]*[{any_of(Sign.NEGATIVE, Sign.NO, Sign.NO_OR_NOT)}](?:.+{Sign.INSTEAD}|["
    rf"{PAD}{BREAKS}]*{Sign.CHANGE})[{PAD}{BREAKS}{Sign.NOW}]*$"
)
SHORT_LEAD: Final = re.compile(
    rf"{OPEN}(?:["
    rf"{any_of(Sign.THE, Sign.WITH, Sign.DATE, Sign.NUMBER, Sign.ONE, Sign.TWO, Sign.LETTER_A, Sign.OWN)}].{{0,4}})$"
)
OF_FIRST: Final = re.compile(
    rf"{OPEN}{Sign.INSTEAD_OF}.{{1,3}}["
    rf"{any_of(Sign.USE, Sign.RATHER, Sign.PLEASE, Sign.CHANGE, Sign.COMMA, Sign.ORDER)}].{{0,6}}$"
)
OF_BETWEEN: Final = re.compile(
    rf"^[{PAD}{Sign.RATHER}]*[{any_of(Sign.THE, Sign.WITH, Sign.IT)}]*[{OBJECT}"
    rf"{any_of(Sign.DATE, Sign.NUMBER)}]{{1,2}}{Sign.INSTEAD_OF}["
    rf"{any_of(Sign.THE, Sign.WITH, Sign.IT)}]*[{OBJECT}{any_of(Sign.DATE, Sign.NUMBER)}]{{1,2}}["
    rf"{PAD}{Sign.USE}]*$"
)
OF_ORDER: Final = re.compile(
    rf"{OPEN}[{any_of(Sign.USE, Sign.WORK, Sign.SEARCH, Sign.CHANGE, Sign.RATHER)}].+"
    rf"{Sign.INSTEAD_OF}."
)
RATHER_FIRST: Final = re.compile(
    rf"{OPEN}{Sign.RATHER}[^{any_of(Sign.QUESTION, Sign.QUESTION_OPENS, Sign.I, Sign.NOT)}]"
)
RATHER_ADJ: Final = re.compile(
    rf"^[{PAD}]*{Sign.RATHER_ADJ}["
    rf"{any_of(Sign.WITH, Sign.WORK, Sign.SEARCH, Sign.DATE, Sign.USE, Sign.ORDER, Sign.IT, Sign.THE, Sign.NOW, Sign.CHANGE, Sign.ONE, Sign.TWO, Sign.LETTER_A)}]"
)
RATHER_VERB: Final = re.compile(
    rf"{OPEN}[{any_of(Sign.USE, Sign.ORDER, Sign.WORK, Sign.SEARCH)}]["
    rf"{any_of(Sign.IT, Sign.PLEASE, Sign.WORK, Sign.SEARCH, Sign.THE)}]{{0,2}}"
    rf"(?:[{any_of(Sign.RATHER, Sign.CHANGE)}]|{Sign.RATHER_ADJ}["
    rf"{any_of(Sign.THE, Sign.LETTER_A, Sign.DATE)}])"
)
RATHER_AFTER: Final = re.compile(
    rf"^[{PAD}{Sign.HOLD},]*[{any_of(Sign.NO, Sign.NO_OR_NOT, Sign.HOLD)}][{PAD}{Sign.HOLD},]*(?:["
    rf"{Sign.RATHER_ADJ}].|.{{1,4}}{Sign.RATHER_ADJ}[{PAD}]*$)"
)
RATHER_LAST: Final = re.compile(
    rf"^[^{any_of(Sign.I, Sign.BE, Sign.YOU)}]{{1,4}}{Sign.RATHER}[{PAD}]*$"
)
CONTRAST: Final = re.compile(
    rf"^[{PAD},]*(?:{Sign.NOT}[^{BREAKS}]{{1,4}},?[{Sign.BUT}{Sign.NOT_BUT}]|[{Sign.NO}"
    rf"{Sign.NO_OR_NOT}{Sign.KEEP}][^{BREAKS}]{{0,5}},?{Sign.NOT_BUT})[^{Sign.NOT}]{{1,6}}$"
)
USED: Final = re.compile(rf"{OPEN}{Sign.USE}.")
NOT_USE: Final = re.compile(rf"^[{PAD}]*{Sign.NOT}{Sign.USE}")
ACTUALLY: Final = re.compile(
    rf"^[{PAD}{any_of(Sign.HOLD, Sign.STOP, Sign.NO, Sign.COMMA)}]*["
    rf"{any_of(Sign.ACTUALLY, Sign.HOLD, Sign.NO, Sign.NO_OR_NOT, Sign.STOP, Sign.MEANT)}]"
)

ASKS_WORDS: Final = re.compile(
    rf"^[{PAD}{Sign.COMMA}]*[{any_of(Sign.QUESTION, Sign.QUESTION_OPENS, Sign.BE)}].|"
    rf"{Sign.QUESTION_ENDS}[{PAD}]*$|[{Sign.NUDGE}{Sign.TROUBLE}]"
)
ASKS_WHAT: Final = re.compile(
    rf"^[{PAD}{any_of(Sign.IT, Sign.COMMA)}]*[{any_of(Sign.QUESTION, Sign.QUESTION_OPENS)}]|"
    rf"{Sign.QUESTION_ENDS}$|[{Sign.QUESTION}{Sign.QUESTION_OPENS}]"
)

TALKED: Final = (
    rf"(?:[{PAD}{REF}{BREAKS}?"
    rf"{any_of(Sign.STILL, Sign.PROGRESS, Sign.BE, Sign.QUESTION, Sign.QUESTION_OPENS, Sign.QUESTION_ENDS, Sign.NOW, Sign.PARTICLE, Sign.HOLD, Sign.NOT, Sign.LETTER_A)}"
)
NUDGED: Final = re.compile(
    rf"{TALKED}{Sign.NUDGE}]|{WITH_REF}|{SEARCHED}|(?<=[{Sign.IT}{Sign.THE}])[{OBJECT}]{{1,2}}(?="
    rf"{Sign.WORK}))+"
)
TROUBLED: Final = re.compile(rf"{TALKED}{any_of(Sign.TROUBLE, Sign.FAILURE)}]|{WITH_REF})+")
PROGRESSES: Final = re.compile(
    rf"[{any_of(Sign.QUESTION, Sign.QUESTION_OPENS, Sign.BE, Sign.STILL)}].*[{Sign.PROGRESS}]|"
    rf"{Sign.PROGRESS}{Sign.STILL}|[{Sign.PROGRESS}{Sign.OKAY_IF}].*\?"
)
IMPATIENT: Final = re.compile(
    r"["
    rf"{any_of(Sign.IMPATIENT, Sign.GREETING, Sign.COMMA, Sign.STOPS, Sign.EMOJI, Sign.YOU, Sign.STILL, Sign.OKAY, Sign.PLEASE, Sign.NOW)}]*\?+"
)

ACKNOWLEDGES: Final = re.compile(
    r"(?:["
    rf"{any_of(Sign.THANKS, Sign.OKAY, Sign.OKAY_IF, Sign.EMOJI, Sign.PLEASE, Sign.GREETING, Sign.IMPATIENT, Sign.YES, Sign.NO, Sign.NO_OR_NOT, Sign.NOW, Sign.BE, Sign.STILL)}"
    rf"{REF}{BREAKS}]|{WITH_REF})+"
)
BARE_ANSWER: Final = re.compile(
    rf"[{any_of(Sign.YES, Sign.NO, Sign.NO_OR_NOT, Sign.SI, Sign.EMOJI)}{BREAKS}]+"
)
AGREEABLE: Final = any_of(
    Sign.PLEASE,
    Sign.THANKS,
    Sign.OKAY,
    Sign.OKAY_IF,
    Sign.YES,
    Sign.SI,
    Sign.EMOJI,
    Sign.IT,
    Sign.YOU,
    Sign.STILL,
    Sign.PARTICLE,
    Sign.IMPATIENT,
    Sign.USE,
    Sign.NOW,
    Sign.GO_ON,
    Sign.GREETING,
)
AGREES: Final = re.compile(
    rf"[{AGREEABLE}{BREAKS}]*["
    rf"{any_of(Sign.YES, Sign.OKAY, Sign.OKAY_IF, Sign.SI, Sign.USE, Sign.GO_ON)}][{AGREEABLE}"
    rf"{BREAKS}]*"
)
YES_FIRST: Final = re.compile(
    rf"^[{any_of(Sign.PLEASE, Sign.THANKS, Sign.GREETING, Sign.IMPATIENT, Sign.EMOJI)}"
    rf"{BREAKS}]*(?:{Sign.YES}|[{Sign.SI}{Sign.OKAY}][{BREAKS}{Sign.YES}])"
)
RESERVES: Final = re.compile(
    "["
    + any_of(
        Sign.BUT,
        Sign.NOT,
        Sign.NOT_BUT,
        Sign.NEGATIVE,
        Sign.NO,
        Sign.STOP,
        Sign.STOP_OPEN,
        Sign.HOLD,
        Sign.INSTEAD,
        Sign.INSTEAD_OF,
    )
    + f"]|{Sign.COMMA}{Sign.NO_OR_NOT}"
)
NO_FIRST: Final = re.compile(
    r"^["
    rf"{any_of(Sign.PLEASE, Sign.THANKS, Sign.OKAY, Sign.GREETING, Sign.IMPATIENT, Sign.EMOJI, Sign.ACTUALLY)}"
    rf"{BREAKS}]*"
    rf"(?:[{Sign.NO}{Sign.NEGATIVE}]|{Sign.NO_OR_NOT}(?:[{BREAKS}{PAD}"
    rf"{any_of(Sign.NEGATIVE, Sign.I, Sign.NOT, Sign.HOLD)}]|$))"
)
BOTH: Final = re.compile(
    rf"[{any_of(Sign.YES, Sign.SI)}]["
    rf"{any_of(Sign.IMPATIENT, Sign.WITH, Sign.BUT, Sign.COMMA, Sign.STOPS)}]+["
    rf"{any_of(Sign.NO, Sign.NO_OR_NOT)}]"
)
CHOSEN: Final = re.compile(
    rf"[{PAD}{BREAKS}"
    rf"{any_of(Sign.CHOOSE, Sign.THE, Sign.IT, Sign.WITH, Sign.USE, Sign.ONE, Sign.TWO, Sign.LETTER_A, Sign.LETTER_B, Sign.RATHER, Sign.I)}]+"
)
ONLY_DATE: Final = re.compile(
    rf"[{PAD}{BREAKS}?"
    rf"{any_of(Sign.DATE, Sign.NOW, Sign.NUMBER, Sign.ONE, Sign.TWO, Sign.WITH, Sign.THE, Sign.IT, Sign.LETTER_A)}]+"
)
NUMBERED: Final = re.compile(rf"[{any_of(Sign.NOW, Sign.NUMBER, Sign.ONE, Sign.TWO)}]")
PLACED: Final = re.compile(
    r"["
    rf"{any_of(Sign.OWN, Sign.PLACE, Sign.WITH, Sign.THE, Sign.IT, Sign.NUMBER, Sign.ONE, Sign.TWO, Sign.LETTER_A, Sign.LETTER_B, Sign.EMOJI, Sign.DATE, Sign.QUOTED, Sign.PLEASE, Sign.OKAY, Sign.GREETING, Sign.IMPATIENT, Sign.ACTUALLY)}"
    rf"{BREAKS}]+"
)
ORDERS: Final = re.compile(
    rf"^[{PAD}{any_of(Sign.COMMA, Sign.STOPS, Sign.ALSO, Sign.SI)}]*(?:{Sign.ORDER}|[{Sign.WORK}"
    rf"{Sign.SEARCH}][{any_of(Sign.WITH, Sign.OWN, Sign.THE)}])"
)
MARKERS: Final = frozenset(
    (
        Sign.CHANGE,
        Sign.CHANGED,
        Sign.MEANT,
        Sign.INSTEAD,
        Sign.INSTEAD_OF,
        Sign.RATHER,
        Sign.RATHER_ADJ,
    )
)
"""A clause without any of these replaces nothing: each pattern of a replacement has one."""
HALTING: Final = frozenset((Sign.STOP, Sign.STOP_OPEN, Sign.HOLD, Sign.NEEDLESS, Sign.NEGATIVE))
"""A message without any of these stops nothing: each pattern of a stop has one."""
STEERING: Final = MARKERS | frozenset(
    (Sign.ACTUALLY, Sign.HOLD, Sign.NO, Sign.NO_OR_NOT, Sign.STOP, Sign.NOT, Sign.KEEP)
)
"""The same of a message that changes what runs, by markers or by what may stand before."""
STOPPING: Final = frozenset((Sign.STOP, Sign.STOP_OPEN))
"""A message without any of these stops nothing for certain."""
ORDERING: Final = frozenset((Sign.ORDER, Sign.WORK, Sign.SEARCH))
"""A clause without any of these begins no task of its own."""
TROUBLES: Final = frozenset((Sign.TROUBLE, Sign.FAILURE))
CLAUSES: Final = re.compile(rf"[{BREAKS}?]+")
