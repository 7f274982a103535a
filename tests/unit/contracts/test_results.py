"""What an embedder sees who prints a result."""

from ordain.contracts.results import SHOWN_CHARS, CallResult, DeliberationResult, PlanResult

PLAN = {"status": "ok", "verdict": "ok", "run_id": "r1", "error": None}


def test_a_result_that_is_printed_says_what_it_came_to() -> None:
    """An answer stands there with its verdict and its run; of what failed the error's code and
    words stand there too, whichever kind of result it is.
    """
    answered = PlanResult({**PLAN, "final_answer": {"content": "Yes."}}, {"total": 10})
    assert repr(answered) == (
        "PlanResult(verdict='ok', content='Yes.', output={'total': 10}, run_id='r1')"
    )
    failed = {"ok": False, "status": "error", "verdict": "nothing_done", "run_id": "r2"}
    error = {"error": {"code": "unknown_verb", "message": "toolset: no.such"}}
    for kind in (PlanResult, CallResult, DeliberationResult):
        told = repr(kind({**failed, **error}))
        assert told.startswith(f"{kind.__name__}(verdict='nothing_done'")
        assert "error='unknown_verb: toolset: no.such'" in told
        assert "run_id='r2'" in told


def test_what_is_printed_of_a_result_is_bounded_and_one_line() -> None:
    """A long answer is cut, and no line of it begins a line of its own."""
    told = repr(PlanResult({**PLAN, "final_answer": {"content": "a\n\x1b[2J" * 10_000}}))
    assert len(told) < SHOWN_CHARS + 100
    assert told.isprintable()
