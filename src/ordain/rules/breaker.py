"""The circuit breaker of an endpoint: when it is left alone, and when it is tried again. Pure; the state is the process's own.

It protects the endpoint, and callers from waiting for it; it decides nothing that stays. What a run sees of it is a failed attempt
(``circuit_open``, ``rate_limited``) in its own journal, and rule ``fallback`` decides on that.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ordain.contracts.policy import BreakerPolicy, ModelErrorCode

FAULTS = frozenset(
    {
        ModelErrorCode.SERVER_ERROR,
        ModelErrorCode.OVERLOADED,
        ModelErrorCode.CONNECTION,
        ModelErrorCode.TIMED_OUT,
        ModelErrorCode.ADAPTER_BUG,
    }
)
"""Errors that speak of the endpoint. All others show that it answers, and close the circuit like an answer."""
SECOND = 1_000_000


class Circuit(Struct, frozen=True):
    """The times of the latest faults in a row, since when the circuit is open (0: closed), and the call that probes (0: none).

    Calls are told apart by a number of their own, greater than 0. Only the probe itself ends the probing: a call from before the circuit
    opened may end at any time, and says nothing of the one that is out now.
    """

    faults: tuple[int, ...] = ()
    opened_at: int = 0
    probe: int = 0


class Admission(Struct, frozen=True):
    """Whether a call may go out, the circuit after that, and otherwise how long to leave the endpoint alone, in milliseconds."""

    admitted: bool
    circuit: Circuit
    wait_ms: int = 0


def admit(circuit: Circuit, call: int, now: int, policy: BreakerPolicy) -> Admission:
    """Closed lets through; open refuses until ``open_s`` has passed, and then lets one probe through at a time. Microseconds."""
    if not circuit.opened_at or not policy.failures:
        return Admission(admitted=True, circuit=circuit)
    left = circuit.opened_at + policy.open_s * SECOND - now
    if left > 0:
        return Admission(admitted=False, circuit=circuit, wait_ms=-(-left // 1000))
    if circuit.probe:
        return Admission(admitted=False, circuit=circuit, wait_ms=1000)
    return Admission(admitted=True, circuit=replace(circuit, probe=call))


def after(circuit: Circuit, call: int, code: ModelErrorCode | None, now: int, policy: BreakerPolicy) -> Circuit:
    """The circuit after a call that ended with ``code`` (None: an answer)."""
    if code not in FAULTS:
        return Circuit()
    if not policy.failures:
        return circuit
    if circuit.opened_at:  # the probe failed, or a call that was under way when the circuit opened
        return Circuit(opened_at=now) if circuit.probe == call else circuit
    recent = (*(at for at in circuit.faults if now - at < policy.window_s * SECOND), now)[-policy.failures :]
    return Circuit(opened_at=now) if len(recent) >= policy.failures else Circuit(faults=recent)


def given_up(circuit: Circuit, call: int) -> Circuit:
    """The circuit after a call that was abandoned: it says nothing, and if it was the probe another one may be."""
    return replace(circuit, probe=0) if circuit.probe == call else circuit
