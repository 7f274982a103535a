"""What a session's stream says: one closed union.

The durable events are the transcript's entries, numbered without gaps by ``seq``. The others have
no number: they are provisional, and the next durable event makes up for whatever of them was
missed. One is the last of its stream: the session was erased.
"""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.text_links import TextLink


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """One event of a session's stream."""


class Durable(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A transcript entry. ``seq`` is its number and the id to resume after; ``at_ms`` since 1970;
    ``run`` the turn it belongs to.
    """

    seq: int
    at_ms: int
    message_id: str
    thread: int = 0
    run: str = ""


class MessageEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    """A message was accepted, with the class it has; ``anchor`` is the message id to reply to
    inline, "" where none is needed.
    """

    channel: str
    text: str
    user: str = ""
    attached: str
    reason: str
    anchor: str = ""


class OptionView(Struct, frozen=True, kw_only=True):
    """One of two readings."""

    key: str
    label: str


class QuestionEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="question"):
    """The run waits for an answer of this type, until then. ``links`` are the addresses in the text
    and the options; absent where there are none.
    """

    text: str
    key: str
    expected_type: str
    options: tuple[OptionView, ...] = ()
    expires_at_ms: int = 0
    links: list[TextLink] = []


class ApprovalEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="approval"):
    """The run waits for an approver until then: for whoever may say yes to exactly what has this
    digest. ``text`` says in code's words what will happen; ``links`` are the addresses that it
    quotes, absent where there are none.
    """

    text: str
    approval: str
    digest: str
    subject: str
    tier: str
    expires_at_ms: int = 0
    links: list[TextLink] = []


class ReplyEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="reply"):
    """The run's closing reply: it takes the place of everything provisional that was shown of the
    run.

    ``verdict`` opens the header; absent of a run that had none. ``links`` are the addresses in the
    narrative and in what the header quotes, ``remedies`` what people can do about models that gave
    no answer; both absent where there are none.
    """

    header: str
    narrative: str
    ok: bool
    verdict: str = ""
    remedies: list[str] = []
    links: list[TextLink] = []


class SaidEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="said"):
    """Words on the way; the run goes on. ``links`` as of a question."""

    text: str
    links: list[TextLink] = []


class SummaryEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="summary"):
    """The transcript as far as entry ``through`` was summed up. ``links`` as of a question.
    ``imported``: nobody here did; a client showed what came before.
    """

    text: str
    through: int
    links: list[TextLink] = []
    imported: bool = False


class ErasedEvent(Durable, frozen=True, kw_only=True, omit_defaults=True, tag="erased"):
    """An entry whose content was erased."""

    kind: str


class ProgressEvent(Event, frozen=True, kw_only=True, omit_defaults=True, tag="progress"):
    """The header of what the run has finished so far; it precedes the first text of each attempt.
    ``links`` are the addresses in what it quotes; absent where there are none.
    """

    run: str
    header: str
    links: list[TextLink] = []


class TextEvent(Event, frozen=True, kw_only=True, omit_defaults=True, tag="text"):
    """Provisional text of an attempt, to be put at ``offset`` (characters); the closing reply
    replaces it.
    """

    run: str
    attempt: int
    offset: int
    text: str


class ResetEvent(Event, frozen=True, kw_only=True, omit_defaults=True, tag="reset"):
    """What was shown of the run's earlier attempts no longer stands; ``attempt`` begins anew."""

    run: str
    attempt: int


class SessionErasedEvent(
    Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_erased"
):
    """The session was erased: its stream ends here. Whoever speaks under its id from now on speaks
    in another one, which begins with entry 1.
    """

    session: str


DurableEvent = (
    MessageEvent
    | QuestionEvent
    | ApprovalEvent
    | ReplyEvent
    | SaidEvent
    | SummaryEvent
    | ErasedEvent
)
ProvisionalEvent = ProgressEvent | TextEvent | ResetEvent
SessionEvent = DurableEvent | ProvisionalEvent | SessionErasedEvent
