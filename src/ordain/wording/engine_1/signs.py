"""The signs that stand for words in a message's shape: one letter per kind of word or phrase."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Sign(StrEnum):
    """What a word or a phrase is to the reading of a chat message; the shape of a message is a
    string of these letters.
    """

    STOP = "S"
    """A whole order to stop: *cancel*, *hör auf*, *never mind*."""
    STOP_OPEN = "T"
    """A stop order that lacks its object or particle: *brich … ab*, *forget …*."""
    HOLD = "H"
    """*wait*, *einen Moment*: says that something is wrong, not what."""
    NEEDLESS = "k"
    """A reason to stop: *I changed my mind*, *brauche ich nicht mehr*."""
    KEEP = "K"
    """An order not to stop: *don't stop*, *nicht abbrechen*."""
    GO_ON = "0"
    """*continue*, *weiter so*."""
    CHANGE = "M"
    """An order to replace something: *make it*, *change that to*, *ändere das in*."""
    CHANGED = "j"
    """The same where the verb follows its object: *にして*, *換成*."""
    USE = "U"
    """An order that needs a marker to be a correction: *use*, *take*, *try*."""
    INSTEAD = "I"
    """*instead*, *stattdessen*, *en su lugar*."""
    INSTEAD_OF = "J"
    """*instead of*, *anstatt*, *en vez de*."""
    RATHER = "L"
    """*rather*, *lieber*, *plutôt*."""
    RATHER_ADJ = "l"
    """The same word as an adjective: *mejor*, *besser*."""
    ACTUALLY = "a"
    """*actually*, *eigentlich*, *de hecho*."""
    MEANT = "c"
    """*I meant*, *ich meinte*, *quise decir*."""
    BUT = "b"
    """A reservation: *but*, *aber*, *unless*, *yes if*."""
    NOT_BUT = "4"
    """The second half of a contrast: *sondern*, *sino*."""
    ALSO = "+"
    """*also*, *auch*, *también*: adds, never replaces."""
    NUDGE = "G"
    """A whole question after progress: *any luck*, *wie weit bist du*."""
    IMPATIENT = "g"
    """*hello*, *and*, *well*: a nudge only with a question mark."""
    OKAY_IF = "B"
    """*c'est bon*, *klar*: an acknowledgement, or with a question mark a nudge."""
    PROGRESS = "v"
    """*done*, *ready*, *going*, *fertig*, *listo*."""
    STILL = "h"
    """*still*, *yet*, *already*, *schon*."""
    TROUBLE = "F"
    """A whole question after a failure: *what went wrong*."""
    FAILURE = "X"
    """*failed*, *error*, *schiefgelaufen*."""
    THANKS = "A"
    """An acknowledgement: *thanks*, *great*, *haha*."""
    OKAY = "o"
    """An acknowledgement that also answers yes: *ok*, *fine*, *👍*."""
    YES = "Y"
    """*yes*, *sure*, *ja*."""
    NO = "n"
    """An answer no that negates no verb: *nein*, *nope*."""
    NO_OR_NOT = "m"
    """An answer no that may also negate: *no* (also Spanish), *não*."""
    NOT = "N"
    """A negation: *don't*, *nicht*, *pas*."""
    SI = "i"
    """Spanish and Italian *si*: yes, or if."""
    NEGATIVE = "x"
    """A whole answer no: *better not*, *lieber nicht*, *not now*."""
    PLEASE = "P"
    """Politeness and padding."""
    CAN_YOU = "p"
    """A polite question that orders: *could you*, *kannst du*."""
    GREETING = "w"
    """*hi*, *hola*, *guten Morgen*."""
    IT = "R"
    """What stands for the running work: *it*, *that*, *everything*."""
    THE = "D"
    """A determiner."""
    WORK = "W"
    """A name of the running work: *search*, *task*, *Suche*."""
    SEARCH = "r"
    """A name of running work that may name its object: *the hotel search*."""
    I = "s"  # noqa: E741
    """*I*, *we*."""
    YOU = "z"
    """*you*."""
    BE = "e"
    """*is*, *are*, *have*, *hast*."""
    QUESTION = "Q"
    """A question word."""
    QUESTION_OPENS = "q"
    """The beginning of a question: *is there*, *can I*, *gibt es*."""
    QUESTION_ENDS = "y"
    """A particle that ends a question: *か*, *吗*."""
    ORDER = "O"
    """The verb of a task of its own: *find*, *book*, *translate*."""
    SAID = "V"
    """Speech is reported: *he said*, *sagte*."""
    WITH = "f"
    """A preposition or conjunction."""
    PARTICLE = "u"
    """The particle of a separable verb: *ab*, *auf*."""
    DATE = "d"
    """A word of dates and times."""
    NOW = "t"
    """*now*: padding, or an answer to when."""
    NUMBER = "#"
    """A number."""
    ONE = "1"
    """The first of two."""
    TWO = "2"
    """The second of two."""
    LETTER_A = "α"  # noqa: RUF001
    """*a*: an article, or the first of two."""
    LETTER_B = "β"
    """*b*."""
    CHOOSE = "C"
    """What surrounds a choice: *option*, *I take*."""
    PLACE = "@"
    """What announces a place: *near*, *I'm in*; or is one: *here*, *at home*."""
    EMOJI = "E"
    """Any other emoji."""
    QUOTED = "Z"
    """Something in quotation marks."""
    OWN = "_"
    """A word that the table does not know: the message's own matter."""
    COMMA = ","
    """A soft break."""
    STOPS = "."
    """A hard break."""
    ASKS = "?"
    """A question mark."""


BY_NAME: Final = {sign.name.lower(): sign.value for sign in Sign}
"""The letter of each sign, by the name that pieces have."""

PRECEDENCE: Final = (
    *(Sign.KEEP, Sign.GO_ON, Sign.NEEDLESS, Sign.CHANGE, Sign.CHANGED, Sign.INSTEAD),
    *(Sign.INSTEAD_OF, Sign.MEANT, Sign.RATHER, Sign.RATHER_ADJ, Sign.STOP, Sign.STOP_OPEN),
    *(Sign.HOLD, Sign.ACTUALLY, Sign.USE, Sign.NOT_BUT, Sign.BUT, Sign.ALSO),
    *(Sign.TROUBLE, Sign.NUDGE, Sign.IMPATIENT, Sign.PROGRESS, Sign.OKAY_IF, Sign.STILL),
    *(Sign.FAILURE, Sign.NEGATIVE, Sign.YES, Sign.OKAY, Sign.NO, Sign.NO_OR_NOT),
    *(Sign.SI, Sign.THANKS, Sign.NOT, Sign.ONE, Sign.TWO, Sign.LETTER_A),
    *(Sign.LETTER_B, Sign.CHOOSE, Sign.DATE, Sign.NOW, Sign.PLACE, Sign.CAN_YOU),
    *(
        Sign.PLEASE,
        Sign.GREETING,
        Sign.SAID,
        Sign.QUESTION_OPENS,
        Sign.QUESTION,
        Sign.QUESTION_ENDS,
    ),
    *(Sign.IT, Sign.SEARCH, Sign.WORK, Sign.ORDER, Sign.I, Sign.YOU),
    *(Sign.BE, Sign.PARTICLE, Sign.WITH, Sign.THE),
)
"""The signs that phrases may have; a phrase that two of them claim is the first one's."""

LISTS: Final = frozenset(
    {"clock", "hours", "days", "months", "within", "units", "counters", "search_endings"}
)
"""The lists of words that engine 1 looks into: what stands at a figure that is a time, and what a
compound ends in.
"""
