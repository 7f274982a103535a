"""What the wording of a chat message says: features for rule ``attach``, read without a model, in
many languages.

A message becomes its *shape*: one sign per known word or phrase, ``OWN`` for each word that the
table does not know. Rules are patterns over shapes. Two ideas carry them. **Coverage**: a message
orders a stop, asks after progress or wants nothing only where its phrases cover all of it; a word
of its own makes it a request about something else. **Place**: a correction stands at a clause's
beginning or end and needs its marker. What is quoted, negated, reported or asked orders nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ordain.wording.cues import Cues
from ordain.wording.engine_1.folding import LOOKED_AT, TOKENS_MAX, fold
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import (
    ACKNOWLEDGES,
    ACTUALLY,
    AGREES,
    ASKS_WHAT,
    ASKS_WORDS,
    BARE_ANSWER,
    BOTH,
    BREAKS,
    CHANGES,
    CHOSEN,
    CLAUSES,
    CONTRAST,
    DECLINED,
    HALTING,
    HAS_STOP,
    IMPATIENT,
    MARKERS,
    MAYBE_NOT,
    MEANT,
    NO_FIRST,
    NO_INSTEAD,
    NOT_USE,
    NUDGED,
    NUMBERED,
    OF_BETWEEN,
    OF_FIRST,
    OF_ORDER,
    ONLY_DATE,
    ORDERING,
    ORDERS,
    PLACED,
    PROGRESSES,
    RATHER_ADJ,
    RATHER_AFTER,
    RATHER_FIRST,
    RATHER_LAST,
    RATHER_VERB,
    REPLACES_FIRST,
    REPLACES_LAST,
    RESERVES,
    SHORT_LEAD,
    SPEAKS_ON,
    STEERING,
    STOP_FIRST,
    STOPPED,
    STOPPING,
    TROUBLED,
    TROUBLES,
    UNSTOPPED,
    USED,
    USES,
    YES_FIRST,
)
from ordain.wording.engine_1.phrases import compile_phrases, keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_1.times import names_number_time, names_spot, number_times
from ordain.wording.one_reading import made_once
from ordain.wording.table import Table

ORDER_SIGNS: Final = 40
"""Longest shape that may correct what runs; what is longer is a task of its own."""
BRIEF_SIGNS: Final = 48
"""Longest shape that can be anything but a request or a statement."""
OWN_WORDS: Final = 7
"""Most words of its own that a correction has: it names what changes, the rest is known."""
PLACE_SIGNS: Final = 10
STOPS_CLEARLY: Final = 2
"""The strength of an order to stop that nothing weakens."""
COUNTED: Final = 4000
_UNSPACED: Final = "\u1100"
"""From here on a character may be a word of its own."""

_ASKS, _DATE, _OWN, _QUOTED = map(str, (Sign.ASKS, Sign.DATE, Sign.OWN, Sign.QUOTED))


class CompiledReading:
    """Engine 1 over one table, compiled: 70 ms and 4 MB for the shipped one."""

    __slots__ = ("_phrases", "_searches", "_stopping", "_times")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._phrases = compile_phrases(table.phrases)
        self._searches = tuple(fold(ending) for ending in table.lists.get("search_endings", ()))
        self._times = number_times(table.lists)
        self._stopping = frozenset(
            key[0]
            for name, phrases in table.phrases
            if Sign[name.upper()] in STOPPING
            for phrase in phrases
            for key in keys(phrase)
        )

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """The beginning of a text, folded, in pieces: what each is taken for, by its sign's
        name.
        """
        return self.look(text).parts

    def look(self, text: str) -> Look:
        """The text as this engine sees it, for whoever reads more than one thing out of it."""
        return made_once(self._looked_at, text)

    def _looked_at(self, text: str) -> Look:
        return Look(text, self._phrases, self._searches)

    def may_stop(self, found: Sequence[str]) -> bool:
        """Whether a phrase that stops stands among the tokens: in most texts none does."""
        if self._stopping.isdisjoint(found):
            return False
        return any(
            tuple(found[at : at + len(phrase)]) == phrase
            for at, token in enumerate(found)
            if token in self._stopping
            for phrase, sign in self._phrases[token].known.items()
            if sign in STOPPING
        )

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        text = look.stripped
        if len(look.text) > COUNTED:
            text = look.text.lstrip()[:COUNTED]
            # what ends in blanks is read with them, as ever
            look = Look(text, self._phrases, self._searches, text[:LOOKED_AT])
        folded, found, signs = look.folded, look.tokens, look.signs
        whole = len(text) <= LOOKED_AT and is_brief(look)
        asks = _asks(signs)
        stop, steer = _orders(signs) if whole else (0, 0)
        nudge, trouble = _enquiries(signs) if whole else (0, 0)
        yes, no = _answers(signs)
        bare = folded.strip(" .!")  # "y" is a word of its own in Spanish: alone it is an answer
        number_time = names_number_time(self._times, folded)
        only_date = whole and ONLY_DATE.fullmatch(signs) is not None
        date_time = (
            number_time or _DATE in signs or (only_date and NUMBERED.search(signs) is not None)
        )
        placed = whole and not asks and not max(stop, nudge, trouble) and not yes and not no
        return Cues(
            words=_count(text, found),
            question=asks and not (only_date and date_time),
            stop=stop,
            steer=steer,
            nudge=nudge,
            trouble=trouble,
            filler=_filler(signs, len(found)) if whole and not max(stop, nudge, trouble) else 0,
            yes=whole and (yes or bare == "y"),
            no=whole and (no or bare == "n"),
            date_time=date_time,
            location=placed and _location(signs, folded, timed=number_time),
            choice=_choice(signs) if whole else "",
            order=begins_order(signs),
        )


def stops(look: Look) -> bool:
    """Whether the cues of what was looked at have a clear order to stop, and nothing else is asked
    of them.
    """
    if not look.is_short or not is_brief(look) or _stop(look.signs) < STOPS_CLEARLY:
        return False
    return _orders(look.signs)[0] == STOPS_CLEARLY


def is_brief(look: Look) -> bool:
    """Whether so few tokens and signs can be anything but a request or a statement."""
    return len(look.tokens) < TOKENS_MAX and len(look.signs) <= BRIEF_SIGNS


def begins_order(signs: str) -> bool:
    """Whether one of the clauses begins with the verb of a task of its own."""
    if ORDERING.isdisjoint(signs):
        return False
    return any(map(ORDERS.match, CLAUSES.split(signs)))


def _count(text: str, found: Sequence[str]) -> int:
    """Words; where a script writes none, half its characters."""
    spaced = len(text.split())
    if max(found, default="") < _UNSPACED:
        return spaced
    alone = len([said for said in found if said >= _UNSPACED and len(said) == 1])
    return max(spaced, (alone + 1) // 2)


def _asks(signs: str) -> bool:
    if _ASKS in signs:
        return True
    return any(ASKS_WORDS.search(clause) is not None for clause in CLAUSES.split(signs) if clause)


def _orders(signs: str) -> tuple[int, int]:
    """The strength of an order to stop, and of one to do it otherwise."""
    stop = _stop(signs)
    steer = _steer(signs, stop)
    if steer == 2 and stop == 2 and STOPPED.fullmatch(signs) is None:
        stop = 1
    return stop, steer


def _stop(signs: str) -> int:
    if HALTING.isdisjoint(signs) or UNSTOPPED.search(signs) is not None:
        return 0
    asked = Sign.ASKS in signs and Sign.CAN_YOU not in signs
    covered = STOPPED.fullmatch(signs.replace("?", ".")) is not None
    if covered and HAS_STOP.search(signs) is not None:
        return 1 if asked or MAYBE_NOT.search(signs) is not None else 2
    if covered and (Sign.NEEDLESS in signs or Sign.HOLD in signs):
        return 1
    if not asked and DECLINED.fullmatch(signs) is not None:
        return 1
    clauses = [clause for clause in CLAUSES.split(signs) if clause]
    if asked or any(ASKS_WHAT.match(clause) is not None for clause in clauses):
        return 0
    if not any(STOP_FIRST.match(clause) is not None for clause in clauses):
        return 0
    first, rest = clauses[0], clauses[1:]
    lone = (
        STOPPED.fullmatch(first) is not None
        and HAS_STOP.search(first) is not None
        and MAYBE_NOT.search(first) is None
    )
    said = Sign.SAID in signs or Sign.QUOTED in signs
    if (
        lone
        and rest
        and not said
        and len(signs) <= ORDER_SIGNS
        and SPEAKS_ON.match(rest[0]) is not None
    ):
        return 2
    return 1


def _steer(signs: str, stop: int) -> int:
    """A clear marker of replacement in a short message that is no question about something else."""
    if STEERING.isdisjoint(signs):
        return 0
    clauses = [clause for clause in CLAUSES.split(signs.replace("I,", "I")) if clause]
    if not clauses or any(sign in signs for sign in (Sign.SAID, Sign.KEEP, Sign.GO_ON)):
        return 0
    marked = max(_marked(clause) for clause in [*clauses, signs])
    asked = (Sign.ASKS in signs and Sign.CAN_YOU not in signs) or any(
        ASKS_WHAT.search(clause) is not None for clause in clauses
    )
    if marked < 2 and ACTUALLY.match(signs) is not None:
        after = [clause for clause in clauses if USES.match(clause) is not None]
        lone_stop = stop and len(clauses) > 1 and STOPPED.fullmatch(clauses[0]) is not None
        used = any(USED.match(clause) is not None for clause in after)
        marked = max(marked, 2 if used or (lone_stop and after) else 1)
    if (
        marked < 2
        and NOT_USE.match(clauses[0]) is not None
        and len(clauses) > 1
        and USES.match(clauses[1]) is not None
    ):
        marked = 2
    if marked < 2 and (CONTRAST.match(signs) is not None or RATHER_AFTER.match(signs) is not None):
        marked = 2
    if asked or (STOPPED.fullmatch(signs) is not None and HAS_STOP.search(signs) is not None):
        return 0
    own_task = len(clauses) > 1 and ORDERS.match(clauses[0]) is not None and _marked(clauses[0]) < 2
    long = len(signs) > ORDER_SIGNS or signs.count(Sign.OWN) > OWN_WORDS
    if NO_INSTEAD.match(signs) is not None and not long:
        return 2  # "no, do it another way instead": the no says what it replaces
    return min(marked, 1) if long or Sign.ALSO in signs or own_task else marked


def _marked(clause: str) -> int:
    if MARKERS.isdisjoint(clause):
        return 0
    strong = (
        CHANGES,
        MEANT,
        REPLACES_FIRST,
        OF_FIRST,
        OF_BETWEEN,
        OF_ORDER,
        RATHER_FIRST,
        RATHER_ADJ,
        RATHER_VERB,
        RATHER_LAST,
    )
    if any(pattern.search(clause) is not None for pattern in strong):
        return 2
    if Sign.INSTEAD in clause and USES.match(clause) is not None:
        return 2
    if REPLACES_LAST.search(clause) is not None and SHORT_LEAD.match(clause) is not None:
        return 2
    return int(
        any(sign in clause for sign in (Sign.INSTEAD, Sign.INSTEAD_OF, Sign.RATHER, Sign.CHANGE))
    )


def _enquiries(signs: str) -> tuple[int, int]:
    """The strength of a question after progress, and of one after what failed."""
    own = signs.count(_OWN) + signs.count(_QUOTED)
    if not TROUBLES.isdisjoint(signs):
        asked = Sign.TROUBLE in signs or Sign.ASKS in signs or Sign.QUESTION in signs
        if asked and TROUBLED.fullmatch(signs) is not None:
            return 0, 2
        if own <= 2 and (asked or len(signs) <= 2) and Sign.ORDER not in signs:
            return 0, 1
    if NUDGED.fullmatch(signs) is not None:
        if Sign.NUDGE in signs or PROGRESSES.search(signs) is not None:
            return 2, 0
    elif own <= 2 and Sign.NUDGE in signs and Sign.ORDER not in signs:
        return 1, 0
    return (1, 0) if IMPATIENT.fullmatch(signs) is not None else (0, 0)


def _filler(signs: str, size: int) -> int:
    if not signs.strip(BREAKS):
        return 2
    if BARE_ANSWER.fullmatch(signs) is not None:
        return 2 if size <= 2 or Sign.YES not in signs else 1
    if ACKNOWLEDGES.fullmatch(signs) is not None:
        if any(sign in signs for sign in (Sign.THANKS, Sign.OKAY, Sign.OKAY_IF, Sign.EMOJI)):
            return 2
        return int(
            any(
                sign in signs
                for sign in (Sign.YES, Sign.NO, Sign.NO_OR_NOT, Sign.GREETING, Sign.IMPATIENT)
            )
        )
    return int(
        signs[0] in (Sign.THANKS, Sign.OKAY)
        and signs.count(Sign.OWN) <= 3
        and Sign.ORDER not in signs
        and Sign.ASKS not in signs
    )


def _answers(signs: str) -> tuple[bool, bool]:
    """Whether the message answers yes, and whether no."""
    if _ASKS in signs or len(signs) > ORDER_SIGNS:
        return False, False
    if BOTH.match(signs) is not None:
        return True, True
    if NO_FIRST.match(signs) is not None:
        return False, True
    if AGREES.fullmatch(signs) is not None or (
        YES_FIRST.match(signs) is not None and RESERVES.search(signs) is None
    ):
        return True, False  # "yes, but not today" grants nothing: the question stays open
    return False, False


def _location(signs: str, folded: str, *, timed: bool) -> bool:
    """Short, nothing but names and what goes with places; not merely a time."""
    if len(signs) > PLACE_SIGNS * 2 or ORDERS.match(signs) is not None:
        return False
    if names_spot(folded):
        return True
    if Sign.DATE in signs or timed:
        return False
    placed = Sign.OWN in signs or Sign.PLACE in signs
    own = signs.count(Sign.OWN)
    return placed and own <= PLACE_SIGNS - 4 and PLACED.fullmatch(signs) is not None


def _choice(signs: str) -> str:
    if CHOSEN.fullmatch(signs) is None or len(signs) > PLACE_SIGNS:
        return ""
    one = Sign.ONE in signs
    two = Sign.TWO in signs or Sign.LETTER_B in signs
    if not one and not two:
        one = Sign.LETTER_A in signs
    elif two and Sign.LETTER_A in signs and Sign.LETTER_B in signs:
        one = True
    return "" if one == two else ("A" if one else "B")
