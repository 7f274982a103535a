"""Laws of the circuit breaker: a state machine that anything may happen to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ordain.contracts.model_policy import BreakerPolicy, ModelErrorCode
from ordain.rules.breaker import FAULTS, SECOND, Circuit, admit, after, given_up

policies = st.builds(
    BreakerPolicy,
    failures=st.integers(1, 6),
    window_s=st.integers(1, 120),
    open_s=st.integers(1, 120),
)
codes = st.one_of(st.none(), st.sampled_from(ModelErrorCode))
ENDS = st.one_of(st.just("given_up"), codes)
moments = st.lists(st.tuples(st.integers(0, 40 * SECOND), ENDS), min_size=1, max_size=60)


@given(policies, moments)
def test_nothing_goes_out_while_the_circuit_is_open(
    policy: BreakerPolicy, history: list[tuple[int, str | ModelErrorCode | None]]
) -> None:
    """Called one after another: an open circuit admits nothing before its time or an answer; then
    probes, whose ends close or open it again.
    """
    circuit, now, faults = Circuit(), 1, 0
    for call, (later, end) in enumerate(history, 1):
        now += later
        opened, answered = circuit.opened_at, circuit.answered
        admission = admit(circuit, call, now, policy)
        assert admission.admitted is (
            not opened or answered > 0 or now >= opened + policy.open_s * SECOND
        )
        if not admission.admitted:
            assert admission.wait_ms > 0
            assert admission.circuit == circuit
            continue
        opened = admission.circuit.opened_at
        assert admission.circuit.probes == ((call,) if opened else ())
        if end == "given_up":
            circuit = given_up(admission.circuit, call)
            assert not circuit.probes
            continue
        code = None if end is None else ModelErrorCode(end)
        circuit = after(admission.circuit, call, code, now, policy)
        faults = faults + 1 if code in FAULTS else 0
        if code not in FAULTS:
            answers = admission.circuit.answered + 1
            more = Circuit(opened_at=opened, answered=answers, probed_at=now)
            assert circuit == (more if opened and more.answered < policy.failures else Circuit())
        elif opened:
            assert circuit == Circuit(opened_at=now)
        elif circuit.opened_at:
            assert faults >= policy.failures
        assert len(circuit.faults) < policy.failures


def let_through(
    circuit: Circuit, callers: range, now: int, policy: BreakerPolicy
) -> tuple[Circuit, list[int]]:
    """Who of these may go, all at once."""
    out: list[int] = []
    for call in callers:
        admission = admit(circuit, call, now, policy)
        circuit = admission.circuit
        out += [call] * admission.admitted
    return circuit, out


@given(policies, st.integers(2, 200))
def test_one_probe_goes_then_more_as_they_are_answered(policy: BreakerPolicy, callers: int) -> None:
    """However many come when the time is over, one is let through; when all that are out are
    answered, twice as many; as many answers as faults close it.
    """
    circuit, now = Circuit(opened_at=1), 1 + policy.open_s * SECOND
    width, answers = 1, 0
    while circuit.opened_at:
        circuit, out = let_through(circuit, range(1, callers + 1), now, policy)
        assert len(out) == min(width, callers)
        for call in out:
            circuit, answers = after(circuit, call, None, now, policy), answers + 1
            assert bool(circuit.opened_at) is (answers < policy.failures)
        width = answers + 1
    assert let_through(circuit, range(callers), now, policy)[1] == list(range(callers))


@given(policies, st.integers(1, 5), st.data())
def test_a_probes_fault_leaves_the_endpoint_alone_again(
    policy: BreakerPolicy, answered: int, data: st.DataObject
) -> None:
    """However many were answered before; what the others come to afterwards opens nothing anew, and
    closes nothing at once.
    """
    now = 1 + policy.open_s * SECOND
    circuit, out = let_through(Circuit(opened_at=1, answered=answered), range(1, 9), now, policy)
    failing = data.draw(st.sampled_from(out))
    circuit = after(circuit, failing, ModelErrorCode.TIMED_OUT, now + 5, policy)
    assert circuit == Circuit(opened_at=now + 5)
    assert not admit(circuit, 9, now + 6, policy).admitted
    for call in set(out) - {failing}:
        assert after(circuit, call, ModelErrorCode.TIMED_OUT, now + 7, policy) == circuit


@given(policies, st.integers(1, 3))
def test_answers_stand_for_a_while(policy: BreakerPolicy, answered: int) -> None:
    """An endpoint that answered and was then not asked for a window is trusted again; one that
    never answered is probed.
    """
    late = 1 + (policy.open_s + policy.window_s) * SECOND
    assert admit(Circuit(opened_at=1, answered=answered), 1, late, policy).circuit == Circuit()
    assert admit(Circuit(opened_at=1), 1, late, policy).circuit.probes == (1,)


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


STEPS = st.sampled_from(
    ["begin", "given_up", ModelErrorCode.TIMED_OUT, ModelErrorCode.REJECTED, None]
)


@given(
    policies,
    st.lists(st.tuples(st.integers(0, 40 * SECOND), st.integers(0, 5), STEPS), max_size=60),
)
def test_calls_that_overlap_leave_the_probes_their_own(
    policy: BreakerPolicy, history: list[tuple[int, int, str | ModelErrorCode | None]]
) -> None:
    """With calls out from before the circuit opened: no more probes go than were answered and one,
    and only a probe's own fault opens it again.
    """
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
            assert len(circuit.probes) <= circuit.answered + 1
            continue
        call = out.pop(which % len(out))
        if what == "given_up":
            circuit = given_up(circuit, call)
        else:
            circuit = after(
                circuit, call, None if what is None else ModelErrorCode(what), now, policy
            )
        if not before.opened_at:
            continue
        others = tuple(probe for probe in before.probes if probe != call)
        if what != "given_up" and what not in FAULTS:
            more = replace(before, probes=others, answered=before.answered + 1)
            assert circuit == (more if more.answered < policy.failures else Circuit())
        elif call not in before.probes:
            assert circuit == before
        elif what == "given_up":
            assert circuit == replace(before, probes=others)
        else:
            assert circuit == Circuit(opened_at=now)
