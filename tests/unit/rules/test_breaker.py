"""Laws of the circuit breaker: a state machine that anything may happen to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import BreakerPolicy, ModelErrorCode
from ordain.rules.breaker import FAULTS, SECOND, Circuit, admit, after, given_up

policies = st.builds(BreakerPolicy, failures=st.integers(1, 6), window_s=st.integers(1, 120), open_s=st.integers(1, 120))
codes = st.one_of(st.none(), st.sampled_from(ModelErrorCode))
ENDS = st.one_of(st.just("given_up"), codes)
moments = st.lists(st.tuples(st.integers(0, 40 * SECOND), ENDS), min_size=1, max_size=60)


@given(policies, moments)
def test_nothing_goes_out_while_the_circuit_is_open(policy: BreakerPolicy, history: list[tuple[int, str | ModelErrorCode | None]]) -> None:
    """Called one after another: an open circuit admits nothing before its time, then one probe, whose end closes or opens it again."""
    circuit, now, faults = Circuit(), 1, 0
    for later, end in history:
        now += later
        opened = circuit.opened_at
        admission = admit(circuit, now, policy)
        assert admission.admitted is (not opened or now >= opened + policy.open_s * SECOND)
        if not admission.admitted:
            assert admission.wait_ms > 0
            assert admission.circuit == circuit
            continue
        assert admission.circuit.probing is bool(opened)
        if end == "given_up":
            circuit = given_up(admission.circuit)
            assert not circuit.probing
            continue
        code = None if end is None else ModelErrorCode(end)
        circuit = after(admission.circuit, code, now, policy)
        faults = faults + 1 if code in FAULTS else 0
        if code not in FAULTS:
            assert circuit == Circuit()
        elif opened:
            assert circuit == Circuit(opened_at=now)
        elif circuit.opened_at:
            assert faults >= policy.failures
        assert len(circuit.faults) < policy.failures


@given(policies, st.integers(1, 200))
def test_only_one_probe_is_under_way(policy: BreakerPolicy, callers: int) -> None:
    """However many come when the time is over, one is let through."""
    circuit, now = Circuit(opened_at=1), 1 + policy.open_s * SECOND
    let_through = 0
    for _ in range(callers):
        admission = admit(circuit, now, policy)
        circuit, let_through = admission.circuit, let_through + admission.admitted
    assert let_through == 1


@given(policies, st.integers(0, 10**12))
def test_faults_in_a_row_open_the_circuit(policy: BreakerPolicy, gap: int) -> None:
    """As many faults as policy names open it exactly if they all lie within the window."""
    circuit, now = Circuit(), 1
    for _ in range(policy.failures):
        now += gap
        circuit = after(circuit, ModelErrorCode.OVERLOADED, now, policy)
    within = gap * (policy.failures - 1) < policy.window_s * SECOND
    assert bool(circuit.opened_at) is within


@given(st.lists(codes, max_size=30))
def test_without_a_number_it_never_opens(ends: list[ModelErrorCode | None]) -> None:
    """A policy that names no failures admits everything."""
    policy, circuit = BreakerPolicy(), Circuit()
    for now, code in enumerate(ends, 1):
        admission = admit(circuit, now, policy)
        assert admission.admitted
        circuit = after(admission.circuit, code, now, policy)
    assert circuit == Circuit()
