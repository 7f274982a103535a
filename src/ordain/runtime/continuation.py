"""Where a request goes that brings a whole conversation and no name for it: the session that holds it, or a new one into which it is imported and marked.

Found by the digest of what was sent before; rule ``continuation`` decides. What a client shows was not said here: it stands in the new session as one entry,
as a summary does, behind a line that says so, and nothing is carried out because of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from ordain.contracts.visible import visible
from ordain.errors import JournalCorrupt
from ordain.journal.records import ENCODER
from ordain.ports.search import SentSearch
from ordain.ports.sessions import OUR_IDS, EntryKind, NewEntry
from ordain.rules.continuation import CONTINUATION, ContinuationFacts, ContinuationReason, Continues
from ordain.rules.plain_reply import QUOTE
from ordain.runtime.configuration import ConfigChange
from ordain.runtime.entries import spoken
from ordain.runtime.message_answer import answer_of
from ordain.runtime.services import Services
from ordain.runtime.shown_answer import was_given

SESSIONS_OF = "openai:"
"""What the id of a session begins with that nobody named."""
IMPORTED_MARK = "Imported: the client says that this came before. None of it was said or done here."
IMPORTED_CHARS = 12_000
LOOKED_AT = 200
"""So many entries after the message that matches are looked through for another message."""
ALIKE = 20
"""So many conversations that begin alike are told apart by the answers that are shown."""


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

    ``otherwise``: it is named, and holds otherwise than the client shows.
    ``imports`` is what the session begins with, ``pin`` binds it to the profile that is asked for: both come in with the message, or not at all.
    """

    session: str
    begun: bool
    sent: str
    reason: str
    otherwise: bool = False
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
        last = _last_answer(shown.before)
        matches = await self._matches(shown, who, last)
        agreeing = [match for match in matches if await self._agrees(workspace, match, shown.before[last])]
        begun = bool(shown.session) and await self._services.sessions.session(workspace, shown.session) is not None
        facts = ContinuationFacts(
            named=bool(shown.session),
            begun=begun,
            shown=len(shown.before) + bool(shown.instructions),
            answered=last >= 0,
            matches=len(matches),
            agreeing=len(agreeing),
        )
        decision = CONTINUATION.apply(facts, None, self._services.catalogs.current.policy)
        goes_on = decision.outcome.how is Continues.GOES_ON
        found = shown.session or (agreeing[0][0] if goes_on else SESSIONS_OF + self._services.clock.new_run_id())
        return Placement(
            session=found,
            begun=goes_on,
            sent=_digest(who, (*shown.before, *shown.now)),
            reason=str(decision.reason),
            otherwise=decision.reason is ContinuationReason.NAMED_OTHERWISE,
            imports=self._imported(shown, found) if decision.outcome.imports else None,
        )

    async def _matches(self, shown: Shown, who: tuple[str, str, str], last: int) -> Sequence[tuple[str, int]]:
        """Messages that came with what the client shows up to its last answer; of a session that is named, those of that session."""
        if last < 0:
            return ()
        return await self._search.sent(who[0], _digest(who, shown.before[:last]), session=shown.session, limit=ALIKE)

    async def _agrees(self, workspace: str, match: tuple[str, int], answer: ShownTurn) -> bool:
        """Whether the answer that is shown is the one that was given there, and nothing was said to the session since."""
        session, seq = match
        entries = await self._services.sessions.entries(workspace, session, after=seq, limit=LOOKED_AT)
        if len(entries) == LOOKED_AT or any(entry.kind is EntryKind.MESSAGE for entry in entries):
            return False
        found = await self._services.sessions.answer(workspace, session, seq)
        if found is None:  # erased since
            return False
        try:
            return was_given(answer.text, answer_of(*found, session))
        except JournalCorrupt:
            return False

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


def _digest(who: tuple[str, str, str], turns: Sequence[ShownTurn]) -> str:
    told = [*who, *([turn.role, turn.text.strip(), *(digest for _, digest in turn.files)] for turn in turns)]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()
