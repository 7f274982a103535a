"""What stands in a shared memory, as items of its ledger; and what a unit has changed of it, as the
row of its commit.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from typing import Any, cast

from ordain.journal.digests import digest
from ordain.journal.ledger import next_row
from ordain.journal.ledger_items import (
    AT_REST,
    COVERS,
    COVERS_WORDS,
    LedgerItem,
    account_item,
    approval_item,
    asked_item,
    config_item,
    grant_item,
    mail_item,
    placed_item,
    rest_item,
    run_item,
    session_item,
    thread_item,
)
from ordain.journal.records import ENCODER
from ordain.ports.approvals import stored_grant
from ordain.ports.configuration import ConfigRecord
from ordain.ports.sessions import Thread
from ordain.runtime.streams import SessionKey
from ordain.testing.memory.rows import EntryRow, KeptRun, MailRow, MemoryRows


def standing_items(rows: MemoryRows) -> Iterator[LedgerItem]:
    """Everything that stands."""
    for kept in rows.runs.values():
        yield from _run(kept)
    for run, box in rows.mailbox.items():
        yield from (_mail(rows, run, there) for there in box if there.taken is None)
    for name in rows.sessions:
        yield _session(rows, name)
        yield from (_thread(rows, name, thread) for thread in rows.threads.get(name, {}).values())
    yield from (_request(rows, name) for name in rows.requests)
    yield from (_account(rows, name) for name in rows.accounts)
    yield from (_config(record) for versions in rows.configuration.values() for record in versions)
    yield from (_approval(rows, name) for name in rows.approvals)
    yield from (_grant(rows, name) for name in rows.grants)


def write_row(rows: MemoryRows) -> None:
    """Put the row of a unit's commit, where it changed anything that the ledger covers; ``rows``
    hold its changes over those below.
    """
    items = [*_changed(rows)]
    if items:
        ledger = rows.ledger
        last = max(ledger, default=0)
        row = next_row(
            (last, ledger[last].chain) if last else None,
            items if last else [COVERS, COVERS_WORDS, *items],
        )
        ledger[row.no] = row


def _changed(rows: MemoryRows) -> Iterator[LedgerItem]:
    for run in _put(rows.runs):
        before = _below(rows.runs).get(run)
        was = () if before is None else tuple(_run(before))
        yield from (
            item for item in _run(rows.runs[run]) if item not in was and (item.value or was)
        )
    for run in _put(rows.mailbox):
        was = _below(rows.mailbox).get(run, ())
        yield from (_mail(rows, run, there) for there in rows.mailbox[run] if there not in was)
    yield from (_session(rows, name) for name in _put(rows.sessions))
    for name in _put(rows.threads):
        before = _below(rows.threads).get(name, {})
        yield from (
            _thread(rows, name, thread)
            for number, thread in rows.threads[name].items()
            if before.get(number) != thread
        )
    yield from (_request(rows, name) for name in _put(rows.requests))
    yield from (_account(rows, name) for name in _put(rows.accounts))
    for key in _put(rows.configuration):
        before = len(_below(rows.configuration).get(key, ()))
        yield from map(_config, rows.configuration[key][before:])
    yield from (_approval(rows, name) for name in _put(rows.approvals))
    yield from (_grant(rows, name) for name in _put(rows.grants))
    for name in _put(rows.transcript):
        before = _below(rows.transcript).get(name, ())
        changed = zip(before, rows.transcript[name], strict=False)
        yield from (_placed(rows, name, now) for was, now in changed if was != now)


def _put(table: Any) -> list[Any]:
    """The keys of what was put there since the rows below."""
    return list(cast("ChainMap[Any, Any]", table).maps[0])


def _below(table: Any) -> Any:
    return cast("ChainMap[Any, Any]", table).maps[1]


def _run(kept: KeptRun) -> Iterator[LedgerItem]:
    run = kept.run
    identity = (
        *(run.parent, run.parent_addr, run.index, run.root, run.workspace, run.session, run.thread),
        *(run.subject, run.flow, run.flow_version, run.catalog, run.created_at),
    )
    yield run_item(run.id, identity, b"" if run.status in AT_REST else run.records[0].chain)
    yield rest_item(
        run.id, run.status, run.reason, (run.ended_at, len(run.records) - 1, run.records[-1].chain)
    )


def _mail(rows: MemoryRows, run: str, there: MailRow) -> LedgerItem:
    mail = there.mail
    item = mail_item(
        run, mail.id, (mail.kind, mail.addr, mail.at), (mail.key, mail.body), rows.runs[run].run.key
    )
    return item if there.taken is None else item.no_more


def _session(rows: MemoryRows, name: SessionKey) -> LedgerItem:
    row = rows.sessions[name]
    columns = (
        1,
        row.subject,
        row.head,
        row.chain,
        row.threads,
        row.active,
        row.channel,
        row.created_at,
        row.last_at,
    )
    return session_item(*name, columns, row.user, row.key)


def _thread(rows: MemoryRows, name: SessionKey, thread: Thread) -> LedgerItem:
    words = (
        thread.intent,
        *(
            None if one is None else ENCODER.encode(one)
            for one in (thread.asked, thread.slots or None, thread.last_error)
        ),
    )
    return thread_item(
        (*name, thread.id),
        (thread.status, thread.run, thread.touched_at),
        words,
        rows.sessions[name].key,
    )


def _request(rows: MemoryRows, name: tuple[str, str]) -> LedgerItem:
    content, run = rows.requests[name]
    return asked_item(
        run,
        name[0],
        (name[1], content),
        rows.runs[run].run.key if run in rows.runs else None,
        erased=False,
    )


def _account(rows: MemoryRows, name: tuple[str, str]) -> LedgerItem:
    return account_item(*name, rows.accounts[name])


def _config(record: ConfigRecord) -> LedgerItem:
    key = record.key
    return config_item(
        (key.place, key.resource, key.id, record.version), record.config, (record.by, record.at)
    )


def _approval(rows: MemoryRows, approval: str) -> LedgerItem:
    row = rows.approvals[approval]
    columns = (
        *(
            row.workspace,
            row.run,
            row.root,
            row.addr,
            row.session,
            row.thread,
            row.subject,
            row.tier,
            row.digest,
            row.workflow,
        ),
        *(row.asked_at, row.expires_at, row.state, row.decided_at, row.grant),
    )
    return approval_item(
        approval,
        columns,
        row.decided_by,
        (row.claimed_by, row.claimed_at),
        rows.runs[row.run].run.key,
    )


def _grant(rows: MemoryRows, name: tuple[str, str]) -> LedgerItem:
    grant = rows.grants[name]
    approval = rows.approvals.get(grant.audit.approval)
    body, content = stored_grant(grant, apart=approval is not None)
    columns = (
        name[0],
        grant.principal,
        grant.expires_at,
        grant.uses_left,
        grant.audit.revoked_at,
        body,
    )
    return grant_item(
        name[1], columns, content, None if approval is None else rows.runs[approval.run].run.key
    )


def _placed(rows: MemoryRows, name: SessionKey, row: EntryRow) -> LedgerItem:
    entry = row.entry
    return placed_item(
        (*name, entry.seq), entry.cover, digest(rows.sessions[name].key, entry.decision or b"")
    )
