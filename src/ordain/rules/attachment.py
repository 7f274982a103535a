"""What rule ``attach`` sees of a session's threads, what it may come to, and why (RTE-05, RTE-08,
C5).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType, field

from ordain.rules.answer import Takes
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues, Partly


class AttachReason(Reason):
    """Why a message means what it means to its session (RTE-05, RTE-08, C5)."""

    OVERRIDE = "attach.override", "The wording orders what runs to stop or to be done otherwise."
    NOTHING_TO_STOP = "attach.nothing_to_stop", "The wording orders a stop and nothing runs."
    NUDGE = "attach.status_nudge", "The wording asks after work that there is."
    ANSWER = "attach.answer", "The message fits what exactly one open question expects."
    ANSWER_ANCHORED = (
        "attach.answer_anchored",
        "The message replies to the question itself and fits it.",
    )
    CONDITION = (
        "attach.condition",
        (
            "The message names a condition for what one open question asks: its words are told, "
            "nothing is granted."
        ),
    )
    UNCLEAR = (
        "attach.unclear",
        "The message is about one open question and no whole answer: it goes back once as A or B.",
    )
    APPROVAL = (
        "attach.awaits_approval",
        (
            "The message says yes, no or wait and nothing is asked of it: what waits for an "
            "approver "
            "is told, and no message decides that."
        ),
    )
    GOES_ON = (
        "attach.goes_on",
        (
            "A bare answer to the question at the end of a reply: the conversation of that thread "
            "goes on."
        ),
    )
    TAKEN_BACK = (
        "attach.taken_back",
        "The sender says no after an answer that the work went on from: what runs is stopped.",
    )
    TOO_LATE = (
        "attach.too_late",
        (
            "The sender says otherwise than before, and what was asked is over: what became of it "
            "is told."
        ),
    )
    RESUMED = (
        "attach.resumed",
        "An order to go on with what was held: the request that was stopped begins again.",
    )
    HALTED = (
        "attach.halted",
        "The sender ordered a halt before it was clear what the message means: nothing begins.",
    )
    HOLD = (
        "attach.hold",
        "A bare order to wait, or word that something is wrong: what runs is stopped.",
    )
    FILLER = "attach.filler", "The wording wants nothing."
    NEW_REQUEST = "attach.new_request", "Nothing else fits: a request of its own."
    ANCHORED = "attach.anchored", "A request that replies to a message of the thread."
    BESIDE = (
        "attach.beside",
        (
            "A request of its own that begins with a yes or a no: that is no answer to what is "
            "open, "
            "and its sender is told so."
        ),
    )
    AMBIGUOUS = "attach.ambiguous", "Two threads fit equally: the sender is asked."
    CHOSEN = "attach.chosen", "The sender chose one of the two readings."
    ASK = "attach.ask", "Wording and state leave the class open; policy lets a model suggest one."
    SUGGESTED = "attach.suggested", "A model's suggestion, possible here and confident enough."
    SUGGESTED_BACK = (
        "attach.suggested_back",
        (
            "A model suggests that it stops or answers something: the sender is asked whether that "
            "was meant."
        ),
    )
    SUGGESTION_REJECTED = (
        "attach.suggestion_rejected",
        "A model's suggestion was missing, not possible here or not confident enough.",
    )
    EDIT = "attach.edit", "The message replaces one whose turn is unsettled."
    EDIT_LATE = "attach.edit_late", "The message replaces one whose turn has ended."
    STALE_EDIT = "attach.stale_edit", "A later edit of the same message came before this one."
    SUPERSEDED = "attach.superseded", "An edit of this message came before it."
    BUSY = "attach.session_busy", "The session has as many unsettled turns as policy permits."


class Attached(StrEnum):
    """The classes of a message (C5), and the two that postpone the choice."""

    OVERRIDE = "override"
    STATUS_NUDGE = "status_nudge"
    ANSWER = "answer_to_pending"
    FILLER = "filler"
    NEW_REQUEST = "new_request"
    REPAIR = "repair"
    TRIAGE = "triage"


class Edit(StrEnum):
    """What an edited message is to the session."""

    NONE = ""
    LIVE = "live"
    OVER = "over"
    STALE = "stale"
    SUPERSEDED = "superseded"


class Barred(StrEnum):
    """Why what a thread asks is not the message's to answer: it was asked after the message came,
    or asks another sender.
    """

    NO = ""
    LATER = "later"
    OTHER = "other"


class ThreadFact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A thread: its number, whether a turn of it is unsettled, what it waits for, and whether the
    message fits that.

    ``idle``: what is unsettled does not count as at work, such as a question which of two was
    meant. What is ``barred`` fits nothing. ``takes`` says what of an answer that is none whole its
    question takes, ``partly`` what the message is to that.
    """

    id: int
    status: str
    live: bool = False
    idle: bool = False
    asks: str = ""
    fits: bool = False
    barred: Barred = Barred.NO
    takes: Takes = Takes.NOTHING
    partly: Partly = Partly.NO


