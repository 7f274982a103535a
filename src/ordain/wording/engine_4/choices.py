"""A choice among options that were offered: the whole message names one of them, by letter, figure,
place or words of its label, and says no more.

What may stand around the name are courtesies and a closed list of the table (*I take*, *the …
one*). A word of neither makes it no choice: it is a doubt (*maybe A*), a condition or a matter of
its own, and goes back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from typing import Final

from ordain.wording.engine_1.folding import LOOKED_AT, fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_3.choices import LETTERS
from ordain.wording.engine_3.whole import ClosedLists, is_plain
from ordain.wording.engine_4.alphabet import accented, is_clear, listed_letters
from ordain.wording.table import Table

CHOOSING: Final = "choosing"
"""The list of what stands around a choice and says nothing: *I take*, *option*, *the*."""
CHOICE_TOKENS: Final = 40
"""Most tokens of a message that chooses; labels may be long."""
TAGGED_MAX: Final = 3
_TWO: Final = ("", "")
_TAGGED: Final = re.compile(r"\(?([a-iA-I1-9])[).:]?")
_BREAKS: Final = frozenset(",.!;:\n")
_MARKS: Final = frozenset("():;/-~,.!\n")
_COURTESIES: Final = "courtesies"
_TURNING: Final = frozenset(
    sign.name.lower()
    for sign in (Sign.NOT, Sign.NO, Sign.NO_OR_NOT, Sign.BUT, Sign.NOT_BUT, Sign.INSTEAD_OF)
)

_NO_NAMES: Final = _TURNING | frozenset(
    sign.name.lower()
    for sign in (
        Sign.IT,
        Sign.THE,
        Sign.I,
        Sign.YOU,
        Sign.WITH,
        Sign.BE,
        Sign.PLEASE,
        Sign.USE,
        Sign.STOP,
        Sign.HOLD,
        Sign.YES,
        Sign.SI,
        Sign.OKAY,
    )
)
"""Signs of small words: none of them names one option among others."""


class ClosedChoices:
    """The lists that choices are read by, compiled."""

    __slots__ = (
        "_around",
        "_begins",
        "_closed",
        "_courtesies",
        "_ends",
        "_last",
        "_letters",
        "_longest",
        "_named_most",
        "_no_names",
        "_places",
        "_turning",
    )

    def __init__(self, table: Table, closed: ClosedLists) -> None:
        """``closed`` are the table's whole messages: a yes, a no or a *wait* is no word of a
        label.
        """
        self._closed = closed
        self._courtesies = _keys_of(table, _COURTESIES)
        self._around = _keys_of(table, CHOOSING) | self._courtesies
        self._turning, self._no_names = _words_of(table, _TURNING), _words_of(table, _NO_NAMES)
        self._letters = table.once(listed_letters)
        self._longest = max(map(len, self._around), default=1)
        self._begins, self._ends = ({key[at] for key in self._around} for at in (0, -1))
        self._places: dict[tuple[str, ...], int] = {}
        self._last = set[tuple[str, ...]]()
        for sign, at in (("one", 0), ("two", 1)):
            for phrase in (
                phrase
                for claimed, phrases in table.phrases
                if claimed == sign
                for phrase in phrases
            ):
                self._places.update(dict.fromkeys(keys(phrase), at))
                if phrase.startswith(("last", "letzt", "latter")):
                    self._last |= keys(phrase)
        self._named_most = max(map(len, self._places), default=1)

    def lettered(self, look: Look) -> str:
        """The letter of the one of two options without labels that the message chooses, "" where it
        chooses none. ``look`` is engine 1's at it.
        """
        text = look.text
        if len(text) > LOOKED_AT:
            return ""
        if len(look.stripped) <= TAGGED_MAX and (tagged := _TAGGED.fullmatch(look.stripped)):
            named = self._tagged(tagged[1], _TWO)
        elif "?" in text:
            return ""
        else:
            read = look.tokens if look.is_all else tokens(fold(text))
            found = [token for token in read if token[0] not in _BREAKS]
            if not self._may_letter(found):
                return ""
            named = self._among(text, _TWO, found)
            if not named or not is_plain(text) or not is_clear(text, self._letters):
                return ""
        return LETTERS[named.pop()] if len(named) == 1 else ""

    def _may_letter(self, found: Sequence[str]) -> bool:
        """Whether so little is left within what stands around a choice that it can be a letter, a
        figure or a place: of most messages all is left.
        """
        if not found or len(found) > CHOICE_TOKENS:
            return False
        begin, end = 0, len(found)
        if found[0] in self._begins:
            begin = max(at for at, reached in enumerate(self._padded(found)) if reached)
        if end - begin > self._named_most and found[-1] in self._ends:
            after = self._padded(found[::-1], reverse=True)
            end -= max(at for at, reached in enumerate(after) if reached)
        return end - begin <= self._named_most

    def chosen(self, text: str, options: Sequence[str]) -> str:
        """The letter of the one option that the message chooses, "" where it chooses none or could
        mean two.
        """
        if len(text) > LOOKED_AT or not options:
            return ""
        named = {
            at
            for at, option in enumerate(options)
            if option and _same(option) and _same(option) == _same(text)
        }
        if not is_plain(text):
            # *send it...* is broken off, unless it was offered so
            named = {at for at in named if options[at].strip() == text.strip()}
        if (tagged := _TAGGED.fullmatch(text.strip())) is not None:
            named |= self._tagged(tagged[1], options)
        elif (
            not named
            and "?" not in text
            and is_plain(text)
            and is_clear(text, self._letters | accented(options))
        ):
            found = [token for token in tokens(fold(text)) if token[0] not in _BREAKS]
            named = self._among(text, options, found)
        return LETTERS[named.pop()] if len(named) == 1 else ""

    def places(self, words: Iterable[str]) -> bool:
        """Whether one of the words is that of a place: *the second*."""
        return any((word,) in self._places for word in words)

    def _tagged(self, tag: str, options: Sequence[str]) -> set[int]:
        at = int(tag) - 1 if tag.isdecimal() else LETTERS.index(tag.upper())
        worded = {
            number
            for number, option in enumerate(options)
            if tag.isdecimal() and tag in _words(option)
        }
        return worded | ({at} if at < len(options) else set())

    def _among(self, text: str, options: Sequence[str], found: Sequence[str]) -> set[int]:
        if not found or len(found) > CHOICE_TOKENS:
            return set()
        before = self._padded(found)
        after = list(reversed(self._padded(found[::-1], reverse=True)))
        words, spelled = (
            [_words(option) if option else () for option in options],
            unicodedata.normalize("NFKC", text).casefold().split(),
        )
        named, partly = set[int](), set[int]()
        # where only courtesies follow is one of them
        ends = [end for end, reached in enumerate(after) if reached]
        for begin in (begin for begin in range(len(found)) if before[begin]):
            for end in (end for end in ends if end > begin):
                letter = (
                    end == begin + 1
                    and len(found[begin]) == 1
                    and found[begin].isascii()
                    and end < len(found)
                    and found[end].isascii()
                )
                # *a lo mejor* begins with a word, and with no letter
                if not letter or self._is_polite(found[end:]):
                    core = tuple(found[begin:end])
                    named |= self._named(core, words, spelled)
                    partly |= self._partly(core, words)
        return named or partly

    def _is_polite(self, behind: Sequence[str]) -> bool:
        """Whether all that stands behind is courtesies."""
        return self._padded(behind[::-1], reverse=True, around=self._courtesies)[-1]

    def _padded(
        self,
        found: Sequence[str],
        *,
        reverse: bool = False,
        around: frozenset[tuple[str, ...]] | None = None,
    ) -> list[bool]:
        """Up to which places all that was said stands around a choice."""
        reached = [True, *[False] * len(found)]
        last, known = 0, self._around if around is None else around
        for at in range(len(found)):
            if at > last:
                break
            if not reached[at]:
                continue
            for end in range(at + 1, min(at + self._longest, len(found)) + 1):
                key = tuple(found[at:end])
                if (key[::-1] if reverse else key) in known:
                    reached[end] = True
                    last = max(last, end)
        return reached

    def _named(
        self, core: tuple[str, ...], words: Sequence[tuple[str, ...]], spelled: Sequence[str]
    ) -> set[int]:
        named = {at for at, label in enumerate(words) if core == label}
        if len(named) == 1 and len(core) > 1:
            return named  # whole it is one, though another may have its words, too
        if len(core) == 1 and len(core[0]) == 1 and core[0].upper() in LETTERS[: len(words)]:
            # with an accent it is another word, and none of an answer
            plain = any(word.strip(",.!;:()") == core[0] for word in spelled)
            return named | ({LETTERS.index(core[0].upper())} if plain else set())
        if len(core) == 1 and core[0].isdecimal():
            at = int(core[0]) - 1
            return (
                named
                | {at for at in {at} if 0 <= at < len(words)}
                | {at for at, label in enumerate(words) if core[0] in label}
            )
        if (
            (place := self._places.get(core)) is not None
            and place < len(words)
            and (core not in self._last or len(words) == 2)
        ):
            named.add(place)
        return named

    def _partly(self, core: tuple[str, ...], words: Sequence[tuple[str, ...]]) -> set[int]:
        """The labels that have these words in this order; none where what is left out of it turns
        the only one round: *delete* is not *do not delete*.
        """
        left = {at: _left_out(core, label) for at, label in enumerate(words) if label}
        found = {at for at, rests in left.items() if rests}
        if not found or not self._tells(core):
            return set()
        if len(found) == 1 and all(
            not self._turning.isdisjoint(rest) for at in found for rest in left[at]
        ):
            return set()
        return found

    def _tells(self, core: tuple[str, ...]) -> bool:
        """Whether some words of a label are enough to know it by: not those that stand around any
        choice, and none that answer by themselves.
        """
        return any(
            len(word) > 1 and word not in self._no_names and (word,) not in self._around
            for word in core
        ) and not self._closed.ways(" ".join(core))


def _left_out(core: tuple[str, ...], label: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What is left of a label without these words, for each place where they stand in it."""
    places = range(len(label) - len(core) + 1)
    return [
        (*label[:at], *label[at + len(core) :])
        for at in places
        if label[at : at + len(core)] == core
    ]


def _same(text: str) -> str:
    """A text in the form in which it is the same as another: width, case and blanks aside."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .!")


def _words(option: str) -> tuple[str, ...]:
    said = fold(option).replace('"', " ")  # what a label quotes is what it is known by
    return tuple(word for word in tokens(said) if word[0] not in _MARKS)


def _words_of(table: Table, signs: Set[str]) -> frozenset[str]:
    """The single words that stand under these signs."""
    found = (
        key
        for sign, phrases in table.phrases
        if sign in signs
        for phrase in phrases
        for key in keys(phrase)
    )
    return frozenset(key[0] for key in found if len(key) == 1)


def _keys_of(table: Table, name: str) -> frozenset[tuple[str, ...]]:
    phrases: Iterable[str] = table.lists.get(name, ())
    return frozenset(key for phrase in phrases for key in keys(phrase))
