"""Where one execution of a run stands: what its two halves, the port over the journal and the live
end behind it, both know.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections import defaultdict
from typing import Any, NoReturn, cast

import msgspec
from msgspec import UNSET

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import AnyEffect, Read, Say, VerbCall
from ordain.errors import FlowFault
from ordain.flows.kind import Kind
from ordain.flows.transcript import TranscriptReader
from ordain.flows.values import Values
from ordain.journal.records import Record
from ordain.ports.effects import Interrupted, Suspended
from ordain.rules.recover import FoundOut, RecoverFacts, safety_of
from ordain.runtime.authority import Authority
from ordain.runtime.doubted_calls import leaves_doubt

CHILDREN_MAX = 1_000
"""Children of one join: all are opened in one unit."""
EFFECT_BYTES = 8 * 2**20
"""An effect as its record has it, and a flow's output: a larger one holds up every other run while
it is encoded.
"""

JOIN_BYTES = 2 * EFFECT_BYTES
"""Results that one join hands over in all, and as much again of reasons and headers: every wake of
the run reads them before anybody else goes on.
"""


LAST_WORDS_MAX = 1_000
"""Words and reads in a row once an interrupt has reached a flow or its run's deadline is past: one
that never ends must end somewhere.
"""


class RunState:
    """What was handed to the flow and when, what the run may do, and how it stands.

    ``masked``: an interrupt has reached the flow. ``suspended``: the run waits, and its flow is
    being given up. ``fault``: a port call failed, and nothing may follow it; ``under_way`` that an
    effect is. ``decide_ns`` is the CPU time of rules since it was last counted. ``lost_calls`` are
    attempts at verb calls that were cut off, by permit. ``handed_at`` and ``flow_at`` are the time
    of the last record that was handed to the flow, by the wall clock and by the flow's: without
    ``lost_us``, what was lost so far. ``asks`` are the rules that its flow may ask, by name,
    ``shares`` those of its claims; ``asked`` what it has asked of its port and does not await yet.
    """

    def __init__(
        self,
        began: int,
        authority: Authority,
        transcript: TranscriptReader | None,
        kind: Kind[Any, Any],
    ) -> None:
        """``began`` is when the run was opened, in microseconds since 1970."""
        self.authority = authority
        self.asks, self.shares = kind.asks, kind.shares
        self.asked: set[Any] = set()
        self.handed_at = self.flow_at = began
        self.lost_us = 0
        self.values = Values(transcript)
        self.masked = False
        self._last_words = 0
        self.suspended = False
        self.fault: Exception | None = None
        self.under_way = False
        self.decide_ns = 0
        self.lost_calls: defaultdict[str, int] = defaultdict(int)

    def recover_facts(self, call: VerbCall, catalog: Catalog, found: FoundOut) -> RecoverFacts:
        """One more attempt at the call was cut off with its process."""
        permit, spec = call.authorized.decision, catalog.verbs[call.authorized.call.verb].spec
        self.lost_calls[permit] += 1
        lost = self.lost_calls[permit]
        return RecoverFacts(
            verb=spec.name,
            permit=permit,
            attempt=call.attempt,
            lost=lost,
            safety=safety_of(spec),
            happened=found.happened,
            stopping=True if found.stopping else UNSET,
        )

    def doubted(self, call: VerbCall, catalog: Catalog) -> bool:
        """Whether an attempt at the call was cut off that may have taken effect: nothing was read,
        and nothing has fenced it.
        """
        spec = catalog.verbs[call.authorized.call.verb].spec
        lost = self.lost_calls[call.authorized.decision]
        return lost > 0 and leaves_doubt(spec)

    def raise_fault(self) -> None:
        """Raise what a port call failed with, again: a flow that swallowed it does not get on."""
        if self.fault is not None:
            raise self.fault

    def refuse_call(self) -> NoReturn:
        """No port call may follow: raise what the one before failed with, or that one is under way.

        Raises:
            FlowFault: an effect is under way.
        """
        if self.fault is None:
            self.fault = FlowFault(
                "a port call beside an effect that is under way: a run is sequential"
            )
        raise self.fault

    def call_failed(self, error: BaseException) -> None:
        """A port call raised this; control signals are no failure. Broken off by the flow, through
        a time-out or by closing it, it has no result on record.
        """
        kind = type(error)
        # by its class alone: an error of foreign code may make anything of being looked at
        if issubclass(kind, Exception):
            self.fault = cast("Exception", error)
        elif issubclass(kind, CancelledError | GeneratorExit):
            self.fault = FlowFault("a port call was broken off from outside of it")
        elif not issubclass(kind, Interrupted | Suspended):
            # a rule's or a kind's, which a flow may swallow as well
            self.fault = FlowFault(f"a port call raised {kind.__name__}")

    def returned(self) -> None:
        """The flow returned.

        Raises:
            FlowFault: it left an effect behind that is under way, or a port call that it never
                awaited: nobody has made that. What a port call failed with is raised again.
        """
        if self.under_way and self.fault is None:
            self.fault = FlowFault("the flow returned beside an effect that is under way")
        elif self.asked and self.fault is None:
            methods = ", ".join(sorted({call.method for call in self.asked}))
            self.fault = FlowFault(
                f"the flow returned without awaiting what it asked of its port: {methods}"
            )
        self.raise_fault()

    def close(self) -> None:
        """Nothing may be asked of the port any more, whatever the flow left behind."""
        if self.fault is None:
            self.fault = FlowFault("a port call after the flow's end")

    def admit(self, effect: AnyEffect, size: int, catalog: Catalog) -> None:
        """An effect of ``size`` bytes is about to go live: after an interrupt only words and reads
        may follow, and it is within what the run may do.

        Raises:
            FlowFault: it may not; nothing goes live.
        """
        if size > EFFECT_BYTES:
            raise FlowFault(
                f"a {type(effect).__name__} of {size} bytes: an effect has {EFFECT_BYTES} at most"
            )
        if self.masked and not isinstance(effect, (Say, Read)):
            raise FlowFault(
                f"{type(effect).__name__} after an interrupt: only Say and Read may follow"
            )
        if self._last_words >= LAST_WORDS_MAX and isinstance(effect, (Say, Read)):
            raise FlowFault(
                f"more than {LAST_WORDS_MAX} words and reads in a row after an interrupt or the "
                "run's deadline"
            )
        self.authority.check(effect, catalog)
        self.announced(effect)

    def announced(self, effect: AnyEffect) -> None:
        """An effect was announced, now or on record."""
        last = (self.masked or self.flow_at > self.authority.deadline) and isinstance(
            effect, (Say, Read)
        )
        self._last_words = self._last_words + 1 if last else 0
        self.authority.made(effect)

    def admit_claim(self) -> None:
        """A claim is about to be decided.

        Raises:
            FlowFault: an interrupt has reached the flow.
        """
        if self.masked:
            raise FlowFault("a claim after an interrupt: only Say and Read may follow")

    def handed(self, record: Record) -> None:
        """A record was handed to the flow: the flow's time moves."""
        self.handed_at = record.at
        self.flow_at = record.at - self.lost_us

    def remember(self, value: Any, seq: int) -> Any:
        """Give a result its place in the journal, and keep it for references."""
        msgspec.structs.force_setattr(value, "seq", seq)
        self.values[seq] = value
        return value


class PortEffect:
    """One call of the port that takes its time: none beside another one (by a thread, say), and
    none after one that failed, even where that was swallowed. Those that are answered at once hold
    to that, too (``Execution.decide``).

    Else live and replay would not stop at one place: what failed before anything was recorded is in
    no journal.
    """

    __slots__ = ("_state",)

    def __init__(self, state: RunState) -> None:
        """Of the run that stands so."""
        self._state = state

    def __enter__(self) -> None:
        """Begin. Raises as ``RunState.refuse_call``."""
        state = self._state
        if state.fault is not None or state.under_way:
            state.refuse_call()
        state.under_way = True

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """End; a failure is kept."""
        self._state.under_way = False
        if error is not None:
            self._state.call_failed(error)
