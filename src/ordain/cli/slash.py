"""Slash commands of the interactive chat: what they are, and what a typed line means. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from ordain.contracts.nearest import did_you_mean

MODES: Mapping[str, str] = {"chat": "brain", "agent": "agent", "council": "council"}
"""What people call the mode of a message, and what the message does."""
STOP, STATUS = "stop", "status?"
"""What ``/stop`` and ``/status`` say to the session."""
REQUESTS = frozenset({"new_request", "override", "triage"})
"""How a message is attached that ``/retry`` sends again."""


class Slash(StrEnum):
    """The commands."""

    STOP = "/stop"
    STATUS = "/status"
    APPROVE = "/approve"
    DENY = "/deny"
    WHY = "/why"
    RETRY = "/retry"
    ATTACH = "/attach"
    MODE = "/mode"
    VERB = "/verb"
    SESSION = "/session"
    THREADS = "/threads"
    HELP = "/help"
    QUIT = "/quit"


ABOUT: Mapping[Slash, tuple[str, str]] = {
    Slash.STOP: ("", "stop what runs: sends “stop”, and code decides what that means"),
    Slash.STATUS: (
        "",
        (
            "how it stands: sends “status?”, answered from the journal; the threads where "
            "nothing is "
            "at work"
        ),
    ),
    Slash.APPROVE: (
        "[ID [WHY ...]]",
        (
            "say yes to exactly the approval that was shown; without ID to the only one that is "
            "open here"
        ),
    ),
    Slash.DENY: ("[ID] [WHY ...]", "say no to it"),
    Slash.WHY: ("", "the whole header of the last reply, its reasons in words"),
    Slash.RETRY: ("", "send the last request again"),
    Slash.ATTACH: ("FILE", "a text, Markdown, HTML, PDF or image goes with the next message"),
    Slash.MODE: (
        f"[{'|'.join(MODES)}]",
        "one answer, work with tools, or several voices first: for what is sent from here on",
    ),
    Slash.VERB: ("[ID ... | -]", "one verb serves each turn, several are its tools, - names none"),
    Slash.SESSION: ("[ID]", "show this session, or go to another"),
    Slash.THREADS: ("", "the session's threads"),
    Slash.HELP: ("", "this list"),
    Slash.QUIT: ("", "leave; what runs goes on"),
}


LOOKING = frozenset(
    {Slash.WHY, Slash.MODE, Slash.VERB, Slash.SESSION, Slash.THREADS, Slash.HELP, Slash.QUIT}
)
"""What without words only looks, or leaves: it says nothing to the session and changes nothing."""


class SlashWords(Struct, frozen=True, kw_only=True):
    """Words for the session."""

    text: str


class Command(Struct, frozen=True, kw_only=True):
    """A command with its words."""

    name: Slash
    words: tuple[str, ...] = ()

    @property
    def only_looks(self) -> bool:
        """Whether it only looks, or leaves."""
        return self.name in LOOKING and not self.words


class Unclear(Struct, frozen=True, kw_only=True):
    """No command; ``why`` is for the screen."""

    why: str


def meaning(line: str) -> SlashWords | Command | Unclear | None:
    """What a typed line means; None for an empty one. A text that begins with a slash is typed with
    two.
    """
    text = line.strip()
    if not text:
        return None
    if text.startswith("//"):
        return SlashWords(text=text[1:])
    if not text.startswith("/"):
        return SlashWords(text=text)
    name, *words = text.split()
    found = named_slash(name)
    if found is None:
        meant = "" if _begun(name) else did_you_mean(name, Slash)
        return Unclear(
            why=f"{name} is no command; /help lists them, // begins a text with a slash{meant}"
        )
    command = Command(name=found, words=tuple(words))
    if words and not ABOUT[command.name][0]:
        return Unclear(why=f"{command.name} takes no words")
    if command.name is Slash.MODE and words:
        mode = mode_called(words[0])
        if mode is None or len(words) > 1:
            return Unclear(why=no_mode(words[0]))
        return Command(name=command.name, words=(mode,))
    if command.name is Slash.SESSION and len(words) > 1:
        return Unclear(why="/session takes one id")
    return command


def mode_called(word: str) -> str | None:
    """What people call the mode that this word names: their own word for it or a message's; None
    where it names none.
    """
    return next((shown for shown, sent in MODES.items() if word in (shown, sent)), None)


def no_mode(word: str) -> str:
    """Of a word that names no mode."""
    return f"the modes are {', '.join(MODES)}{did_you_mean(word, MODES)}"


def named_slash(name: str) -> Slash | None:
    """The command of this name, or the only one that begins so."""
    found = [slash for slash in Slash if slash == name] or _begun(name)
    return found[0] if len(found) == 1 else None


def _begun(name: str) -> list[Slash]:
    return [slash for slash in Slash if slash.startswith(name) and len(name) > 1]


def help_lines() -> list[str]:
    """Every command on a line."""
    rows = [(f"{name} {words}".rstrip(), about) for name, (words, about) in ABOUT.items()]
    longest = max(len(left) for left, _ in rows)
    return [f"{left.ljust(longest)}  {about}" for left, about in rows]
