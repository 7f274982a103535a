"""The circuit breaker of an endpoint: when it is left alone, and when it is tried again. Pure; the
state is the process's own.

It protects the endpoint, and callers from waiting for it; it decides nothing that stays. What a run
sees of it is a call that was held back (``circuit_open``, ``rate_limited``) in its own journal, and
rule ``fallback`` decides on that.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ordain.contracts.model_policy import BreakerPolicy, ModelErrorCode

FAULTS = frozenset(
    {
        ModelErrorCode.SERVER_ERROR,
        ModelErrorCode.OVERLOADED,
        ModelErrorCode.CONNECTION,
        ModelErrorCode.TIMED_OUT,
        ModelErrorCode.ADAPTER_BUG,
    }
)
"""Errors that speak of the endpoint. All others show that it answers, and close the circuit like an
answer.
"""
SECOND = 1_000_000
PROBE_LEAST_MS, PROBE_MOST_MS = 200, 2000
"""After how long to come again where as many probes are under way as may be: after as long as the
latest has been under way, within these. Most are back at once; one that hangs is not asked after
ten times a second.
"""


class Circuit(Struct, frozen=True):
    """The times of the latest faults in a row, since when the circuit is open (0: closed), the
    calls that probe and when the latest went out, and how often one answered since.

    Calls are told apart by a number of their own. Only a probe's own fault opens the circuit again:
    a call from before it opened may fail at any time, and says nothing of those that are out now.
    An answer counts whoever gets it.
    """

    faults: tuple[int, ...] = ()
    opened_at: int = 0
    probes: tuple[int, ...] = ()
    answered: int = 0
    probed_at: int = 0


CLOSED = Circuit()
"""As it is where nothing is known of an endpoint, or nothing but that it answers."""


class Admission(Struct, frozen=True):
    """Whether a call may go out, the circuit after that, and otherwise how long to leave the
    endpoint alone, in milliseconds; ``probing``: for what is found out just now.
    """

    admitted: bool
    circuit: Circuit
    wait_ms: int = 0
    probing: bool = False


def admit(circuit: Circuit, call: int, now: int, policy: BreakerPolicy) -> Admission:
    """Closed lets through; open refuses until ``open_s`` has passed, or something answered.
    Microseconds.

    Then it is half open: one probe is let through, and one more beside it for each answer since.
    Where nobody asked for so long that no fault of before counts any more, an answer was enough.
    """
    if not circuit.opened_at or not policy.failures:
        return Admission(admitted=True, circuit=circuit)
    left = circuit.opened_at + policy.open_s * SECOND - now
    if circuit.answered and left <= -policy.window_s * SECOND:
        return Admission(admitted=True, circuit=CLOSED)
    if left > 0 and not circuit.answered:
        return Admission(admitted=False, circuit=circuit, wait_ms=-(-left // 1000))
    if len(circuit.probes) > circuit.answered:
        under_way_ms = (now - circuit.probed_at) // 1000
        wait_ms = min(max(under_way_ms, PROBE_LEAST_MS), PROBE_MOST_MS)
        return Admission(admitted=False, circuit=circuit, wait_ms=wait_ms, probing=True)
    probing = replace(circuit, probes=(*circuit.probes, call), probed_at=now)
    return Admission(admitted=True, circuit=probing)


def after(
    circuit: Circuit, call: int, code: ModelErrorCode | None, now: int, policy: BreakerPolicy
) -> Circuit:
    """The circuit after a call that ended with ``code`` (None: an answer). As many answers as there
    were faults close it.
    """
    if code not in FAULTS:
        answered = circuit.answered + 1
        if not circuit.opened_at or answered >= policy.failures:
            return CLOSED
        return replace(given_up(circuit, call), answered=answered)
    if not policy.failures:
        return circuit
    if circuit.opened_at:  # a probe failed, or a call that was under way when the circuit opened
        return Circuit(opened_at=now) if call in circuit.probes else circuit
    recent = (*(at for at in circuit.faults if now - at < policy.window_s * SECOND), now)[
        -policy.failures :
    ]
    return Circuit(opened_at=now) if len(recent) >= policy.failures else Circuit(faults=recent)


def given_up(circuit: Circuit, call: int) -> Circuit:
    """The circuit after a call that was abandoned: it says nothing, and if it was a probe another
    one may be.
    """
    return (
        replace(circuit, probes=tuple(probe for probe in circuit.probes if probe != call))
        if call in circuit.probes
        else circuit
    )
