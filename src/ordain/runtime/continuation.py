"""Where a request goes that brings a whole conversation and no name for it: the session that holds
it, or a new one into which it is imported and marked.

Found by the digest of what was sent before; rule ``continuation`` decides. What a client shows was
not said here: it stands in the new session as one entry, as a summary does, behind a line that says
so, and nothing is carried out because of it.
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
from ordain.ports.sessions import IMPORTED_IDS, Entry, EntryKind, NewEntry
from ordain.rules.continuation import CONTINUATION, ContinuationFacts, ContinuationReason, Continues
from ordain.rules.plain_reply import QUOTE
from ordain.runtime.apart import apart
from ordain.runtime.configuration import ConfigChange
from ordain.runtime.entries import spoken
from ordain.runtime.message_answer import answer_of
from ordain.runtime.message_entry import body_of_entry
from ordain.runtime.plain_answer import answer_text_of
from ordain.runtime.services import Services
from ordain.runtime.shown_answer import run_named, was_given

SESSIONS_OF = "openai:"
"""What the id of a session begins with that nobody named."""
IMPORTED_MARK = "Imported: the client says that this came before. None of it was said or done here."
LEFT_MARK = (
    "Imported: this was said in session {}, from where the client goes on otherwise than there. "
    "None of it was said or done here."
)
IMPORTED_CHARS = 12_000
INSTRUCTIONS_CHARS = IMPORTED_CHARS // 3
"""Of it so many at most for what the client wants its assistant to be."""
LOOKED_AT = 200
"""So many entries after the message that matches are looked through for another message."""
_NEXT = tuple(f"{QUOTE}{start}" for start in ("user: ", "assistant: ", "earlier: ", "("))
"""How a line begins that stands behind what a client wants its assistant to be."""
LONG_CHARS = 200_000
"""From here on a conversation takes longer to read than the loop is to stand still."""
ALIKE = 20
"""So many conversations that begin alike are told apart by the answers that are shown, where these
name no run.
"""


class ShownTurn(Struct, frozen=True, kw_only=True):
    """One message of a conversation as a client shows it; ``files`` are what it brought, each by
    name and digest. ``earlier`` is the role of what was imported before.
    """

    role: Literal["user", "assistant", "earlier"]
    text: str
    files: tuple[tuple[str, str], ...] = ()


class Shown(Struct, frozen=True, kw_only=True):
    """A conversation as a client shows it: what was said before, what is said now, what the client
    wants its assistant to be, and its name for it ("": none).

    ``left`` is the session that ``before`` is the history of, up to where the client goes on
    otherwise than was gone on there.
    """

    before: tuple[ShownTurn, ...]
    now: tuple[ShownTurn, ...]
    instructions: str = ""
    session: str = ""
    left: str = ""


class Placement(Struct, frozen=True, kw_only=True):
    """The session of a request, whether anything was said there before, the digest that its message
    is to be found by, and why (a code of rule ``continuation``).

    ``otherwise``: it is named, and holds otherwise than the client shows. ``unheard``: it did not
    begin with what the client wants its assistant to be now.
    ``imports`` is what the session begins with, without ``left_out`` messages and ``cut``
    characters of instructions that had no room in it; ``pin`` binds it to the profile that is asked
    for: both come in with the message, or not at all. ``user`` is who speaks there. ``form`` is how
    the client wants the answer to be formed, for whoever writes it.
    """

    session: str
    begun: bool
    sent: str
    reason: str
    otherwise: bool = False
    unheard: bool = False
    imports: NewEntry | None = None
    left_out: int = 0
    cut: int = 0
    pin: ConfigChange | None = None
    user: str = ""
    form: str = ""


class Continuations:
    """Finds or begins the session of a request."""

    def __init__(self, services: Services, search: SentSearch) -> None:
        """Reads what is durable; writes nothing."""
        self._services, self._search = services, search

    async def after(self, shown: Shown, workspace: str, session: str, seq: int) -> Shown:
        """What is said next after a message of a session: there, or with the history up to that
        message, where something was said there since.
        """
        if not await self._spoken_since(workspace, session, seq):
            return msgspec.structs.replace(shown, session=session)
        before = await self._history(workspace, session, seq)
        return msgspec.structs.replace(
            shown, session="", left=session, before=(*before, *shown.before)
        )

    async def place(
        self, shown: Shown, *, workspace: str, principal: str, user: str, once: str = ""
    ) -> Placement:
        """The session for what is said now, and what it begins with; ``Conversation.receive``
        writes both.

        ``once`` is what the user was called before: a conversation that began under that name goes
        on under it.
        """
        who = (workspace, principal, user)
        row = (
            await self._services.sessions.session(workspace, shown.session)
            if shown.session
            else None
        )
        if once and row is not None and row.user == once:
            who = (workspace, principal, once)
        last = _last_answer(shown.before)
        matches = await self._matches(shown, who, last)
        if (
            once
            and not matches
            and row is None
            and (matches := await self._matches(shown, (workspace, principal, once), last))
        ):
            who = (workspace, principal, once)
        agreeing = [
            match
            for match in matches[:ALIKE]
            if await self._agrees(workspace, match, shown.before[last])
        ]
        unseen = len(matches) > ALIKE and bool(agreeing)  # perhaps one of the others agrees as well
        facts = ContinuationFacts(
            named=bool(shown.session),
            begun=row is not None,
            shown=len(shown.before) + bool(shown.instructions),
            answered=last >= 0 or bool(shown.left),
            matches=len(matches) or bool(shown.left),
            agreeing=len(agreeing) + unseen,
        )
        decision = CONTINUATION.apply(facts, None, self._services.catalogs.current.policy)
        goes_on = decision.outcome.how is Continues.GOES_ON
        found = shown.session or (
            agreeing[0][0] if goes_on else SESSIONS_OF + self._services.clock.new_run_id()
        )
        brought = imported(shown) if decision.outcome.imports else None
        return Placement(
            session=found,
            begun=goes_on,
            sent=await _digested(who, (*shown.before, *shown.now)),
            reason=str(decision.reason),
            otherwise=decision.reason is ContinuationReason.NAMED_OTHERWISE,
            unheard=goes_on and not await self._began_with(shown.instructions, workspace, found),
            imports=None if brought is None else self._entry(brought.text, found),
            left_out=0 if brought is None else brought.left_out,
            cut=0 if brought is None else brought.cut,
            user=who[2],
        )

    async def _began_with(self, instructions: str, workspace: str, session: str) -> bool:
        """Whether a session began with what its client wants its assistant to be, where it wants
        anything.
        """
        if not instructions:
            return True
        first = await self._services.sessions.entries(workspace, session, after=0, limit=1)
        turn = turn_of(first[0]) if first else None
        if turn is None or turn.role != "earlier":
            return False
        wanted, held = _quoted(_wanted(instructions)), turn.text.partition("\n")[2]
        return held == wanted or held.startswith(tuple(f"{wanted}\n{start}" for start in _NEXT))

    async def _matches(
        self, shown: Shown, who: tuple[str, str, str], last: int
    ) -> Sequence[tuple[str, int]]:
        """Messages that came with what the client shows up to its last answer, one more than is
        looked at where there are more; of a session that is named, those of that session, and of
        an answer that names its run, that run's, however many began alike.
        """
        if last < 0 or shown.left:
            return ()
        digest, session = await _digested(who, shown.before[:last]), shown.session
        if run := run_named(shown.before[last].text):
            of = await self._search.sent(who[0], digest, session=session, run=run, limit=ALIKE)
            if of:
                return of
        return await self._search.sent(who[0], digest, session=session, limit=ALIKE + 1)

    async def _agrees(self, workspace: str, match: tuple[str, int], answer: ShownTurn) -> bool:
        """Whether the answer that is shown is the one that was given there, and nothing was said to
        the session since.
        """
        session, seq = match
        if await self._spoken_since(workspace, session, seq):
            return False
        found = await self._services.sessions.answer(workspace, session, seq)
        if found is None:  # erased since
            return False
        try:
            return was_given(answer.text, answer_of(*found, session))
        except JournalCorrupt:
            return False

    async def _spoken_since(self, workspace: str, session: str, seq: int) -> bool:
        """Whether anybody has said something in a session after its message of this number."""
        entries = await self._services.sessions.entries(
            workspace, session, after=seq, limit=LOOKED_AT
        )
        return len(entries) == LOOKED_AT or any(
            entry.kind is EntryKind.MESSAGE for entry in entries
        )

    async def _history(self, workspace: str, session: str, seq: int) -> Sequence[ShownTurn]:
        """What was said in a session up to a message and its answer, the latest of it, as far as
        there is room for it.
        """
        sessions = self._services.sessions
        entries = await sessions.entries(
            workspace, session, after=max(seq - LOOKED_AT, 0), limit=LOOKED_AT
        )
        turns: list[ShownTurn] = []
        room = IMPORTED_CHARS
        for entry in reversed([one for one in entries if one.seq <= seq and one.body is not None]):
            if room < 0:
                break
            said = turn_of(entry)
            if (
                entry.kind is EntryKind.MESSAGE
                and (found := await sessions.answer(workspace, session, entry.seq)) is not None
            ):
                answer = (
                    answer_text_of(answer_of(*found, session)).content
                    if found[1] is not None
                    else ""
                )
                turns += [ShownTurn(role="assistant", text=answer)] if answer else []
            if said is not None:
                turns.append(said)
            room = IMPORTED_CHARS - sum(len(turn.text) for turn in turns)
        return tuple(reversed(turns))

    def _entry(self, text: str, session: str) -> NewEntry:
        clock = self._services.clock
        return NewEntry(
            kind=EntryKind.SUMMARY,
            body=ENCODER.encode({"text": text}),
            size=spoken(text),
            at=clock.now(),
            session=session,
            channel="web",
            message_id=f"{IMPORTED_IDS}{clock.new_run_id()}",
        )


class Imported(Struct, frozen=True, kw_only=True):
    """What a client shows, as one text for a new session. ``left_out`` is how many messages had no
    room in it, ``cut`` how many characters of what the client wants its assistant to be.
    """

    text: str
    left_out: int = 0
    cut: int = 0


def imported(shown: Shown) -> Imported:
    """What a client shows, as one text for a new session: marked, its lines behind a mark that no
    header has, the oldest left out where it is long.
    """
    kept: list[str] = []
    room = IMPORTED_CHARS - min(len(shown.instructions), INSTRUCTIONS_CHARS)
    for turn in reversed(shown.before):
        if len(turn.text) > room:
            break
        files = (f"[file {name}: it was not read here]" for name, _ in turn.files)
        line = "\n".join((f"{turn.role}: {turn.text}", *files))
        if len(line) > room:
            break
        kept.insert(0, line)
        room -= len(line)
    parts = [LEFT_MARK.format(shown.left) if shown.left else IMPORTED_MARK]
    if shown.instructions:
        parts.append(_wanted(shown.instructions))
    if left_out := len(shown.before) - len(kept):
        parts.append(f"({left_out} earlier messages are left out)")
    return Imported(
        text="\n".join([parts[0], _quoted("\n".join([*parts[1:], *kept]))]),
        left_out=left_out,
        cut=max(0, len(shown.instructions) - INSTRUCTIONS_CHARS),
    )


def _wanted(instructions: str) -> str:
    return f"What the client wants its assistant to be:\n{instructions[:INSTRUCTIONS_CHARS]}"


def _quoted(text: str) -> str:
    return "\n".join(QUOTE + line for line in visible(text).split("\n"))


class _Body(Struct):
    text: str = ""


def turn_of(entry: Entry) -> ShownTurn | None:
    """What a user said, or what was imported, of its entry; None of every other."""
    if entry.kind is EntryKind.MESSAGE:
        body = body_of_entry(entry.body)
        return ShownTurn(
            role="user",
            text=body.text,
            files=tuple((str(file.get("name", "")), "") for file in body.attachments),
        )
    if entry.kind is EntryKind.SUMMARY and entry.message_id.startswith(IMPORTED_IDS):
        return ShownTurn(
            role="earlier", text=msgspec.json.decode(entry.body or b"{}", type=_Body).text
        )
    return None


def _last_answer(before: Sequence[ShownTurn]) -> int:
    """Where the last answer stands in what is shown; -1: nowhere."""
    return next((at for at in range(len(before) - 1, -1, -1) if before[at].role == "assistant"), -1)


async def _digested(who: tuple[str, str, str], turns: Sequence[ShownTurn]) -> str:
    """As ``_digest``; of a long conversation in a thread, so that the loop goes on."""
    return await apart(sum(len(turn.text) for turn in turns) >= LONG_CHARS, _digest, who, turns)


def _digest(who: tuple[str, str, str], turns: Sequence[ShownTurn]) -> str:
    """Of one JSON array, whose parts are encoded one by one: none holds the interpreter for
    long.
    """
    hashed = hashlib.sha256(msgspec.json.encode(list(who))[:-1])
    for turn in turns:
        told = [turn.role, turn.text.strip(), *(digest for _, digest in turn.files)]
        hashed.update(b"," + msgspec.json.encode(told))
    hashed.update(b"]")
    return hashed.hexdigest()
