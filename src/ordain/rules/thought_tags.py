"""Thoughts that a model writes before, between or after its words, in whatever marks it puts around
them: told apart while they arrive, and in a whole answer alike. Pure.

A thought begins where the answer does, where a line does, or where a sentence has ended; a mark in
the midst of a sentence, in quotes or in code is a word.

What is recorded is read by ``proposals.read_text``, whose answer on recorded text stays as it was:
so an answer is brought into that one form before it is kept.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator

from ordain.rules.proposals import BLANKS_BEFORE, without_thought

_NAMES = "think|thinking|thoughts?|reasoning|reflection|analysis"
_OPEN = (
    rf"<(?:[a-z]{{1,20}}:)?(?:{_NAMES})(?:\s[^<>]{{0,80}})?>|◁(?:{_NAMES})▷|(?-i:\[THINK\])|"
    r"<\|(?:start_thinking|begin_of_thought)\|>"
)
_CLOSE = (
    rf"</(?:[a-z]{{1,20}}:)?(?:{_NAMES})\s{{0,8}}>|◁/(?:{_NAMES})▷|(?-i:\[/THINK\])|"
    r"<\|(?:end_thinking|end_of_thought)\|>"
)
OPEN = re.compile(_OPEN, re.IGNORECASE)
CLOSE = re.compile(_CLOSE, re.IGNORECASE)
EITHER = re.compile(rf"({_OPEN})|{_CLOSE}", re.IGNORECASE)
_STEMS = ("think", "thought", "reasoning", "reflection", "analysis")
"""Every mark has one of these, and a sign (``_has_sign``); most answers have none."""
_ALIKE = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")
"""What is no letter of ASCII, and the same as one to a pattern that ignores case."""
CHANNELS = re.compile(r"<\|(?:start|channel)\|>", re.IGNORECASE)
"""With one of these begins an answer whose parts name the channel that they are meant for."""
WORDS = re.compile(r"<\|channel\|>\s*final\b[^<>]{0,80}<\|message\|>", re.IGNORECASE)
"""After this stands what is meant for whoever asked."""
PART_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>", re.IGNORECASE)
CLOSED_MOST = 64
"""So many thoughts that end without having begun are passed over."""
MARK_CHARS = 128
"""Longest mark that is waited for while an answer arrives."""
PIECE_CHARS = 1024
"""So much of an answer is looked at at once."""
_BEGINS = re.compile(r"(?:<[^<>]*|◁[^◁▷]*|\[[/A-Za-z]{0,6})\Z")
_KEPT_BACK = re.compile(rf"{_BEGINS.pattern}|`+\Z")
_BEGINNINGS = ("<", "◁", "[", "`")
"""With one of them begins what is kept back."""
_LINE_REST = re.compile(r"[ \t]*(\r?\n)?")
_SENTENCE_ENDS = ".!?…。！？"  # noqa: RUF001 - those of other scripts too
_AFTER_SENTENCE = " \t*_)]”»\"'"
_QUOTES = "`\"'“‘«"  # noqa: RUF001 - what a mark that is only spoken of stands in
_FENCE = "```"


class WordsApart:
    """Follows one answer in words; gives out what of it is no thought, as soon as that is
    certain.
    """

    def __init__(self, *, unsure: bool = False) -> None:
        """One answer, one value. ``unsure``: it may begin within a thought that its prompt has
        opened, so nothing is certain before one ends, or the answer.

        ``parted`` says that there was a thought after the first words.
        """
        self._kept = ""
        self._ahead: str | None = None
        self._unsure = unsure
        self._held: list[str] = []
        self._depth = 0
        self._thought = False
        self._place = _Place()
        self.parted = False
        # not bound to this value: that would be a cycle
        self._step: Callable[[WordsApart, str], str] = WordsApart._before

    def feed(self, fragment: str) -> str:
        """What the next fragment adds to the words."""
        said: list[str] = []
        # what follows a mark is copied for each mark: of a piece, not of all that came
        for at in range(0, max(len(fragment), 1), PIECE_CHARS):
            self._ahead = self._kept + fragment[at : at + PIECE_CHARS]
            self._kept = ""
            while (text := self._ahead) is not None:
                self._ahead = None
                said.append(self._step(self, text))
        return "".join(said)

    def rest(self) -> str:
        """What was kept back for what might have followed, now that nothing does."""
        if self._thought and self._step == WordsApart._before:
            return self._kept.lstrip()  # blanks behind a thought are no words
        return "" if self.thinks else "".join(self._held) + self._kept

    @property
    def thinks(self) -> bool:
        """Whether all that came last is thought."""
        return self._step in (
            WordsApart._within_thought,
            WordsApart._within_later_thought,
            WordsApart._in_channels,
        )

    def _go_on(self, step: Callable[[WordsApart, str], str], text: str) -> str:
        """The next step, behind this one and not within it: an answer may be full of marks."""
        self._step, self._ahead = step, text
        return ""

    def _before(self, text: str) -> str:
        begun = text.lstrip()
        if not begun and len(text) <= BLANKS_BEFORE:
            self._kept = text
            return ""
        if len(text) - len(begun) <= BLANKS_BEFORE or self._thought:
            if CHANNELS.match(begun):
                return self._go_on(WordsApart._in_channels, begun)
            if (opened := OPEN.match(begun)) is not None:
                self._depth, self._thought = 1, True
                return self._go_on(WordsApart._within_thought, begun[opened.end() :])
            if self._thought and (stray := CLOSE.match(begun)) is not None:
                return self._go_on(WordsApart._before, begun[stray.end() :])
            if len(begun) < MARK_CHARS and _BEGINS.match(begun):
                self._kept = text
                return ""
        words = begun if self._thought else text
        return self._go_on(
            WordsApart._perhaps_thought
            if self._unsure and not self._thought
            else WordsApart._within_words,
            words,
        )

    def _perhaps_thought(self, text: str) -> str:
        """Words, or a thought that only ends: the first mark says which."""
        found = next(_marks(EITHER, text), None)
        if found is None:
            self._kept = _unfinished(text)
            self._held.append(text[: len(text) - len(self._kept)])
            return ""
        whole = "".join(self._held) + text
        at = len(whole) - len(text)
        self._held.clear()
        if found[1] or _is_spoken_of(whole, at + found.start()):
            return self._go_on(WordsApart._within_words, whole)
        self._thought = True
        return self._go_on(WordsApart._before, whole[at + found.end() :])

    def _within_thought(self, text: str) -> str:
        after = self._thought_end(text)
        return "" if after is None else self._go_on(WordsApart._before, after)

    def _thought_end(self, text: str) -> str | None:
        """What stands behind the end of the thought; None where it goes on."""
        done = 0
        for found in _marks(EITHER, text):
            done = found.end()
            self._depth += 1 if found[1] else -1
            if self._depth == 0:
                return text[done:]
        self._kept = _unfinished(text[done:])
        return None

    def _in_channels(self, text: str) -> str:
        if (found := WORDS.search(text)) is not None:
            return self._go_on(WordsApart._in_last_channel, text[found.end() :].lstrip())
        self._kept = text[-2 * MARK_CHARS :]
        return ""

    def _in_last_channel(self, text: str) -> str:
        if (end := PART_END.search(text)) is not None:
            self._go_on(WordsApart._after_all, "")
            return text[: end.start()]
        self._kept = _unfinished(text)
        return text[: len(text) - len(self._kept)]

    def _within_words(self, text: str) -> str:
        at = 0
        for found in _marks(OPEN, text):
            self._place.pass_by(text[at : found.start()])
            at = found.start()
            if self._place.begins_thought:
                self._depth, self.parted = 1, True
                self._go_on(WordsApart._within_later_thought, text[found.end() :])
                return text[:at]
        self._kept = _unfinished(text[at:], _KEPT_BACK)
        end = len(text) - len(self._kept)
        self._place.pass_by(text[at:end])
        return text[:end]

    def _within_later_thought(self, text: str) -> str:
        after = self._thought_end(text)
        return "" if after is None else self._go_on(WordsApart._after_later_thought, after)

    def _after_later_thought(self, text: str) -> str:
        """A thought that has its line for itself takes the line with it."""
        found = _LINE_REST.match(text)
        if found is None or (found[1] is None and text[found.end() :] in ("", "\r")):
            self._kept = text
            return ""
        end = found.end() if self._place.line_begins or found[1] is None else found.start(1)
        return self._go_on(WordsApart._within_words, text[end:])

    def _after_all(self, _: str) -> str:
        return ""


class _Place:
    """Where in its words an answer stands: what matters of its line, and whether that is in
    code.
    """

    def __init__(self) -> None:
        self._line = ""
        self._ticks = 0
        self._fences = 0

    def pass_by(self, words: str) -> None:
        """These words stand before it now; no run of backticks is cut between two calls."""
        self._fences += words.count(_FENCE)
        _, ended, line = words.rpartition("\n")
        self._ticks = line.count("`") + (0 if ended else self._ticks)
        self._line = (line if ended else self._line + words)[-MARK_CHARS:]

    @property
    def line_begins(self) -> bool:
        """Whether nothing but blanks stands before it on its line."""
        return not self._line.strip()

    @property
    def begins_thought(self) -> bool:
        """Whether a mark that opens a thought does so here, and is no word among words."""
        if self._fences % 2 or self._ticks % 2 or self._line[-1:] in (*_QUOTES,):
            return False
        last = self._line.rstrip(_AFTER_SENTENCE)[-1:]
        return not last or last in _SENTENCE_ENDS or unicodedata.category(last) == "So"


def _has_sign(text: str) -> bool:
    """Whether anything stands in a text that every mark of a thought has, or of a channel."""
    return "<" in text or "◁" in text or "THINK]" in text


def _marks(kind: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The marks of a kind in a text. Whether there may be one is far quicker to say."""
    if not _has_sign(text):
        return iter(())
    lowered = (text if text.isascii() else text.translate(_ALIKE)).lower()
    return kind.finditer(text) if any(stem in lowered for stem in _STEMS) else iter(())


