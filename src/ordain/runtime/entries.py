"""What a run says in its session: the closing reply, a question, a summary. Each is a transcript
entry in the commit that makes it true.

The reply's header is rendered by code from the journal; the narrative below it is a model's, or
code's where no model spoke.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from ordain.effects.effect import Say, Wait
from ordain.errors import RunPlace
from ordain.flows.kind import FailedStep
from ordain.journal.records import ENCODER, Status
from ordain.ports.sessions import (
    EntryKind,
    NewEntry,
    OpenQuestion,
    ThreadChange,
    ThreadStatus,
    message_id,
)
from ordain.ports.store import StoredRun
from ordain.rules.acts import ActEnd
from ordain.rules.answer import OPTION_KEYS
from ordain.rules.decision import HeaderLine
from ordain.rules.header import MARKS, HeaderFacts, render_header
from ordain.rules.workflow import WorkflowReason
from ordain.runtime.approvers_word import noes

ERROR_CHARS = 300
NOT_DONE = "This was not done: "
"""How code's own reply to a turn begins that failed."""
NOBODY_KNOWS = " (outcome_unknown)."
"""How the one ends that tells of a call whose end nobody knows."""
_WORKFLOW = re.compile(r"workflow ([a-z][a-z0-9_]{0,63})@[0-9]+:")
_WORKFLOW_REASONS = "workflow."
_NAMED = re.compile(r"[a-z][a-z0-9_]{0,63}(?=\Z| )")
_CHILD = re.compile(r"\(run ([0-9a-f]{32})\)\Z")
_UNDONE = frozenset({ActEnd.FAILED, ActEnd.DENIED, ActEnd.UNKNOWN})
STATUS_OF = {
    Status.COMPLETED: ThreadStatus.DONE,
    Status.CANCELLED: ThreadStatus.DONE,
    Status.FAILED: ThreadStatus.FAILED,
    Status.TIMED_OUT: ThreadStatus.FAILED,
}
"""Where a turn's end leaves its thread; what is not here is stopped and blocks it."""
_DONE: Final = ThreadStatus.DONE
STOPPED_TEXT = {
    Status.FAULTED: (
        "A fault in Ordain stopped this turn. It is kept as it is, and goes on once the fault is "
        "mended."
    ),
    Status.QUARANTINED: (
        "This turn was set aside, because the server stopped on it repeatedly. An operator can "
        "let it go on."
    ),
    Status.CANCELLED: "This turn was cancelled.",
}
OTHERWISE = "This turn cannot go on as it is. An operator has to look at it."


def spoken(text: str) -> int:
    """The bytes a text has in a prompt, as JSON."""
    return len(msgspec.json.encode(text))


def reply(
    stored: StoredRun,
    header: HeaderFacts,
    narrative: str,
    *,
    status: Status,
    at: int,
    addr: object = "reply",
) -> NewEntry:
    """The closing reply of a session's run; ``ok`` is the run's own status and nothing else."""
    body = {"text": narrative, "header": render_header(header), "ok": status is Status.COMPLETED}
    if header.verdict:
        body["verdict"] = header.verdict
    return NewEntry(
        kind=EntryKind.REPLY,
        body=ENCODER.encode(body),
        size=spoken(narrative),
        at=at,
        session=stored.session,
        thread=stored.thread,
        run=stored.root,
        message_id=message_id(stored.id, addr),
    )


def stopped_text(status: Status) -> str:
    """What a user is told of a run that stopped without its flow."""
    return STOPPED_TEXT.get(status, OTHERWISE)


def at_rest(
    stored: StoredRun,
    facts: HeaderFacts,
    status: Status,
    at: int,
    failed: FailedStep | None = None,
    told: str = "",
) -> ThreadChange:
    """Where a run's end leaves its thread, if it held its place; a failure is kept for who asks
    later what went wrong (C5).

    ``failed`` is the call that the run names as what it failed at, ``told`` what its reply says.
    """
    thread = STATUS_OF.get(status, ThreadStatus.BLOCKED)
    error = None if thread is _DONE else _last_error(stored, facts, at, failed, told)
    return ThreadChange(
        id=stored.thread,
        session=stored.session,
        status=thread,
        last_error=error,
        in_place=True,
        at=at,
    )


def _last_error(
    stored: StoredRun, facts: HeaderFacts, at: int, step: FailedStep | None, told: str
) -> dict[str, Any]:
    """The failure by the workflow's step that it was, else by the last call that was not done, or
    the workflow that was not carried out.

    Of a step of whose end nobody knows its run says just that; what the verb said of it stands in
    the header alone.
    """
    line = next((line for line in reversed(facts.lines) if line.mark in ("fail", "unknown")), None)
    workflow, capability = _not_carried_out(facts)
    capability = capability or ("" if line is None else _named_by(line))
    # whatever else it says a model said
    by_code = told.startswith(NOT_DONE) or told.endswith(NOBODY_KNOWS)
    output = (
        told.removeprefix(NOT_DONE)
        if by_code
        else ""
        if line is None
        else line.excerpt or line.reason
    )
    extension = capability.rpartition(".")[0] or capability or None
    if step is not None:
        lost = next(
            (
                line.excerpt
                for line in reversed(facts.lines)
                if line.mark == "unknown" and line.what == step.verb
            ),
            "",
        )
        workflow, extension, capability, output = (
            step.workflow or stored.id,
            step.extension,
            step.verb,
            lost or step.output,
        )
    elif not by_code and (said := noes(stored.records)[-1:]):  # no header says why
        output = f"{said[0]}; {output}" if output else said[0]
    return {
        "runId": stored.root,
        "workflowId": workflow or None,
        "threadId": stored.thread,
        "extensionId": extension,
        "capabilityId": capability,
        "code": facts.reason,
        "output": output[:ERROR_CHARS],
        "messageId": message_id(stored.id, "reply"),
        "timestampMs": at // 1000,
    }


