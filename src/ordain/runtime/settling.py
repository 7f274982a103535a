"""How a run ends: its result and header, its parent's mail and its session's reply, in one
commit.
"""

from __future__ import annotations

import logging

import msgspec

from ordain.effects.children import AnyEnded, Cancelled, Completed, Failed, TimedOut, Unknown
from ordain.flows.kind import Settlement
from ordain.journal.folds import Fold
from ordain.journal.lost_time import lost_in_all
from ordain.journal.records import ENCODER, Raw, RecordKind, Status
from ordain.ports.writes import MailKind, NewMail, Refund
from ordain.rules.header import HeaderFacts, quotable
from ordain.runtime.entries import at_rest, reply
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.pen import Pen
from ordain.runtime.run_journal import RunJournal

LOG = logging.getLogger("ordain.run")
NO_EFFECT = -1
"""A run that ends waits at none: its end is refused for a stop alone."""


async def settle_driven(live: RunJournal, end: FlowEnd) -> None:
    """End a run whose flow has returned. A stop that was acknowledged before that is durable finds
    nothing to stop any more; it is on record before the end, with who asked for it and why.
    """
    stopped = True
    while stopped:
        mark = live.mark()
        fold, header = _write_end(live, end)
        settlement = end.settlement
        unit = live.unit(status=settlement.status, reason=settlement.reason, suspend=NO_EFFECT)
        if await live.unless_mail(mark, unit):
            _told(live, settlement, fold, header)
            return
        stopped = await live.note_stops()
    await settle(live, end)  # what lies there cannot be read any more


async def settle(live: Pen, end: FlowEnd) -> None:
    """End a run, whatever anybody asks for meanwhile."""
    fold, header = _write_end(live, end)
    await live.barrier(status=end.settlement.status, reason=end.settlement.reason)
    _told(live, end.settlement, fold, header)


def _told(live: Pen, settlement: Settlement, fold: Fold, header: HeaderFacts) -> None:
    live.services.counters.runs_ended += 1
    LOG.info(
        "run=%s flow=%s status=%s reason=%s ms=%d",
        live.id,
        fold.flow,
        settlement.status,
        settlement.reason,
        header.duration_ms,
    )


def _write_end(live: Pen, end: FlowEnd) -> tuple[Fold, HeaderFacts]:
    settlement, told = end.settlement, end.told
    fold = live.services.headers.fold_of(live.id, live.records, live.read)
    ended, header = end.record(fold)
    live.write(RecordKind.ENDED, settlement.status, ended)
    if live.stored.session and live.stored.parent is None:
        if told is not None:
            now = msgspec.structs.replace(live.stored, records=tuple(live.records))
            live.beside(reply(now, header, told, status=settlement.status, at=live.scribe.at))
        live.beside(
            at_rest(live.stored, header, settlement.status, live.scribe.at, end.failed, told or "")
        )
    if (carved := fold.carved) is not None:
        left = {
            "tokens": carved.tokens - fold.spent.tokens,
            "usd_micros": carved.usd_micros - fold.spent.usd_micros,
        }
        for account in carved.accounts:
            live.beside(Refund(account=account, **left))
    stored = live.stored
    if stored.parent is not None:
        child = _end(live.id, settlement, end.output, fold)
        mail = NewMail(
            run=stored.parent,
            kind=MailKind.CHILD,
            key=f"child:{stored.parent_addr}:{stored.index}",
            body=ENCODER.encode(
                msgspec.structs.replace(
                    child,
                    spent=fold.spent,
                    runs=fold.runs,
                    lost_us=lost_in_all(live.records, live.read),
                    header=quotable(header),
                )
            ),
            at=live.scribe.at,
            addr=stored.parent_addr,
        )
        live.beside(mail)
    return fold, header


def _end(run: str, settlement: Settlement, output: Raw, fold: Fold) -> AnyEnded:
    if settlement.status is Status.COMPLETED:
        return Completed(child=run, value=output)
    if fold.unknown:
        return Unknown(child=run, reason=f"{len(fold.unknown)} effects with unknown outcome")
    if settlement.status is Status.TIMED_OUT:
        return TimedOut(child=run)
    if settlement.status is Status.CANCELLED:
        return Cancelled(child=run, reason=settlement.reason)
    return Failed(child=run, reason=settlement.reason, value=output)
