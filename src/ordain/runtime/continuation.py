"""Where a request goes that brings a whole conversation and no name for it: the session that holds it, or a new one into which it is imported and marked.

Found by the digest of what was sent before; rule ``continuation`` decides. What a client shows was not said here: it stands in the new session as one entry,
as a summary does, behind a line that says so, and nothing is carried out because of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from ordain.contracts.events import ApprovalEvent, QuestionEvent, ReplyEvent, SaidEvent
from ordain.contracts.visible import visible
from ordain.errors import JournalCorrupt
from ordain.journal.records import ENCODER
from ordain.ports.search import SentSearch
from ordain.ports.sessions import OUR_IDS, EntryKind, NewEntry
from ordain.rules.continuation import CONTINUATION, ContinuationFacts, Continues
from ordain.rules.plain_reply import QUOTE
from ordain.runtime.configuration import ConfigChange
from ordain.runtime.entries import spoken
from ordain.runtime.services import Services
from ordain.runtime.streams import event_of

SESSIONS_OF = "openai:"
"""What the id of a session begins with that nobody named."""
IMPORTED_MARK = "Imported: the client says that this came before. None of it was said or done here."
IMPORTED_CHARS = 12_000
LOOKED_AT = 200
"""Entries after the message that matches, among which the answer stands that is shown."""
_QUOTE = re.compile(f"^{re.escape(QUOTE.rstrip())} ?", re.MULTILINE)


class ShownTurn(Struct, frozen=True, kw_only=True):
    """One message of a conversation as a client shows it; ``files`` are what it brought, each by name and digest."""

    role: Literal["user", "assistant"]
    text: str
    files: tuple[tuple[str, str], ...] = ()


class Shown(Struct, frozen=True, kw_only=True):
    """A conversation as a client shows it: what was said before, what is said now, what the client wants its assistant to be, and its name for it ("": none)."""

    before: tuple[ShownTurn, ...]
    now: tuple[ShownTurn, ...]
    instructions: str = ""
    session: str = ""


class Placement(Struct, frozen=True, kw_only=True):
    """The session of a request, whether anything was said there before, the digest that its message is to be found by, and why (a code of rule ``continuation``).

    ``imports`` is what the session begins with, ``pin`` binds it to the profile that is asked for: both come in with the message, or not at all.
    """

    session: str
    begun: bool
    sent: str
    reason: str
    imports: NewEntry | None = None
    pin: ConfigChange | None = None


class Continuations:
    """Finds or begins the session of a request."""

    def __init__(self, services: Services, search: SentSearch) -> None:
        """Reads what is durable; writes nothing."""
        self._services, self._search = services, search

    async def place(self, shown: Shown, *, workspace: str, principal: str, user: str) -> Placement:
        """The session for what is said now, and what it begins with; ``Conversation.receive`` writes both."""
        who = (workspace, principal, user)
        matches = await self._matches(shown, who)
        found, begun = shown.session, False
        if shown.session:
            begun = await self._services.sessions.session(workspace, shown.session) is not None
        agrees = False
        if len(matches) == 1:
            agrees = await self._agrees(workspace, matches[0], shown)
        facts = ContinuationFacts(
            named=bool(shown.session),
            begun=begun,
            shown=len(shown.before) + bool(shown.instructions),
            answered=_last_answer(shown.before) >= 0,
            matches=len(matches),
            agrees=agrees,
        )
        decision = CONTINUATION.apply(facts, None, self._services.catalogs.current.policy)
        goes_on = decision.outcome.how is Continues.GOES_ON
        if not found:
            found = matches[0][0] if goes_on else SESSIONS_OF + self._services.clock.new_run_id()
        return Placement(
            session=found,
            begun=goes_on,
            sent=_digest(who, (*shown.before, *shown.now)),
            reason=str(decision.reason),
            imports=self._imported(shown, found) if decision.outcome.imports else None,
        )

    async def _matches(self, shown: Shown, who: tuple[str, str, str]) -> Sequence[tuple[str, int]]:
        """Messages that came with what the client shows up to its last answer: two stand for any number."""
        last = _last_answer(shown.before)
        if shown.session or last < 0:
            return ()
        return await self._search.sent(who[0], _digest(who, shown.before[:last]), limit=2)

    async def _agrees(self, workspace: str, match: tuple[str, int], shown: Shown) -> bool:
        """Whether the answer that is shown is one that was given there, and nothing was said to the session since."""
        session, seq = match
        entries = await self._services.sessions.entries(workspace, session, after=seq, limit=LOOKED_AT)
        if len(entries) == LOOKED_AT or any(entry.kind is EntryKind.MESSAGE for entry in entries):
            return False
        answer = _plain(shown.before[_last_answer(shown.before)].text)
        try:
            events = [event_of(entry) for entry in entries]
        except JournalCorrupt:
            return False
        given = [
            event.narrative if isinstance(event, ReplyEvent) else event.text
            for event in events
            if isinstance(event, ReplyEvent | QuestionEvent | ApprovalEvent | SaidEvent)
        ]
        return any(said in answer for text in given if (said := _plain(text)))

    def _imported(self, shown: Shown, session: str) -> NewEntry:
        text, clock = imported_text(shown), self._services.clock
        return NewEntry(
            kind=EntryKind.SUMMARY,
            body=ENCODER.encode({"text": text}),
            size=spoken(text),
            at=clock.now(),
            session=session,
            channel="web",
            message_id=f"{OUR_IDS}imported:{clock.new_run_id()}",
        )


def imported_text(shown: Shown) -> str:
    """What a client shows, as one text for a new session: marked, its lines behind a mark that no header has, the oldest left out where it is long."""
    lines = [
        "\n".join([f"{turn.role}: {turn.text}", *(f"[file {name}: it was not read here]" for name, _ in turn.files)])
        for turn in shown.before
    ]
    kept: list[str] = []
    room = IMPORTED_CHARS - min(len(shown.instructions), IMPORTED_CHARS // 3)
    for line in reversed(lines):
        if len(line) > room:
            break
        kept.insert(0, line)
        room -= len(line)
    parts = [IMPORTED_MARK]
    if shown.instructions:
        parts.append(f"What the client wants its assistant to be:\n{shown.instructions[: IMPORTED_CHARS // 3]}")
    if left_out := len(lines) - len(kept):
        parts.append(f"({left_out} earlier messages are left out)")
    marked = "\n".join([*parts[1:], *kept]).split("\n")
    return "\n".join([parts[0], *(QUOTE + line for line in visible("\n".join(marked)).split("\n"))])


def _last_answer(before: Sequence[ShownTurn]) -> int:
    """Where the last answer stands in what is shown; -1: nowhere."""
    return next((at for at in range(len(before) - 1, -1, -1) if before[at].role == "assistant"), -1)


def _plain(text: str) -> str:
    """A text without quotation marks of ours and without regard to white space, as clients may keep it."""
    return " ".join(_QUOTE.sub("", text).split())


def _digest(who: tuple[str, str, str], turns: Sequence[ShownTurn]) -> str:
    told = [*who, *([turn.role, turn.text.strip(), *(digest for _, digest in turn.files)] for turn in turns)]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()
