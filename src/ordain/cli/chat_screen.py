"""The screen of a chat: what was said scrolls away for good, below it stands what is on the way,
and the line that is being typed. By prompt_toolkit.

Only the chat at a terminal imports this: a message on the command line starts without it.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, DynamicCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    CompletionsMenu,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import (
    BeforeInput,
    Processor,
    Transformation,
    TransformationInput,
)
from prompt_toolkit.layout.utils import explode_text_fragments
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.widgets import SearchToolbar

from ordain.cli.columns import clipped, wrapped
from ordain.cli.screen import WITHIN, ScreenLine
from ordain.cli.typed_text import drawn_signs, typed_text
from ordain.rules.plain_reply import QUOTE

COLUMNS_MIN, ROWS_MIN = 20, 6
MENU_ROWS = 8
"""Of a list of what a word may become."""


def prompt_of(mode: str, verbs: Sequence[str]) -> str:
    """What stands before the line that is typed, where messages ask for this mode and these
    verbs.
    """
    named = "+".join(verbs)
    return (f"{mode}:{named}"[:30] if named else mode) + " > "


class ChatFace(Protocol):
    """What the screen shows and whom it tells: the chat."""

    @property
    def completer(self) -> Completer:
        """What Tab makes of what is typed."""
        ...

    def live(self, columns: int, rows: int) -> Sequence[ScreenLine]:
        """What is on the way, at most so many rows."""
        ...

    def label(self) -> str:
        """What stands before the line that is typed."""
        ...

    def entered(self, text: str) -> None:
        """A line, or a few, was typed."""
        ...

    def interrupted(self) -> None:
        """Ctrl-C where nothing was typed."""
        ...


class ChatScreen:
    """Draws on a terminal, and reads its keyboard. A pasted block is one message; Ctrl-C clears
    what was typed; Ctrl-R looks for what was said before.
    """

    def __init__(self, face: ChatFace, *, colour: bool) -> None:
        """Nothing is drawn yet. Another ``face`` may take its place at any time."""
        self.face, self.colour = face, colour
        self._said: list[ScreenLine] = []
        self._live: Sequence[ScreenLine] = ()
        self._typed = Buffer(
            multiline=True,
            history=InMemoryHistory(),
            completer=DynamicCompleter(lambda: self.face.completer),
            accept_handler=self._accepted,
            on_text_changed=_keep_text,
        )
        self._app = self._application()

    def _application(self) -> Application[None]:
        depth = ColorDepth.DEPTH_4_BIT if self.colour else ColorDepth.DEPTH_1_BIT
        output = Vt100_Output.from_pty(
            sys.stdout, term=os.environ.get("TERM"), default_color_depth=depth, enable_bell=False
        )
        # what does not know where it stands takes no more rows than it needs
        output.enable_cpr = False
        return Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            include_default_pygments_style=False,
            erase_when_done=True,
            output=output,
            before_render=self._look,
        )

    def _layout(self) -> Layout:
        search = SearchToolbar(search_buffer=Buffer(on_text_changed=_keep_text), ignore_case=True)
        typed = BufferControl(
            buffer=self._typed,
            input_processors=[_Drawn(), BeforeInput(self._label)],
            search_buffer_control=search.control,
            preview_search=True,
        )
        live = Window(FormattedTextControl(self._live_text), dont_extend_height=True)
        body = HSplit(
            [
                ConditionalContainer(live, filter=Condition(lambda: bool(self._live))),
                Window(typed, wrap_lines=True, dont_extend_height=True, height=self._height),
                search,
            ]
        )
        menu = Float(xcursor=True, ycursor=True, content=CompletionsMenu(max_height=MENU_ROWS))
        return Layout(FloatContainer(body, floats=[menu]), focused_element=typed)

    def _label(self) -> str:
        return self.face.label()

    def _height(self) -> Dimension:
        """Of what is typed; with room for the menu below it while that is open."""
        most = max(1, self.rows // 2)
        return Dimension(
            min=min(most, 1 + MENU_ROWS) if self._typed.complete_state else 1, max=most
        )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing, empty = ~is_searching, Condition(lambda: not self._typed.text)

        @keys.add("c-c", filter=typing)
        @keys.add("<sigint>")
        def _(_: KeyPressEvent) -> None:
            if self._typed.text:
                self._typed.reset()
            else:
                self.face.interrupted()

        @keys.add("enter", filter=typing)
        def _(_: KeyPressEvent) -> None:
            self._typed.validate_and_handle()

        @keys.add("escape", "enter", filter=typing)
        def _(_: KeyPressEvent) -> None:
            self._typed.insert_text("\n")

        @keys.add("c-d", filter=typing & empty)
        def _(_: KeyPressEvent) -> None:
            self.leave()

        return keys

    def _accepted(self, typed: Buffer) -> bool:
        self.face.entered(typed.text)
        return False

    # --- drawing ----------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """Columns that a line may take: one less than there are, since the last one wraps in some
        terminals.
        """
        return max(COLUMNS_MIN, self._size().columns - 1)

    @property
    def rows(self) -> int:
        """Rows of the terminal."""
        return max(ROWS_MIN, self._size().rows)

    def _size(self) -> Size:
        return self._app.output.get_size()

    def say(self, lines: Sequence[ScreenLine]) -> None:
        """Put these above what is live, for good."""
        if not lines or self._app.is_done:
            return
        self._app.renderer.erase()
        text: StyleAndTextTuples = []
        for line in lines:
            text += self._broken(line)
        print_formatted_text(
            self._app.output, text, self._app.renderer.style, color_depth=self._app.color_depth
        )
        self.redraw()

    def redraw(self) -> None:
        """Show how it stands now, soon."""
        self._app.invalidate()

    def _look(self, _: object) -> None:
        self._live = self.face.live(self.columns, self.rows - 3)

    def _live_text(self) -> StyleAndTextTuples:
        shown = self._live[-(self.rows - 2) :]
        parts = [
            self._styled(line, clipped(line.text, self.columns, self._spelled("…")))
            for line in map(self._writable, shown)
        ]
        return [
            fragment
            for at, part in enumerate(parts)
            for fragment in ([("", "\n")] if at else []) + part
        ]

    def _spelled(self, text: str) -> str:
        """The text as the terminal's encoding has it: a sign that it lacks stands there by its
        number, as in a pipe, and never as another one.
        """
        encoding = self._app.output.encoding()
        return text.encode(encoding, "backslashreplace").decode(encoding)

    def _writable(self, line: ScreenLine) -> ScreenLine:
        """The line so spelled; it may be longer then, and what is left of foreign words stands
        behind their mark.
        """
        spelled = self._spelled(line.text)
        if spelled == line.text:
            return line
        return ScreenLine(
            text=spelled,
            style=line.style,
            indent=QUOTE + WITHIN if line.text.startswith(QUOTE) else line.indent,
        )

    def _broken(self, line: ScreenLine) -> StyleAndTextTuples:
        line = self._writable(line)
        if line.spans:
            return [*self._styled(line, line.text), ("", "\n")]
        first, *rest = wrapped(line.text, self.columns, line.indent)
        text: StyleAndTextTuples = [*self._styled(line, first), ("", "\n")]
        for part in rest:
            text += [(self._style(line.style), part), ("", "\n")]
        return text

    def _styled(self, line: ScreenLine, text: str) -> StyleAndTextTuples:
        """With the first sign in the mark's colour."""
        if line.spans:
            return [(self._style(style), part) for style, part in line.spans]
        lead, style = len(text) - len(text.lstrip()), self._style(line.style)
        if not line.mark or lead >= len(text):
            return [(style, text)]
        return [("", text[:lead]), (self._style(line.mark), text[lead]), (style, text[lead + 1 :])]

    def _style(self, style: str) -> str:
        return style if self.colour else ""

    # --- its life ---------------------------------------------------------------------------------

    def remember(self, texts: Sequence[str]) -> None:
        """What was said before, oldest first: the arrows and Ctrl-R find it, behind what was typed
        here.
        """
        typed = self._typed.history.get_strings()
        self._typed.history = InMemoryHistory(
            [*(text for text in texts if text not in typed), *typed]
        )
        if not self._typed.text:
            # what is being typed, or completed, is left alone: the history is read anew when it has
            # gone
            self._typed.reset()

    async def run(self) -> None:
        """Read keys until somebody leaves, or the terminal is gone; then nothing of the live part
        is left behind.
        """
        try:
            await self._app.run_async(set_exception_handler=False)
        except EOFError:  # the terminal is gone
            return

    def leave(self) -> None:
        """End it, once."""
        if self._app.is_running and not self._app.is_done:
            self._app.exit()


class _Drawn(Processor):
    """What is typed stays as it was typed; here it is drawn, so that nothing of it commands the
    terminal or is not seen.
    """

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """See ``Processor``."""
        fragments = explode_text_fragments(transformation_input.fragments)
        signs = drawn_signs("".join(fragment[1] for fragment in fragments))
        # where each sign is drawn, and where the line ends
        starts = [0, *accumulate(map(len, signs))]
        past = starts[-1] - len(signs)
        return Transformation(
            [(fragment[0], sign) for fragment, sign in zip(fragments, signs, strict=True)],
            source_to_display=lambda at: starts[at] if at < len(starts) else at + past,
            display_to_source=lambda at: (
                bisect_right(starts, at) - 1 if at < starts[-1] else at - past
            ),
        )


def _keep_text(typed: Buffer) -> None:
    """Whatever was typed or pasted is text."""
    if (kept := typed_text(typed.text)) != typed.text:
        before = typed_text(typed.text[: typed.cursor_position])
        typed.document = Document(kept, min(len(before), len(kept)))