def _unfinished(text: str, begins: re.Pattern[str] = _BEGINS) -> str:
    """The end of a text that may be the beginning of a mark, or of what else ``begins`` keeps."""
    end = text[-MARK_CHARS:]
    if not any(sign in end for sign in _BEGINNINGS):
        return ""
    found = begins.search(end)
    return "" if found is None else found[0]


def begins_within_thought(text: str) -> bool:
    """Whether a whole answer begins with a thought that only ends in it: its prompt has opened
    that.
    """
    return _stray_end(text) is not None


def _stray_end(text: str) -> re.Match[str] | None:
    first = next(_marks(EITHER, text), None)
    return None if first is None or first[1] or _is_spoken_of(text, first.start()) else first


def spoken(text: str) -> str:
    """The words of a whole answer: without the thoughts around them, one that was opened by the
    prompt and only ends here among them.
    """
    for _ in range(CLOSED_MOST):
        if (first := _stray_end(text)) is None:
            break
        text = text[first.end() :].lstrip()
    follower = WordsApart()
    said = follower.feed(text) + follower.rest()
    if follower.parted:
        return said.lstrip()  # as what is recorded is read
    if said or not follower.thinks:
        return said
    ends = [found.end() for found in CLOSE.finditer(text)]
    return text[ends[-1] :].lstrip() if ends else ""  # opened twice and closed once


