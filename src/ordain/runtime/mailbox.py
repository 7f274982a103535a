"""A driven run's mailbox: interrupts that are to reach it, and what engines before this one saw of
its calls and could not write any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from ordain.effects.results import VerbResult
from ordain.errors import JournalCorrupt, OrdainError, StorageUnavailable
from ordain.journal.codec import decode
from ordain.journal.records import ObservationBody, Record, RecordKind
from ordain.ports.store import Append, ClaimUnit, Mail, StoredRun
from ordain.ports.writes import MailKind, NewMail
from ordain.runtime.mail import posted
from ordain.runtime.pen import offered
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.run")
_RESULTS: msgspec.json.Decoder[VerbResult] = msgspec.json.Decoder(VerbResult)


class Mailbox:
    """What was in it when it was looked at last."""

    def __init__(self, services: Services, run: str, mail: Sequence[Mail]) -> None:
        """``mail`` is what its engine found with the run."""
        self._services, self._run = services, run
        self.refused: JournalCorrupt | None = None
        """What is wrong with mail that nobody sent: the run stops before it takes any more."""
        self.interrupts: list[Mail] = []
        self.late: list[Mail] = []
        self._sort(mail)
        self._looking: asyncio.Task[None] | None = None
        self._again = False

    def _sort(self, mail: Sequence[Mail]) -> None:
        self.interrupts = [row for row in mail if row.kind is MailKind.INTERRUPT]
        self.late = [row for row in mail if row.kind is MailKind.LATE]

    async def look(self) -> list[Mail]:
        """All untaken mail.

        Raises:
            JournalCorrupt: some of it nobody sent (``mail_not_sent``).
        """
        try:
            mail = list(await self._services.store.mail(self._run))
        except JournalCorrupt as error:
            self.refused = error
            raise
        self._sort(mail)
        return mail

    def heard(self, found: Callable[[], None]) -> None:
        """Mail has come, it seems: look, beside whatever the run is at; ``found`` is called after
        each look, and not kept: it holds the run.
        """
        self._again = True
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look(found))

    async def _look(self, found: Callable[[], None]) -> None:
        while self._again:
            self._again = False
            with suppress(StorageUnavailable):  # the run meets it at its next effect
                with suppress(JournalCorrupt):
                    await self.look()
                found()

    def of_attempt(self, addr: int, lost: int) -> tuple[Mail, VerbResult] | None:
        """What became of the attempt at call ``addr`` that was cut off after ``lost`` others, where
        its engine lived to see it.
        """
        for row in self.late:
            if row.key == _late_key(addr, lost):
                body = msgspec.json.decode(row.body, type=ObservationBody)
                return row, _RESULTS.decode(body.result)
        return None


def _late_key(addr: int, lost: int) -> str:
    return f"late:{addr}:{lost}"


async def hand_over(
    services: Services, stored: StoredRun, unit: Append | ClaimUnit, lost: Mapping[int, int]
) -> None:
    """A unit was refused, for somebody else holds the run: what it says of calls that were made is
    mail for whoever does.

    ``lost`` is how many attempts at the call of each effect were cut off before the one that is
    told of; of one that never went out there is nothing to tell.
    """
    records = unit.append.records if isinstance(unit, ClaimUnit) else unit.records
    for record in filter(_observed, records):
        body = decode(record)
        assert isinstance(body, ObservationBody)
        if body.addr not in lost:
            continue
        mail = NewMail(
            run=stored.id,
            kind=MailKind.LATE,
            key=_late_key(body.addr, lost[body.addr]),
            body=record.body or b"",
            at=record.at,
            addr=body.addr,
        )
        try:
            refused = (await offered(services, posted(stored.workspace, mail))).refused
        except OrdainError as error:
            refused = error.code
        if refused:
            LOG.warning(
                "run=%s effect=%d what became of it was not written: %s",
                stored.id,
                body.addr,
                refused,
            )


def _observed(record: Record) -> bool:
    return record.kind is RecordKind.OBSERVATION and record.name == "verb_call"
