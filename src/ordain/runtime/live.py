"""The live end of one run: what happens where its journal ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from ordain.effects.children import AnyEnded
from ordain.effects.effect import AnyEffect, Children, Claim, ModelCall, Read, Say, VerbCall, Wait
from ordain.effects.results import AnyResult, Said, VerbResult, withdrawn_wait
from ordain.errors import FlowFault, JournalCorrupt, LeaseLost, OrdainError, RunLost
from ordain.journal.answered_calls import answered_calls
from ordain.journal.digests import derived_id
from ordain.journal.records import (
    ClaimBody,
    DecisionBody,
    IntentBody,
    Record,
    RecordKind,
    Status,
    raw,
)
from ordain.ports.effects import Suspended
from ordain.ports.leases import Held
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import ClaimUnit, Mail
from ordain.ports.verb import Withdrawing, nothing_withdrawn
from ordain.ports.writes import OutboxRow
from ordain.rules.decision import Decision, Rule
from ordain.rules.recover import FoundOut, Recovering, RecoverOutcome
from ordain.runtime.calls import OnBehalf, call_verb
from ordain.runtime.carried_verb import carried_verb
from ordain.runtime.children import new_children
from ordain.runtime.claims import prepared
from ordain.runtime.entries import said
from ordain.runtime.foreign_code import contained
from ordain.runtime.foreign_result import kept_form
from ordain.runtime.gateway import Attempt, call_model
from ordain.runtime.images import Images
from ordain.runtime.joins import join_children
from ordain.runtime.model_answers import lost_call, timed_out_at
from ordain.runtime.read_transcript import ReadTranscript
from ordain.runtime.readers import read
from ordain.runtime.recorded_form import EFFECT_NAMES
from ordain.runtime.recovered_calls import recover_verb
from ordain.runtime.run_journal import RunJournal
from ordain.runtime.services import NOT_READ, Services
from ordain.runtime.setup import RunSetup
from ordain.runtime.waits import ask, carry_wait

R = TypeVar("R")
_INTENT = RecordKind.INTENT
"""What is asked for at each record has a name of its own (``journal.codec``)."""
_PLAIN = frozenset({ModelCall, VerbCall, Read})
"""Effects beside whose intent nothing is written."""
UNWRITTEN_MAX = 256
"""Records that may wait for a barrier when an effect begins; between two effects that have one
there are a dozen.
"""
Park = Callable[[int | None], Awaitable[bool]]
"""Keeps a run that waits, until the time given at the latest, with its flow: comes to whether it
was woken, and may go on where it stands.
"""


class LiveRun(RunJournal):
    """Implements ``Beyond`` for a run that is being driven."""

    def __init__(
        self,
        services: Services,
        held: Held,
        setup: RunSetup,
        said: ReadTranscript,
        park: Park | None = None,
    ) -> None:
        """Continue after the stored records; the subject's key must still exist. ``said`` reads
        what its prompts refer to.
        """
        super().__init__(services, held, setup, said)
        self._said, self._park = said, park
        self._loop = asyncio.get_running_loop()
        self._abandonable: asyncio.Task[Any] | None = None
        self._abandoned = False
        self.in_verb = self.stopping = False
        self._model_calls = answered_calls(self.stored.records)
        carried = carried_verb(services, self.stored, setup)
        self.within: Withdrawing = nothing_withdrawn if carried is None else carried.withdrawn

    # --- waiting ----------------------------------------------------------------------------------

    async def suspend(
        self, addr: int, wake_at: int | None, waits_for: str, *, deaf: bool = False
    ) -> None:
        """Wait until mail or time arrives; returns if mail has already arrived, or the run was kept
        until then. What is not durable yet becomes so with the wait.

        Raises:
            Suspended: the run is now ``waiting``, and gives up its coroutine.
        """
        if not await self.waits(addr, wake_at, waits_for, deaf=deaf):
            return
        self.state.suspended = True
        if self._park is None or self.time.still or not await self._park(wake_at):
            # a person may take days
            raise Suspended
        self.state.suspended, self._status = False, Status.RUNNING

    # --- Beyond -----------------------------------------------------------------------------------

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        """See ``Beyond.decided``."""
        counters, state = self.services.counters, self.state
        counters.decisions += 1
        counters.decide_ns, state.decide_ns = counters.decide_ns + state.decide_ns, 0
        self.decision(rule.name, body)

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """See ``Beyond.claim``: one unit, its own barrier, behind the run's own records."""
        self.state.admit_claim()
        if (mail := self.interrupt()) is not None:
            raise self.deliver(mail, addr)
        self.book_lost()
        shared, own = self.state.shares[claim.name], await prepared(claim, self)
        mark = self.scribe.mark()
        decided: list[tuple[Decision[Any], Record]] = []

        def decide(*read: Any) -> Ruling:
            self.scribe.back_to(mark)
            facts = own.facts(*read)
            made = shared.rule.apply(facts, None, self.catalog.policy)
            granted = isinstance(made.outcome, shared.grants)
            writes = own.writes(facts, made, *read) if granted else ()
            if own.pinned is not None and own.pinned.missing:
                return Ruling(refused=NOT_READ)
            body = ClaimBody(
                addr=addr,
                claim=raw(claim),
                outcome=raw(made.outcome),
                reason=made.reason,
                facts=raw(facts),
            )
            record = self.scribe.write(
                RecordKind.CLAIM, claim.name, body, self.services.clock.now()
            )
            decided[:] = [(made, record)]
            return Ruling(record=record, writes=writes)

        unit = self.unit()
        try:
            while not await self.offer(
                ClaimUnit(append=unit, shared=Shared(reads=own.reads, decide=decide))
            ):
                if own.pinned is None or not await own.pinned.fetch():
                    self.lost = RunLost(
                        f"run {self.id}: what its claim writes does not stand with what is stored"
                    )
                    raise self.lost
        except LeaseLost:
            raise
        except OrdainError:  # the claim's own, met in the transaction, of which nothing was written
            self.scribe.back_to(mark)
            self.give_back(unit)
            raise
        made, record = decided[0]
        self.records.append(record)
        self.time.wrote(record, self.read(record))
        self.state.handed(record)
        return Decision(outcome=made.outcome, reason=made.reason, address=f"{addr}/{claim.name}#0")

    async def begin(self, addr: int, effect: AnyEffect, encoded: msgspec.Raw) -> Any:
        """See ``Beyond.begin``."""
        if self.unwritten >= UNWRITTEN_MAX:
            # a flow that only speaks comes to no barrier, and nobody else would get a turn
            await self.barrier()
            self.state.raise_fault()
        if not self.state.masked and (mail := self.interrupt()) is not None:
            raise self.deliver(mail, addr)
        self.state.admit(effect, len(encoded), self.catalog)
        plain = type(effect) in _PLAIN
        children = (
            list(new_children(self, addr, effect))
            if not plain and isinstance(effect, Children)
            else []
        )
        name = EFFECT_NAMES[type(effect)]
        self.services.counters.effects += 1
        self.write(_INTENT, name, IntentBody(addr=addr, effect=encoded))
        if not plain:
            if isinstance(effect, Say):
                return self._say(addr, effect)
            if isinstance(effect, Wait) and (why := await ask(self, addr, effect)) is not None:
                return self.observe(addr, name, withdrawn_wait(why))
            self.beside(*children)
        # from here on a drain lets it end: its intent may be durable already
        self.in_verb = isinstance(effect, VerbCall)
        if not self._goes_along(effect):
            await self.barrier()
            self.state.raise_fault()  # the flow may have ended meanwhile, and left this behind
            self.stepped()
        return await self._carry_out(addr, effect, {}, again=False)

    def _goes_along(self, effect: AnyEffect) -> bool:
        """Whether an effect begins before its intent is durable: children are opened in the unit of
        the wait for them, and a read changes nothing, but sees what the run itself has written.
        """
        kind = type(effect)
        return kind is Children or (kind is Read and not self.writes_beside)

    def _say(self, addr: int, effect: Say) -> Any:
        if not effect.summary_through:
            self.beside(OutboxRow(addr=addr, text=effect.text, at=self.scribe.at))
        if self.stored.session:
            self.beside(said(self.stored, addr, effect, self.scribe.at))
        return self.observe(addr, "say", Said())

    async def resume(
        self,
        addr: int,
        effect: AnyEffect,
        ended: dict[int, AnyEnded],
        recover: Recovering | None = None,
    ) -> Any:
        """See ``Beyond.resume``."""
        return await self._carry_out(addr, effect, ended, again=True, recover=recover)

    async def _carry_out(
        self,
        addr: int,
        effect: AnyEffect,
        ended: dict[int, AnyEnded],
        *,
        again: bool,
        recover: Recovering | None = None,
    ) -> Any:
        if isinstance(effect, (ModelCall, VerbCall, Read)):
            effect = self.time.timed(effect, self.catalog)
        elif isinstance(effect, Wait):
            return await carry_wait(self, addr, effect, again=again)
        elif isinstance(effect, Children):
            return await join_children(self, addr, effect, ended, begun=not again)
        if isinstance(effect, ModelCall):
            result: AnyResult | None = (
                lost_call(self.catalog, effect)
                if again
                else await self._abandonable_call(lambda: self._model(effect), addr, "model_call")
            )
            name = "model_call"
        elif (
            isinstance(effect, VerbCall)
            and not again
            and not self.state.masked
            and (mail := self.interrupt()) is not None
        ):
            raise self.abandon(addr, "verb_call", mail)  # it was durable before the verb began
        elif isinstance(effect, VerbCall):
            permit = effect.authorized.decision
            self._attempts[addr] = self.state.lost_calls[permit]
            if (
                again
                and (late := self.mailbox.of_attempt(addr, self.state.lost_calls[permit]))
                is not None
            ):
                return self.observe(addr, "verb_call", late[1], mail=late[0])
            if again:
                # before a clock that is set back makes it forgotten, though a record says that it
                # is past
                self.book_lost()
            result, name = await self._verb(effect, recover), "verb_call"
            self._attempts[addr] = self.state.lost_calls[permit]
            if self.stopping:
                self._record(addr, name, kept_form(self.catalog, effect, result))
                await self.barrier()
                raise asyncio.CancelledError
        elif isinstance(effect, Read):
            result, name = (
                await self._abandonable_call(
                    lambda: read(self.services, self.stored, effect), addr, "read"
                ),
                "read",
            )
        else:
            raise FlowFault(f"no handler for {type(effect).__name__}")
        form = kept_form(self.catalog, effect, result)
        return self._record(
            addr, name, form, at=timed_out_at(effect, result, self.services.clock.now)
        )

    def heard(self) -> None:
        """Mail may have arrived: look for interrupts, and abandon what may be abandoned."""
        self.mailbox.heard(self._looked)

    def _looked(self) -> None:
        self.state.fault = self.state.fault or self.mailbox.refused
        if self.mailbox.interrupts and not self.state.masked and self._abandonable is not None:
            self._abandoned = True
            self._abandonable.cancel()

    def stop_after_verb(self) -> None:
        """The engine drains: record what the running verb gives, then give up the run."""
        self.stopping = True

    async def look(self) -> list[Mail]:
        """All untaken mail; interrupts among it are remembered. Where some of it nobody sent, the
        run stops.
        """
        try:
            return await self.mailbox.look()
        except JournalCorrupt:
            self._looked()
            self.state.raise_fault()
            raise

    async def _abandonable_call(
        self, begin: Callable[[], Coroutine[Any, Any, R]], addr: int, name: str
    ) -> R:
        if not self.state.masked and (early := self.interrupt()) is not None:
            # it came while this waited for the intent's commit
            raise self.abandon(addr, name, early)
        task = self._loop.create_task(contained(f"a {name}", begin))
        self._abandonable, self._abandoned = task, False
        try:
            return await task
        except asyncio.CancelledError:
            if not self._abandoned or (mail := self.interrupt()) is None:
                raise
            raise self.abandon(addr, name, mail) from None
        finally:
            self._abandonable = None

    async def _is_stopping(self) -> bool:
        if self.state.masked:
            return False
        await self.look()  # who was told that it is to stop may have been told just now
        return self.interrupt() is not None

    # --- handlers ---------------------------------------------------------------------------------

    async def _model(self, effect: ModelCall) -> AnyResult:
        index = self._model_calls[effect.purpose, effect.role]
        self._model_calls[effect.purpose, effect.role] += 1
        heard = (
            self.services.streams.attempt(self.stored)
            if effect.narrative and self.stored.session
            else None
        )
        prompt = self.setup.kind.prompt(effect.purpose)
        images = Images(
            sessions=self.services.sessions,
            workspace=self.stored.workspace,
            session=self.stored.session,
        )
        attempt = Attempt(
            index=index,
            prompt=prompt,
            having=self._said.having,
            within=self.within,
            images=images,
            heard=heard,
        )
        return await call_model(self.services, self.catalog, effect, self.state.values, attempt)

    async def _verb(self, effect: VerbCall, recover: Recovering | None) -> VerbResult:
        """Make the call, under the number after those of its attempts that were lost."""

        async def durably(found: FoundOut) -> RecoverOutcome:
            assert recover is not None
            outcome = recover(found)
            await self.barrier()
            return outcome

        permit = effect.authorized.decision
        by = OnBehalf(
            key=derived_id(self.id, permit),
            run=msgspec.structs.replace(self.stored, records=tuple(self.records)),
            principal=self.setup.started.principal,
            consent=self.state.authority.given(permit),
            within=self.within,
            doubted=self.state.doubted(effect, self.catalog),
            hears_of_doubt=self.setup.started.doubted is not None,
            stopping=self._is_stopping,
        )
        lost = self.state.lost_calls[permit]
        call = msgspec.structs.replace(effect, attempt=effect.attempt + lost) if lost else effect
        self.in_verb = True
        try:
            if recover is None:
                return await call_verb(self.services, self.catalog, call, by)
            return await recover_verb(self.services, self.catalog, call, by, durably)
        finally:
            self.in_verb = False
