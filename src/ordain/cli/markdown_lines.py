"""A model's Markdown as lines of a terminal, each behind its mark. By rich, and imported only for
somebody who sits at one.

Nothing is hidden by it: images, links, HTML, definitions, entities, tables and strokes before signs
stand there as they were written, a list has the numbers that it was given, and a line that ended
ends. Where quotations and lists lie so deep that there is no room for their words, all of it stands
as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from string import punctuation
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, ListElement, ListItem, Markdown, MarkdownElement, TextElement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from ordain.cli.columns import fitting, width
from ordain.cli.output import marked_lines
from ordain.cli.screen import CYAN, DIM, ScreenLine
from ordain.rules.plain_reply import QUOTE, cleaned

HIDING = ("html_block", "reference", "html_inline", "image", "link", "autolink", "entity")
"""What of Markdown would show something else than what stands there, or nothing."""
MARKS = frozenset("*_~`#>+-=")
"""Signs by which Markdown says how something looks, and which are not shown then."""
TAKES = {"blockquote_open": 4, "bullet_list_open": 3}
"""Columns before what stands within; of a list with numbers it depends on them."""
ROOM_MIN = 8
"""Columns that words need within quotations and lists: with fewer nobody reads them."""


class StyledPart(NamedTuple):
    """Part of a line: its style, and what stands there."""

    style: str
    text: str


def markdown_lines(text: str, columns: int) -> list[ScreenLine]:
    """Foreign text, cleaned, as lines that fit."""
    room, given = max(2, columns - len(QUOTE)), cleaned(text).strip("\n")
    read = _Legible(given)
    if _taken(read.parsed) > max(0, room - ROOM_MIN):
        return _as_written(given, columns)
    console = Console(file=StringIO(), width=room, color_system=None, legacy_windows=False)
    lines = console.render_lines(read, console.options, pad=False)
    found = [
        line
        for segments in lines
        for line in _fitted([_span(one) for one in segments if not one.control], room)
    ]
    if not _has_all(given, (part for line in found for _, part in line)):
        return _as_written(given, columns)
    return [_line([StyledPart("", QUOTE), *spans]) for spans in found]


def _as_written(given: str, columns: int) -> list[ScreenLine]:
    return [_line([StyledPart("", line)]) for line in marked_lines(given, columns)]


def _taken(tokens: Iterable[Token]) -> int:
    """The most columns that the marks of quotations and lists take before words."""
    taken, most = list[int](), 0
    for token in tokens:
        if token.nesting > 0:
            taken.append(
                len(_numbered(token)) + len("  ") if token.info else TAKES.get(token.type, 0)
            )
            most = max(most, sum(taken))
        elif token.nesting < 0:
            taken.pop()
    return most


def _has_all(given: str, shown: Iterable[str]) -> bool:
    """Whether every sign that is no mark stands among what is shown, in its order: a parser and a
    library have bounds of their own.
    """
    signs = (sign for part in shown for sign in part)
    return all(sign in signs for sign in given if sign not in MARKS and not sign.isspace())


def _stroke(state: StateInline, silent: bool) -> bool:
    """In place of the parser's own rule: the sign behind a stroke is no mark, and both stand
    there.
    """
    pair = state.src[state.pos : state.pos + 2]
    if len(pair) < 2 or pair[0] != "\\" or pair[1] not in punctuation:
        return False
    if not silent:
        state.pending += pair
    state.pos += len(pair)
    return True


def _numbered(token: Token) -> str:
    """A list's number as it was given, with the sign behind it; "" where the list has none."""
    return f"{token.info}{token.markup}" if token.info else ""


_PARSER = MarkdownIt().enable("strikethrough").disable(list(HIDING))
_PARSER.inline.ruler.at("escape", _stroke)


class _Item(ListItem):
    def __init__(self, numbered: str) -> None:
        super().__init__()
        self.numbered = numbered

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:  # noqa: ARG003 - as rich calls it
        return cls(_numbered(token))


class _List(ListElement):
    """With the numbers that were written, where there are any."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        labels = [item.numbered for item in self.items if isinstance(item, _Item)]
        lead = max(map(len, labels), default=0) + len("  ")
        for item, label in zip(self.items, labels, strict=True):
            if not label:
                yield from item.render_bullet(console, options)
                continue
            rest = console.render_lines(
                item.elements, options.update(width=options.max_width - lead), style=item.style
            )
            for at, line in enumerate(rest):
                yield Segment(" " * lead if at else f"{label.rjust(lead - 1)} ", Style(bold=True))
                yield from line
                yield Segment.line()


class _Heading(Heading):
    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Code(TextElement):
    """Code as it was written, without guesses at what its letters mean; what was said of it stands
    above it.
    """

    style_name = "markdown.code"

    def __init__(self, info: str) -> None:
        self._info = info

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:  # noqa: ARG003 - as rich calls it
        return cls(token.info.strip())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._info:
            yield Text(self._info, style=Style(dim=True), overflow="fold")
        code = Text(self.text.plain.rstrip("\n"), style=self.style, overflow="fold")
        for line in console.render_lines(
            code, options.update(width=max(1, options.max_width - 2)), pad=False
        ):
            yield Segment("  ")
            yield from line
            yield Segment.line()


class _Legible(Markdown):
    elements = {
        **Markdown.elements,
        "heading_open": _Heading,
        "list_item_open": _Item,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, markup: str) -> None:
        super().__init__("")
        self.parsed = _PARSER.parse(markup)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"


def _span(segment: Segment) -> StyledPart:
    style = segment.style or Style.null()
    said = (
        ("bold", style.bold),
        ("italic", style.italic),
        (DIM, style.dim),
        ("underline", style.underline),
        ("strike", style.strike),
    )
    names = [name for name, on in said if on] + ([CYAN] if style.color is not None else [])
    return StyledPart(" ".join(names), segment.text)


def _fitted(spans: Iterable[StyledPart], room: int) -> Iterator[list[StyledPart]]:
    """One line as those that there is room for: what a library takes for one column may take
    two.
    """
    line, left = list[StyledPart](), room
    for style, text in spans:
        rest = text
        while width(rest) > left:
            most = fitting(rest, left)
            yield [*line, StyledPart(style, rest[:most])]
            line, left, rest = [], room, rest[most:]
        line.append(StyledPart(style, rest))
        left -= width(rest)
    yield line


def _line(spans: list[StyledPart]) -> ScreenLine:
    text = "".join(part for _, part in spans)
    shown = text.rstrip()
    while spans and not spans[-1][1].strip():
        spans = spans[:-1]
    return ScreenLine(text=shown, spans=tuple(spans))
