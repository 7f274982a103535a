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
    for call, (later, end) in enumerate(history, 1):
        now += later
        opened = circuit.opened_at
        admission = admit(circuit, call, now, policy)
        assert admission.admitted is (not opened or now >= opened + policy.open_s * SECOND)
        if not admission.admitted:
            assert admission.wait_ms > 0
            assert admission.circuit == circuit
            continue
        assert admission.circuit.probe == (call if opened else 0)
        if end == "given_up":
            circuit = given_up(admission.circuit, call)
            assert not circuit.probe
            continue
        code = None if end is None else ModelErrorCode(end)
        circuit = after(admission.circuit, call, code, now, policy)
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
    for call in range(1, callers + 1):
        admission = admit(circuit, call, now, policy)
        circuit, let_through = admission.circuit, let_through + admission.admitted
    assert let_through == 1


@given(policies, st.integers(0, 10**12))
def test_faults_in_a_row_open_the_circuit(policy: BreakerPolicy, gap: int) -> None:
    """As many faults as policy names open it exactly if they all lie within the window."""
    circuit, now = Circuit(), 1
    for call in range(1, policy.failures + 1):
        now += gap
        circuit = after(circuit, call, ModelErrorCode.OVERLOADED, now, policy)
    within = gap * (policy.failures - 1) < policy.window_s * SECOND
    assert bool(circuit.opened_at) is within


@given(st.lists(codes, max_size=30))
def test_without_a_number_it_never_opens(ends: list[ModelErrorCode | None]) -> None:
    """A policy that names no failures admits everything."""
    policy, circuit = BreakerPolicy(), Circuit()
    for now, code in enumerate(ends, 1):
        admission = admit(circuit, now, now, policy)
        assert admission.admitted
        circuit = after(admission.circuit, now, code, now, policy)
    assert circuit == Circuit()


STEPS = st.sampled_from(["begin", "given_up", ModelErrorCode.TIMED_OUT, ModelErrorCode.REJECTED, None])


@given(policies, st.lists(st.tuples(st.integers(0, 40 * SECOND), st.integers(0, 5), STEPS), max_size=60))
def test_calls_that_overlap_leave_the_probe_its_own(
    policy: BreakerPolicy, history: list[tuple[int, int, str | ModelErrorCode | None]]
) -> None:
    """With calls out from before the circuit opened: beside a probe no second one goes, and nothing but an answer or its own end ends it."""
    circuit, now, number = Circuit(opened_at=1), 1 + policy.open_s * SECOND, 2
    out = [1, 2]
    for later, which, what in history:
        now += later
        before = circuit
        if what == "begin" or not out:
            number += 1
            admission = admit(circuit, number, now, policy)
            circuit = admission.circuit
            if admission.admitted:
                out.append(number)
            assert not (before.probe and admission.admitted)
            continue
        call = out.pop(which % len(out))
        if what == "given_up":
            circuit = given_up(circuit, call)
        else:
            circuit = after(circuit, call, None if what is None else ModelErrorCode(what), now, policy)
        if what != "given_up" and what not in FAULTS:
            assert circuit == Circuit()
        elif before.probe and before.probe != call:
            assert circuit == before
        elif before.probe:
            assert circuit == Circuit(opened_at=before.opened_at if what == "given_up" else now)
