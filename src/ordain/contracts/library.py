"""The conversation about what is remembered: notes, questions and documents."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ordain.contracts.planner import Strict
from ordain.contracts.verbs import Trust

NOTE_CHARS = 20_000
QUERY_CHARS = 2000
TITLE_CHARS = 200
TAG_CHARS = 64
TAGS_MAX = 20
FOUND_MAX = 100
DAYS_MAX = 36_500
_COMMON = """
a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in into is it its me more
my no not of on or our please she should so some somebody something than that the their them then there these they this to up was we were what
when where which who why will with would you your
"""
COMMON_WORDS = frozenset(_COMMON.split())
"""English words that stand in every text: they say nothing of what a question is about."""


class RecallMode(StrEnum):
    """Where recall looks (C1): notes and entries; documents too; along a graph, which is not kept."""

    HYBRID = "hybrid"
    DEEP = "deep"
    GRAPH = "graph"


class MemoryPolicy(Strict):
    """Whose memory a prompt may hold, and how much is kept. Bytes count a passage as 4 KiB, with
    its words and its vector; 0 is without bound.
    """

    shared: bool = Field(
        default=False,
        description=(
            "Whether notes and entries of one user are recalled for another user of the same "
            "workspace."
        ),
    )
    workspace_bytes: int = Field(
        default=2**30,
        ge=0,
        description="Most that is remembered in a workspace: notes, entries, documents.",
    )
    token_bytes: int = Field(
        default=100 * 2**20,
        ge=0,
        description="Most of it that one token added, in all its workspaces.",
    )


class RecallPolicy(Strict):
    """When memory is asked though a message says nothing of it, and how much of what it gives goes
    along. A message that does say goes by what it says.
    """

    auto: bool = Field(
        default=True,
        description=(
            "Whether memory is asked for every message that a chat verb with a place for it "
            "answers, where anything is remembered."
        ),
    )
    mode: RecallMode = Field(
        default=RecallMode.DEEP,
        strict=False,
        description="Where it looks: deep is notes, entries and documents.",
    )
    max_items: int = Field(default=6, ge=1, le=20, description="At most so many fragments.")
    max_bytes: int = Field(
        default=4000, ge=200, le=100_000, description="At most so many bytes of them."
    )
    time_window_days: int = Field(
        default=0, ge=0, le=DAYS_MAX, description="Only what was added in so many days; 0 is ever."
    )
    timeout_ms: int = Field(
        default=5000,
        ge=10,
        le=15_000,
        description="How long memory may take; the message is then answered without.",
    )


class NoteRequest(Strict):
    """Something to remember. What its author asks for later is theirs; to others, and where nobody
    is named, it is a member's.

    Only who may send messages may say whose own a note is: from a token without the scope `chat` it
    is a member's to everybody.
    """

    text: str = Field(min_length=1, max_length=NOTE_CHARS)
    title: str = Field(default="", max_length=TITLE_CHARS)
    tags: list[Annotated[str, Field(min_length=1, max_length=TAG_CHARS)]] = Field(
        default=[], max_length=TAGS_MAX
    )
    user_id: str = Field(default="", max_length=200)


class MemorySearch(Strict):
    """A question to what is remembered. ``deep`` looks into documents too; no graph is kept, so
    ``graph`` is ``hybrid``.
    """

    query: str = Field(min_length=1, max_length=QUERY_CHARS)
    max_items: int = Field(default=8, ge=1, le=FOUND_MAX)
    time_window_days: int = Field(
        default=0, ge=0, le=DAYS_MAX, description="Only what was added in so many days; 0 for ever."
    )
    mode: RecallMode = RecallMode.HYBRID
    user_id: str = Field(default="", max_length=200)


class Kept(Strict):
    """What became of an addition: added, same (it was there already) or replaced. ``embedded``: it
    is found by meaning, not only by words; else ``notice`` says why.
    """

    id: str
    outcome: str
    passages: int = 0
    embedded: bool = False
    notice: str = ""


class FoundPassage(Strict):
    """A passage that was found, and where it stands."""

    id: str
    text: str
    title: str
    heading: str
    page: int
    start: int
    stop: int
    source: str
    kind: str
    score: float
    created_at: str
    trust: Trust
    author: str


class MemoryFound(Strict):
    """What was found, best first; ``method`` is dense (by meaning) or text (by words), ``notice``
    what limits the answer.
    """

    fragments: list[FoundPassage]
    method: str
    notice: str


class RememberedItem(Strict):
    """A note, an entry or a document; ``excerpt`` is the beginning of its text."""

    id: str
    kind: str
    title: str
    theme: str
    mood: str
    tags: list[str]
    media_type: str
    trust: Trust
    author: str
    source: str
    session: str
    run: str
    size: int = Field(description="Bytes of the text, or of the document.")
    pages: int
    passages: int
    created_at: str
    excerpt: str


class NotePage(Strict):
    """Notes and entries, the last one added first; ``next`` is where the next page begins."""

    notes: list[RememberedItem]
    next: int | None


class DocumentPage(Strict):
    """Documents, the last one added first; ``next`` is where the next page begins."""

    documents: list[RememberedItem]
    next: int | None


class StoredPassage(Strict):
    """A passage as it is found: characters ``start`` to ``stop`` of the text, or of the page's."""

    seq: int
    text: str
    heading: str
    page: int
    start: int
    stop: int


class StoredDocument(RememberedItem):
    """A document and its passages in order."""

    contents: list[StoredPassage]


class Removed(Strict):
    """It is gone, with its words and its vectors."""

    id: str
    outcome: str


class ReindexReport(Strict):
    """How many of the passages have a vector of the embedder ("": none can be asked, as ``notice``
    says), and how many got theirs now.
    """

    embedder: str
    passages: int
    embedded: int
    added: int
    notice: str = ""
