"""What a conversation commissions of a run: the message, where it stands, and what it concerns.

Of a message each fact is said once: the wire's ``Message`` is read into ``MessageFacts`` and
``MessageIds`` where it is received, and these same values are in the commission and in the input of
the run that follows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.conversation import ExecMode
from ordain.journal.records import Untaken
from ordain.rules.attach import MessageReading


class RecallAsked(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What is asked of memory for a message: by its sender, or (``auto``) because policy has it
    asked where the message says nothing of it.

    ``max_bytes`` and ``timeout_ms`` bound what goes along and how long it may take; 0 leaves the
    house's own bound.
    """

    required: bool = False
    mode: str = "hybrid"
    profile: str = ""
    days: int = 90
    max_items: int = 8
    auto: bool = False
    max_bytes: int = 0
    timeout_ms: int = 0


class WorkflowAsked(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The workflow that a message names, with arguments (RTE-06)."""

    template: str
    args: dict[str, Any] = {}


class MessageFacts(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a message says and asks for, all of it the sender's word: rules decide what comes of it.

    ``attachments`` counts them, ``source`` and ``trace_verb`` are labels (HUB-04, HUB-06) and
    choose nothing. ``workflow`` is a template's name alone where there are no arguments, as it was
    in every message before turn@6. ``forgoes``: the sender wants memory not to be asked.
    ``documents`` are those of its attachments whose text is kept, ``images`` the digests of those
    that are images. ``form`` is what its sender's program wants of the answer's form, in words for
    whoever writes that: nobody said it, so it is matched and shown nowhere.

    The executor's typed request, ``CortexExecRequest`` of the sources (EXE-01): nothing else is
    read, and what is not of it is refused.
    """

    text: str
    user: str
    channel: str
    mode: ExecMode = ExecMode.BRAIN
    verb: str = ""
    allowed_verbs: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    supervised: bool = False
    max_steps: int = 0
    budget_class: str = ""
    workflow: str | WorkflowAsked = ""
    delegates: tuple[str, ...] = ()
    attachments: int = 0
    locale: str = ""
    recall: RecallAsked | None = None
    forgoes: bool = False
    documents: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    source: str = ""
    trace_verb: str = ""
    form: str = ""

    @property
    def template(self) -> str:
        """The name of the workflow template; "": none is named."""
        return self.workflow if isinstance(self.workflow, str) else self.workflow.template

    @property
    def workflow_args(self) -> dict[str, Any]:
        """The arguments for it."""
        return {} if isinstance(self.workflow, str) else self.workflow.args

    @property
    def words(self) -> str:
        """The text, or what stands for it where a message has attachments alone."""
        return (
            self.text if self.text.strip() else f"({self.attachments} attachments, without a word)"
        )

    @property
    def request(self) -> str:
        """The words, and below them how the answer is to be formed: what whoever writes it is
        asked.
        """
        return f"{self.words}\n\n{self.form}" if self.form else self.words


class MessageIds(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A message's own id on its channel, and those of the messages that it replies to and replaces.
    Field names are the claim's.
    """

    message_id: str
    reply_to: str = ""
    edits: str = ""


class Telling(StrEnum):
    """What is to be told of a run.

    How far it is; what had happened when it was stopped; that its sender's later word came too late
    for it; or, to a message that said more than yes or no to it, how a yes is given to what it
    waits for.
    """

    PROGRESS = "progress"
    STOPPED = "stopped"
    LATE = "late"
    BESIDE = "beside"


class Commission(Struct, frozen=True, kw_only=True):
    """A run that follows from a message. ``after`` is the run that it takes the place of;
    ``resumes``: to go on with what was held there.

    To tell of a run: which, what it was ``about``, and how many turns ``queued`` behind it never
    began. To find out what a message means: the readings that the sender chooses between, with
    their labels; none where a model is asked. ``untaken`` is what of a request answers nothing.
    """

    session: str
    seq: int
    message: MessageFacts
    ids: MessageIds
    after: str = ""
    resumes: bool = False
    run: str = ""
    intent: str = ""
    telling: Telling = Telling.PROGRESS
    queued: int = 0
    options: tuple[MessageReading, ...] = ()
    labels: tuple[str, ...] = ()
    untaken: Untaken | None = None
