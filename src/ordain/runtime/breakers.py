"""The circuits of this process's endpoints, and the rests that providers asked for. State only; ``rules.breaker`` decides.

Kept in memory: it is knowledge about the world that is stale after a restart, and nothing is granted by it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ordain.contracts.policy import BreakerPolicy, ModelErrorCode, ModelProfile
from ordain.rules.breaker import SECOND, Circuit, admit, after, given_up

NAMED_A_DELAY = frozenset({ModelErrorCode.RATE_LIMITED, ModelErrorCode.OVERLOADED})
Refusal = tuple[ModelErrorCode, int]
"""Why nothing is sent, and after how many milliseconds it may be."""


def endpoint_of(profile: ModelProfile) -> str:
    """What shares a circuit: the provider at its address."""
    return f"{profile.provider} {profile.base_url or ''}".rstrip()


class Breakers:
    """One circuit for each endpoint, one rest for each profile."""

    def __init__(self) -> None:
        """All closed."""
        self._circuits: dict[str, Circuit] = {}
        self._rests: dict[str, tuple[int, ModelErrorCode]] = {}

    def refusal(self, name: str, profile: ModelProfile, now: int, policy: BreakerPolicy) -> Refusal | None:
        """Why the profile is not asked now, or None: then its call is under way, and ``ended`` or ``abandoned`` follows."""
        until, code = self._rests.get(name, (0, ModelErrorCode.RATE_LIMITED))
        if until > now:
            return code, -(-(until - now) // 1000)
        self._rests.pop(name, None)
        endpoint = endpoint_of(profile)
        admission = admit(self._circuits.get(endpoint, Circuit()), now, policy)
        if not admission.admitted:
            return ModelErrorCode.CIRCUIT_OPEN, admission.wait_ms
        self._keep(endpoint, admission.circuit)
        return None

    def ended(self, name: str, profile: ModelProfile, code: ModelErrorCode | None, now: int, policy: BreakerPolicy) -> None:
        """A call came to its end: with an answer, or with an error."""
        endpoint = endpoint_of(profile)
        self._keep(endpoint, after(self._circuits.get(endpoint, Circuit()), code, now, policy))

    def rest(self, name: str, code: ModelErrorCode, retry_after_ms: int | None, now: int, policy: BreakerPolicy) -> None:
        """The provider named a delay: nobody asks before it has passed, or ``rest_max_s``."""
        if code in NAMED_A_DELAY and retry_after_ms and policy.rest_max_s:
            self._rests[name] = (now + min(retry_after_ms * 1000, policy.rest_max_s * SECOND), code)

    def abandoned(self, profile: ModelProfile) -> None:
        """A call was given up before it came to an end."""
        endpoint = endpoint_of(profile)
        self._keep(endpoint, given_up(self._circuits.get(endpoint, Circuit())))

    def _keep(self, endpoint: str, circuit: Circuit) -> None:
        if circuit == Circuit():
            self._circuits.pop(endpoint, None)
        else:
            self._circuits[endpoint] = circuit

    def open(self) -> Mapping[str, int]:
        """The endpoints that are left alone or on probation, and since when (microseconds since 1970)."""
        return {endpoint: circuit.opened_at for endpoint, circuit in self._circuits.items() if circuit.opened_at}