def _not_carried_out(facts: HeaderFacts) -> tuple[str, str]:
    """Of a turn that names no step: the workflow's run and its template, else the last call that
    failed or was denied; "" where that is not known.
    """
    begun = next((at for at, line in enumerate(facts.lines) if _WORKFLOW.match(line.what)), None)
    refused = next(
        (_template(line) for line in facts.lines if line.reason.startswith(_WORKFLOW_REASONS)), ""
    )
    if begun is None:
        undone = next((act.verb for act in reversed(facts.acts) if act.end in _UNDONE), "")
        return "", undone or refused
    run = next(
        (found[1] for line in reversed(facts.lines[:begun]) if (found := _CHILD.search(line.what))),
        "",
    )
    named = _WORKFLOW.match(facts.lines[begun].what)
    return run, "" if named is None else named[1]


def _named_by(line: HeaderLine) -> str:
    """What a line says that it is of, where that is a verb or a model."""
    whole = _CHILD.search(line.what) or line.reason.startswith(_WORKFLOW_REASONS)
    return "" if whole else line.what


def _template(line: HeaderLine) -> str:
    """The template that a line names as refused; what stands behind a name that there is says why,
    and a name that there is not is whatever somebody wrote.
    """
    if line.reason == str(WorkflowReason.UNKNOWN_TEMPLATE):
        return line.excerpt
    named = _NAMED.match(line.excerpt)
    return "" if named is None else named[0]


def stop_entry(
    stored: StoredRun, facts: HeaderFacts, status: Status, at: int
) -> tuple[NewEntry, ThreadChange]:
    """The code-written reply for a turn of which a run has stopped, and what that does to its
    thread.
    """
    addr = f"stopped.{at}"  # a run may stop any number of times, and at the same record
    return reply(stored, facts, stopped_text(status), status=status, at=at, addr=addr), at_rest(
        stored, facts, status, at
    )


def unreadable_entry(
    run: str, place: RunPlace, status: Status, at: int
) -> tuple[NewEntry, ThreadChange]:
    """The same for a run whose records cannot be read: nothing is told of it but that."""
    header = f"{MARKS['fail']} ordain run {place.root} · {status} · its records cannot be read"
    entry = NewEntry(
        kind=EntryKind.REPLY,
        body=ENCODER.encode({"text": stopped_text(status), "header": header, "ok": False}),
        size=spoken(stopped_text(status)),
        at=at,
        session=place.session,
        thread=place.thread,
        run=place.root,
        message_id=message_id(run, f"stopped.{at}"),
    )
    change = ThreadChange(
        id=place.thread, session=place.session, status=ThreadStatus.BLOCKED, in_place=True, at=at
    )
    return entry, change


def question(stored: StoredRun, addr: int, wait: Wait, at: int) -> tuple[NewEntry, ThreadChange]:
    """A question to the session's user: the entry and the open question, for one commit. The wait
    has a question.
    """
    asks = wait.question
    if asks is None:
        raise AssertionError("only a wait with a question asks")
    said = message_id(stored.id, addr)
    options = [
        {"key": key, "label": label} for key, label in zip(OPTION_KEYS, asks.options, strict=False)
    ]
    body = {
        "text": wait.about,
        "key": asks.key,
        "expects": asks.expects,
        "options": options,
        "until": wait.deadline,
    }
    asked = OpenQuestion(
        run=stored.id,
        root=stored.root,
        addr=addr,
        key=asks.key,
        expects=asks.expects,
        until=wait.deadline,
        text=wait.about,
        message_id=said,
        options=asks.options,
        takes=asks.takes,
    )
    entry = NewEntry(
        kind=EntryKind.QUESTION,
        body=ENCODER.encode(body),
        size=spoken(wait.about),
        at=at,
        session=stored.session,
        thread=stored.thread,
        run=stored.root,
        message_id=said,
    )
    change = ThreadChange(
        id=stored.thread,
        session=stored.session,
        status=ThreadStatus.WAITING_FOR_USER,
        asked=asked,
        at=at,
    )
    return entry, change


def answered(stored: StoredRun, addr: int, at: int) -> ThreadChange:
    """The question at an effect is over: answered, expired or given up."""
    return ThreadChange(
        id=stored.thread,
        session=stored.session,
        status=ThreadStatus.IN_PROGRESS,
        answered=(stored.id, addr),
        at=at,
    )


def said(stored: StoredRun, addr: int, say: Say, at: int) -> NewEntry:
    """Words of a run on its way, or a summary of the transcript."""
    kind = EntryKind.SUMMARY if say.summary_through else EntryKind.SAID
    return NewEntry(
        kind=kind,
        body=ENCODER.encode({"text": say.text}),
        size=spoken(say.text),
        at=at,
        session=stored.session,
        thread=stored.thread,
        run=stored.root,
        message_id=message_id(stored.id, addr),
        through=say.summary_through,
    )
