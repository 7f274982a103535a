"""A model's Markdown as lines of a terminal, each behind its mark. By rich, and imported only for somebody who sits at one.

Nothing is hidden by it: images, links, HTML, definitions, entities and tables stand there as they were written, and a line that ended ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement, TextElement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from ordain.cli.columns import fitting, width
from ordain.cli.screen import CYAN, DIM, ScreenLine
from ordain.rules.plain_reply import QUOTE, cleaned

HIDING = ("html_block", "reference", "html_inline", "image", "link", "autolink", "entity")
"""What of Markdown would show something else than what stands there, or nothing."""
_PARSER = MarkdownIt().enable("strikethrough").disable(list(HIDING))


class StyledPart(NamedTuple):
    """Part of a line: its style, and what stands there."""

    style: str
    text: str


def markdown_lines(text: str, columns: int) -> list[ScreenLine]:
    """Foreign text, cleaned, as lines that fit."""
    room = max(2, columns - len(QUOTE))
    console = Console(file=StringIO(), width=room, color_system=None, legacy_windows=False)
    lines = console.render_lines(_Legible(cleaned(text).strip("\n")), console.options, pad=False)
    found = [line for segments in lines for line in _fitted([_span(one) for one in segments if not one.control], room)]
    return [_line([StyledPart("", QUOTE), *spans]) for spans in found]


class _Heading(Heading):
    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Code(TextElement):
    """Code as it was written, without guesses at what its letters mean; what was said of it stands above it."""

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
        for line in console.render_lines(code, options.update(width=max(1, options.max_width - 2)), pad=False):
            yield Segment("  ")
            yield from line
            yield Segment.line()


class _Legible(Markdown):
    elements = {**Markdown.elements, "heading_open": _Heading, "fence": _Code, "code_block": _Code}

    def __init__(self, markup: str) -> None:
        super().__init__("")
        self.parsed = _PARSER.parse(markup)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"


def _span(segment: Segment) -> StyledPart:
    style = segment.style or Style.null()
    said = (("bold", style.bold), ("italic", style.italic), (DIM, style.dim), ("underline", style.underline), ("strike", style.strike))
    names = [name for name, on in said if on] + ([CYAN] if style.color is not None else [])
    return StyledPart(" ".join(names), segment.text)


def _fitted(spans: Iterable[StyledPart], room: int) -> Iterator[list[StyledPart]]:
    """One line as those that there is room for: what a library takes for one column may take two."""
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