def _is_spoken_of(text: str, at: int) -> bool:
    """Whether a mark stands there as a word among words: in quotes or within code."""
    return (at > 0 and text[at - 1] in _QUOTES) or text.count(_FENCE, 0, at) % 2 == 1


def canonical(text: str, words: str) -> str:
    """An answer with these ``words`` (``spoken``), whose thought, if it has one, stands as
    ``read_text`` knows it: nothing of the words changes, nor of an answer that it reads so already.
    """
    if without_thought(text) == words:
        return text
    before = text.rpartition(words)[0] if words and text.endswith(words) else text
    # of one between words all that was said is kept, and the words once more below it
    thought = EITHER.sub(" ", before)
    return f"<think>{thought.strip()}</think>\n\n{words}"


_MARK_OR_OBJECT = re.compile(rf"({_OPEN})|({_CLOSE})|\{{", re.IGNORECASE)
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def without_thoughts(text: str) -> str:
    """An answer that is to hold JSON, without the thoughts around its objects: what stands in one
    is no proposal, and what an object's own texts hold is theirs.

    A thought that is never closed reaches to the end; before one that only ends all is thought. An
    answer without a mark stays as it is.
    """
    if not _has_sign(text):
        return text
    if CHANNELS.match(text.lstrip()):
        return spoken(text)
    if next(_marks(EITHER, text), None) is None:
        return text
    parts: list[str] = []
    at = done = closed = fences = counted = 0
    while (found := _MARK_OR_OBJECT.search(text, at)) is not None:
        at = found.end()
        if found[1] or found[2]:
            # from where it was counted to: the time is linear
            fences += text.count(_FENCE, counted, found.start())
            counted = found.start()
            if fences % 2 or text[max(0, counted - 1) : counted] in (*_QUOTES,):
                continue
            if found[2]:  # the prompt has opened it
                parts.clear()
            else:
                parts.append(text[done : found.start()])
                at = _end_of_thought(text, at)
            done = at
        elif (end := _end_of_object(text, found.start())) is not None:
            at = end
        else:
            # no object: unless a thought ends behind it, what follows stays, and is found to be
            # broken
            after = EITHER.search(text, at)
            closed += 1
            if after is None or after[1] or closed > CLOSED_MOST:
                break
            at = after.start()
    return ("".join(parts) + text[done:]).lstrip() if done else text


def _end_of_thought(text: str, at: int) -> int:
    depth, last = 1, None
    for found in EITHER.finditer(text, at):
        depth += 1 if found[1] else -1
        last = last if found[1] else found.end()
        if depth == 0:
            return found.end()
    return len(text) if last is None else last  # opened twice and closed once, or never closed


def _end_of_object(text: str, at: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (json.JSONDecodeError, RecursionError):
        return None
