"""What the items of a ledger are about, and how what is found of them is said to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Thing(StrEnum):
    """What an item is about, and the parts of its name.

    ``run`` (id): how it was opened; ``rest`` (id): how it ended, or stopped; ``session``
    (workspace, id): its head; ``thread`` (workspace, session, number); ``renamed`` (workspace,
    session, its name since): it was erased, and it, its threads and placed messages stand by that
    name, without words; ``asked`` (run): the request id that a run answers, which no row names;
    ``request`` (workspace, request id): the same in rows of builds before; ``kept`` (run): what a
    run still says whose content was erased; ``account`` (hash of workspace and name); ``erased``
    (workspace, subject); ``swept`` (class of content); ``placed`` (workspace, session, number of a
    message); ``mail`` (run, number): what no record of the run has taken yet; ``deaths`` (run): how
    often engines died with it; ``wake`` (run): its time to wake was moved; ``covers`` (mail): from
    here on a ledger says these three, (words): from here on ``asked`` and ``kept``; ``config``
    (place, type, id, version of a record); ``approval`` (id), ``grant`` (id): what was asked,
    given, used; ``remembered`` (workspace, id): a note or document that is kept, or no longer,
    which a ledger says from its ``covers`` (library) on.
    """

    RUN = "run"
    REST = "rest"
    SESSION = "session"
    THREAD = "thread"
    RENAMED = "renamed"
    REQUEST = "request"
    ASKED = "asked"
    KEPT = "kept"
    ACCOUNT = "account"
    ERASED = "erased"
    SWEPT = "swept"
    PLACED = "placed"
    MAIL = "mail"
    DEATHS = "deaths"
    WAKE = "wake"
    COVERS = "covers"
    CONFIG = "config"
    APPROVAL = "approval"
    GRANT = "grant"
    REMEMBERED = "remembered"


THERE: Mapping[str, str] = {
    Thing.MAIL: "is there, and nobody sent it",
    Thing.DEATHS: "its row counts deaths",
    Thing.ERASED: "its key is destroyed, and nobody erased it",
    Thing.REST: "its row says that it is at rest, or why it stopped",
    Thing.ASKED: "a request is said to be answered by it",
    Thing.KEPT: "it says something after its erasure",
    Thing.REMEMBERED: "is remembered, and nobody added it",
}
GONE: Mapping[str, str] = {
    Thing.DEATHS: "its row counts no deaths",
    Thing.ERASED: "it was erased, and has a key or is gone",
    Thing.REST: "it was at rest, or had a reason, and its row says neither",
}
OTHER: Mapping[str, str] = {
    Thing.MAIL: "another kind, effect or time",
    Thing.DEATHS: "its row counts other deaths",
    Thing.RUN: (
        "its row has another parent, root, workspace, session, thread, subject, flow, catalog or "
        "time of opening"
    ),
    Thing.REST: "its row or its last record has another status, reason, time, number or link",
    Thing.SESSION: "its row has another head, link, subject, thread, channel or time",
    Thing.THREAD: "its row has another status, run or time",
    Thing.REQUEST: "another run answers it",
    Thing.ASKED: "a request in another workspace, or under another name",
    Thing.KEPT: "its header, verdict or notes are others",
    Thing.ACCOUNT: "another amount",
    Thing.ERASED: "another time",
    Thing.CONFIG: "it says something else, or was written by somebody else or at another time",
    Thing.APPROVAL: "its row has another run, digest, state, tier or time",
    Thing.GRANT: "its row has another scope, principal, time or number of uses",
    Thing.REMEMBERED: (
        "its row has another kind, trust, size, run, time, or says otherwise whether it is kept"
    ),
}
OTHER_WORDS: Mapping[str, str] = {
    Thing.MAIL: "another key or content",
    Thing.RUN: "its first record has another link",
    Thing.SESSION: "another user",
    Thing.THREAD: "another intent, question, slots or error",
    Thing.REQUEST: "another content",
    Thing.ASKED: "another request id or content",
    Thing.APPROVAL: "somebody else decided or claimed it",
    Thing.GRANT: "other recipients, or another reason",
    Thing.REMEMBERED: "another text, title, author, source or session",
}


def place(what: str, name: Sequence[str]) -> str:
    """A thing by its name, for people: the workspace last."""
    match what, list(name):
        case ((Thing.RUN | Thing.REST | Thing.DEATHS | Thing.KEPT), [run]):
            return f"run {run}"
        case Thing.ASKED, [run]:
            return f"request of run {run}"
        case ((Thing.SESSION | Thing.REQUEST), [workspace, one]):
            return f"{what} {one} in {workspace}"
        case Thing.THREAD, [workspace, session, number]:
            return f"thread {number} of session {session} in {workspace}"
        case Thing.MAIL, [run, number]:
            return f"mail {number} of run {run}"
        case Thing.REMEMBERED, [workspace, one]:
            return f"what is remembered as {one} in {workspace}"
        case Thing.CONFIG, [place, resource, record, version]:
            return f"version {version} of {resource} {record} in {place}"
        case Thing.ERASED, [workspace, subject]:
            return f"subject {subject} in {workspace}"
        case _:
            return f"{what} {' '.join(map(str, name))}"
