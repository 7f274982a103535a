"""The circuits of this process's endpoints, and the rests that providers asked for. State only;
``rules.breaker`` decides.

Kept in memory: it is knowledge about the world that is stale after a restart, and nothing is
granted by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from msgspec import Struct

from ordain.contracts.model_policy import BreakerPolicy, ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.effects.results import AwaitedTurn
from ordain.ports.model import Charge, ModelError, ModelReply
from ordain.rules.breaker import CLOSED, SECOND, Circuit, admit, after, given_up

NAMED_A_DELAY = frozenset({ModelErrorCode.RATE_LIMITED, ModelErrorCode.OVERLOADED})
SILENT = frozenset(
    {ModelErrorCode.TIMED_OUT, ModelErrorCode.CONNECTION, ModelErrorCode.ADAPTER_BUG}
)
"""Failures in which nothing need have been heard of the endpoint: who only hangs up may be a
forwarder before nobody.
"""
FULL_TIME = 0.9
"""A time-out speaks of the endpoint only if the call had nearly all of the profile's own time."""
PAUSE_MS = 1000
"""Whoever is kept waiting for longer may hang up."""


class HeldBack(NamedTuple):
    """Why nothing is sent, after how many milliseconds it may be, and what is waited for."""

    code: ModelErrorCode
    wait_ms: int
    turn: AwaitedTurn = "rest"


def endpoint_of(profile: ModelProfile) -> str:
    """What shares a circuit: the provider at its address."""
    return _endpoint(profile.provider, profile.base_url or "")


@lru_cache(maxsize=256)
def _endpoint(provider: str, address: str) -> str:
    """Each call asks for it several times."""
    return f"{provider} {address}".rstrip()


def is_answer(reply: ModelReply | ModelError) -> bool:
    """Whether a call that came back shows that there is an endpoint: whatever that says does, a
    refusal as well. Pure.
    """
    return isinstance(reply, ModelReply) or (
        reply.charge is not Charge.NOTHING_SENT and reply.code not in SILENT
    )


def speaks_of_endpoint(
    code: ModelErrorCode, profile: ModelProfile, given_ms: float, lost_ms: float
) -> bool:
    """Whether a call's failure is one of its endpoint: the run's own short time and this process's
    own pause are none. Pure.

    ``given_ms`` is what the call had, ``lost_ms`` how long this process stood still meanwhile.
    """
    if code is ModelErrorCode.TIMED_OUT:
        return min(given_ms, profile.timeout_ms) - lost_ms >= profile.timeout_ms * FULL_TIME
    return code is not ModelErrorCode.CONNECTION or lost_ms < PAUSE_MS


class CircuitAdmission(Struct, frozen=True):
    """A call that is under way: to whom, and its number. ``Breakers.ended`` or
    ``Breakers.abandoned`` ends it.
    """

    profile: ModelProfile
    number: int
    hedged: bool = False

    @property
    def circuit(self) -> str:
        """Whose circuit it goes through: an endpoint's, or that of an endpoint as the first of
        two.
        """
        return f"{endpoint_of(self.profile)} hedged" if self.hedged else endpoint_of(self.profile)


class Breakers:
    """One circuit for each endpoint, one rest for each profile; and one for each endpoint that is
    asked first where a second one is asked beside.

    Of the latter only hedged calls know: an endpoint that another one overtakes may be slow, and
    good enough for whoever has no other.
    """

    def __init__(self) -> None:
        """All closed."""
        self._circuits: dict[str, Circuit] = {}
        self._rests: dict[str, tuple[int, ModelErrorCode]] = {}
        self._answered = set[str]()
        self._numbers = count(1)

    def heard_from(self, profile: ModelProfile) -> None:
        """Its endpoint has answered."""
        self._answered.add(endpoint_of(profile))

    def answered(self, profile: ModelProfile) -> bool:
        """Whether its endpoint has answered anything since this process began."""
        return endpoint_of(profile) in self._answered

    def admit(
        self, name: str, profile: ModelProfile, now: int, policy: BreakerPolicy
    ) -> CircuitAdmission | HeldBack:
        """The call, which is under way from now on, or why the profile is not asked."""
        if (rest := self._rests.get(name)) is not None:
            until, code = rest
            if until > now:
                return HeldBack(code, -(-(until - now) // 1000))
            del self._rests[name]
        return self._admitted(CircuitAdmission(profile, next(self._numbers)), now, policy)

    def admit_first(
        self, profile: ModelProfile, now: int, policy: BreakerPolicy
    ) -> CircuitAdmission | HeldBack:
        """The same for the first of a hedged call's two endpoints, in that part; it is admitted as
        any other call besides.
        """
        return self._admitted(
            CircuitAdmission(profile, next(self._numbers), hedged=True), now, policy
        )

    def _admitted(
        self, call: CircuitAdmission, now: int, policy: BreakerPolicy
    ) -> CircuitAdmission | HeldBack:
        where = call.circuit
        admission = admit(self._circuits.get(where, CLOSED), call.number, now, policy)
        if not admission.admitted:
            turn = "probe" if admission.probing else "rest"
            return HeldBack(ModelErrorCode.CIRCUIT_OPEN, admission.wait_ms, turn)
        self._keep(where, admission.circuit)
        return call

    def ended(
        self, call: CircuitAdmission, code: ModelErrorCode | None, now: int, policy: BreakerPolicy
    ) -> None:
        """A call came to its end: with an answer, or with an error."""
        where = call.circuit
        before = self._circuits.get(where, CLOSED)
        self._keep(where, after(before, call.number, code, now, policy))

    def rest(
        self,
        name: str,
        code: ModelErrorCode,
        retry_after_ms: int | None,
        now: int,
        policy: BreakerPolicy,
    ) -> None:
        """The provider named a delay: nobody asks before it has passed, or ``rest_max_s``."""
        if code in NAMED_A_DELAY and retry_after_ms and policy.rest_max_s:
            self._rests[name] = (now + min(retry_after_ms * 1000, policy.rest_max_s * SECOND), code)

    def left_alone_ms(self, profile: ModelProfile, now: int, policy: BreakerPolicy) -> int:
        """For how long nobody asks an endpoint any more; 0 where somebody may."""
        circuit = self._circuits.get(endpoint_of(profile), CLOSED)
        looked = admit(circuit, 0, now, policy)
        return 0 if looked.admitted or looked.probing else looked.wait_ms

    def abandoned(self, call: CircuitAdmission) -> None:
        """A call was given up before it came to an end."""
        where = call.circuit
        self._keep(where, given_up(self._circuits.get(where, CLOSED), call.number))

    def _keep(self, where: str, circuit: Circuit) -> None:
        if circuit == CLOSED:
            self._circuits.pop(where, None)
        else:
            self._circuits[where] = circuit

    def open(self) -> Mapping[str, int]:
        """The endpoints that are left alone or on probation, and since when (microseconds since
        1970).
        """
        return {
            endpoint: circuit.opened_at
            for endpoint, circuit in self._circuits.items()
            if circuit.opened_at
        }