class MessageReading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way to read an ambiguous message."""

    attached: Attached
    thread: int
    stop: bool = False


class Override(Struct, frozen=True, kw_only=True, tag="override"):
    """The thread's turns are interrupted; a successor follows. ``stop``: nothing new was
    ordered.
    """

    thread: int
    stop: bool = False


class StatusNudge(Struct, frozen=True, kw_only=True, tag="status_nudge"):
    """The thread's state is told from the journal."""

    thread: int


class AnswerPending(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="answer_to_pending"):
    """The thread's question is answered. ``partly``: with words that grant nothing, a condition or
    what goes back once.
    """

    thread: int
    partly: Partly = Partly.NO


class Filler(Struct, frozen=True, kw_only=True, tag="filler"):
    """Nothing follows."""


class NewRequest(Struct, frozen=True, kw_only=True, tag="new_request"):
    """A turn follows, in an existing thread or (0) a new one; behind the thread's unsettled turn,
    if it has one. ``resumes``: the request that was held there.

    ``untaken``: the yes or no that it begins with is no answer to what this thread asks or waits
    for.
    """

    thread: int = 0
    resumes: bool | UnsetType = UNSET
    untaken: int | UnsetType = UNSET


class Repair(Struct, frozen=True, kw_only=True, tag="repair"):
    """Two readings, and the sender is asked which."""

    a: MessageReading
    b: MessageReading


class Triage(Struct, frozen=True, kw_only=True, tag="triage"):
    """A model is asked for a suggestion first."""


class SessionBusy(Struct, frozen=True, kw_only=True, tag="session_busy"):
    """The message is not accepted: as many turns as policy permits are unsettled."""


class AttachFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Features of the message and of the session as read inside the write transaction. ``threads``:
    those that the message refers to, then live ones, then the most recently touched.

    ``anchor`` is the thread of the message replied to (0: none); ``asked``: that message is the
    open question itself, ``closed``: it is a question that is no longer open. ``approvals`` are the
    places in ``threads`` of those that wait for an approver. ``explicit``: it suggests a workflow
    or delegates, or brings attachments: then it is no filler. ``suggests`` is a model's class, with
    thread and confidence; ``options`` and ``choice`` resolve a repair question. ``addressed``: what
    is said was held to what it is said to; in decisions from before that a reply chose a thread
    among many. ``last`` is the thread whose question was put last, as an open question, an approval
    or the end of a reply; ``aside``: the message replied to is older than what its thread asks,
    ``told``: it ends with a question, ``astray``: it is not known, ``wary``: then no question takes
    a bare yes or no among several threads; decisions from before let the one put last. ``answered``
    is the thread whose question the sender's latest answer closed, with ``refused`` if that was a
    no, and ``revises`` if the message is an edit of that answer; ``paused`` is the thread whose
    work was held. ``newest``: what could be partly about several questions is about the one asked
    last; decisions from before that took it for a request of its own. ``halted``: while it was
    found out what the message means, its sender said stop. ``unbegun``: what was held last had not
    begun, for it was still being placed; ``paused`` is what was held before that. ``outspoken``: a
    request waits behind no approval, and what of it is no answer is told; decisions from before
    that did neither. ``asks_back``: what a model takes for an override or an answer goes back to
    the sender; decisions from before that did as it said. These are recorded under short names: of
    the largest session the facts fit into a kilobyte.
    """

    cues: Cues
    threads: tuple[ThreadFact, ...] = ()
    approvals: tuple[int, ...] = field(default=(), name="held")
    active: int = 0
    anchor: int = 0
    asked: bool = False
    closed: bool = False
    explicit: bool = False
    at_work: int = 0
    open: int = 0
    edit: Edit = Edit.NONE
    may_ask: bool = False
    suggests: str = ""
    suggested_thread: int = 0
    confidence: float = 0.0
    options: tuple[MessageReading, ...] = ()
    choice: str = ""
    asks_back: bool = field(default=False, name="back")
    addressed: bool = field(default=False, name="to")
    last: int = 0
    aside: bool = field(default=False, name="off")
    told: bool = field(default=False, name="q")
    astray: bool = False
    wary: bool = field(default=False, name="w")
    answered: int = field(default=0, name="for")
    refused: bool = field(default=False, name="no")
    revises: bool = field(default=False, name="re")
    paused: int = field(default=0, name="on")
    halted: bool = False
    newest: bool = field(default=False, name="new")
    outspoken: bool = field(default=False, name="out")
    unbegun: bool = field(default=False, name="un")
