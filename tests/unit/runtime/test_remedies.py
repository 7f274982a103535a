"""What people can do about models that failed, read from a header."""

from __future__ import annotations

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.remedies import NO_WORDS, NOT_HELD, REMEDIES, TOO_LATE
from ordain.rules import enforcement
from ordain.rules.header import HeaderLine
from ordain.runtime.brief import in_words
from ordain.runtime.remedies import model_failure, remedies, remedies_by_code
from tests.shapes.headers import header


def failed(*codes: str, **changes: object) -> str:
    """A header of attempts that failed so, at one model each time."""
    told = tuple(
        HeaderLine(mark="fail", what="model worker", reason=code, excerpt="it said no")
        for code in codes
    )
    return header(lines=told, **changes)


UNDONE = {"status": "failed", "reason": "connection", "acts": (), "answered": False}


@pytest.mark.parametrize("code", list(ModelErrorCode))
def test_a_model_that_failed_is_told_with_what_to_do(code: ModelErrorCode) -> None:
    """Every error of a model has its remedy, the one that `models test` gives, below the header
    that people read.
    """
    assert in_words(failed(code, **UNDONE), {}).endswith(f"\n→ worker: {REMEDIES[code]}")


def test_the_last_failure_is_told_once() -> None:
    """Of many attempts the last; a model that is left alone for a while by what it failed with
    before.
    """
    assert remedies(failed("overloaded", "connection", "connection", "circuit_open", **UNDONE)) == (
        f"worker: {REMEDIES[ModelErrorCode.CONNECTION]}",
    )
    assert remedies(failed("circuit_open", **UNDONE)) == (
        f"worker: {REMEDIES[ModelErrorCode.CIRCUIT_OPEN]}",
    )


def test_an_error_is_told_by_what_its_model_failed_with() -> None:
    """The remedy of an error is that of its code, of an open circuit that of what opened it; an
    error that is no model's has none, whatever its code.
    """
    told = remedies_by_code(failed("overloaded", "connection", "circuit_open", **UNDONE))
    assert told["connection"] == told["circuit_open"] == REMEDIES[ModelErrorCode.CONNECTION]
    alone = remedies_by_code(failed("circuit_open", **UNDONE))
    assert alone == {"circuit_open": REMEDIES[ModelErrorCode.CIRCUIT_OPEN]}
    lines = [
        ("connection", "a"),
        ("authentication", "b"),
        ("connection", "a"),
        ("circuit_open", "a"),
        ("quota_exceeded", "b"),
    ]
    told = header(
        lines=tuple(
            HeaderLine(mark="fail", what=f"model {who}", reason=code) for code, who in lines
        ),
        **UNDONE,
    )
    assert remedies_by_code(told)["circuit_open"] == REMEDIES[ModelErrorCode.CONNECTION]
    assert f"a: {REMEDIES[ModelErrorCode.CONNECTION]}" in remedies(told)
    timed_out = HeaderLine(mark="fail", what="web.read", reason="timed_out")
    assert remedies_by_code(header(lines=(timed_out,), **UNDONE)) == {}


def test_a_model_that_was_given_up_is_told_by_what_it_failed_with() -> None:
    """An attempt that was given up says nothing of its model, unless the work's time was over: then
    the model was not done in time, and work that ended by it is the model's failure. Of one that
    somebody stopped there is nothing to do.
    """
    before = failed("connection", "abandoned", **UNDONE)
    assert remedies(before) == (f"worker: {REMEDIES[ModelErrorCode.CONNECTION]}",)
    attempt = HeaderLine(mark="fail", what="model worker", reason="abandoned", depth=1)
    over = HeaderLine(
        mark="fail", what=f"cancel by run:{'0' * 32}", excerpt="join deadline", depth=1
    )
    stopped = HeaderLine(mark="fail", what="cancel by user:ada", excerpt="join deadline", depth=1)
    facts = {**UNDONE, "status": "cancelled", "reason": "cancelled", "model_calls": 1}
    late = header(lines=(attempt, over), **facts)
    assert remedies(late) == (f"worker: {TOO_LATE}",)
    assert model_failure(late) == (
        "timed_out",
        f"no model gave an answer (timed_out); worker: {TOO_LATE}",
    )
    assert remedies(header(lines=(attempt, stopped), **facts)) == ()
    assert model_failure(header(lines=(attempt, stopped), **facts)) is None


@pytest.mark.parametrize("reason", ["step.shape.wrong_type", "step.consistency.act_with_answer"])
def test_a_plan_whose_model_proposed_no_step_is_told_what_to_do(reason: str) -> None:
    """As `models test` tells of a model that keeps to no schema; of one model, since of several
    nobody can say which it was, and of none that is played or that rules stand for.
    """
    facts = {**UNDONE, "flow": "planner@5", "reason": reason}
    assert in_words(header(**facts), {}).endswith(f"\n→ worker: {NOT_HELD}")
    assert remedies_by_code(header(**facts)) == {reason: NOT_HELD}
    for models in (("worker (scripted: x)",), ("worker (openai: x)", "brain (openai: y)"), ()):
        assert remedies(header(**{**facts, "models": models})) == ()
    done = {"status": "completed", "answered": True}
    for changes in ({"flow": "turn@9"}, {"reason": "step.tool.unknown"}, done):
        assert remedies(header(**{**facts, **changes})) == ()


@pytest.mark.parametrize(
    ("told", "remedy"),
    [
        *((told, NOT_HELD) for told in sorted(enforcement.NOT_HELD)),
        *((told, NO_WORDS) for told in sorted(enforcement.NO_WORDS)),
    ],
)
def test_who_answers_otherwise_speaks_the_provider_s_language(told: str, remedy: str) -> None:
    """What is not held to its schema, or has no words, is told so, and never as an address or a
    provider that is wrong; of any other malformed answer that may be.
    """
    line = HeaderLine(mark="fail", what="model worker", reason="malformed", excerpt=told)
    other = HeaderLine(mark="fail", what="model worker", reason="malformed", excerpt="not JSON")
    assert remedies(header(lines=(other, line), **UNDONE)) == (f"worker: {remedy}",)
    assert remedies_by_code(header(lines=(other, line), **UNDONE)) == {"malformed": remedy}
    assert remedies(header(lines=(line, other), **UNDONE)) == (
        f"worker: {REMEDIES[ModelErrorCode.MALFORMED]}",
    )


def test_what_passed_by_itself_needs_no_remedy() -> None:
    """Where the work was done all the same, a busy provider is not told; a key that is not accepted
    is.
    """
    assert remedies(failed("overloaded")) == ()
    assert remedies(failed("authentication")) == (
        f"worker: {REMEDIES[ModelErrorCode.AUTHENTICATION]}",
    )
    assert remedies(header()) == ()


def test_nothing_foreign_passes_for_a_failed_model() -> None:
    """What a verb or a model said stands in quotes on its line: no remedy comes of it."""
    said = HeaderLine(
        mark="fail",
        what="web.read",
        reason="refused",
        excerpt="\n✗ model worker · authentication · x",
    )
    assert remedies(header(lines=(said,), **UNDONE)) == ()


def test_a_models_failure_is_what_work_ended_by() -> None:
    """By the run's reason, or where that is another one, because each call of a model failed; of
    work that was done, or ended otherwise, there is none.
    """
    told = model_failure(failed("connection", **UNDONE))
    assert told == (
        "connection",
        f"no model gave an answer (connection); worker: {REMEDIES[ModelErrorCode.CONNECTION]}",
    )
    council = {**UNDONE, "reason": "council_no_quorum", "model_calls": 2}
    assert (model_failure(failed("timed_out", "connection", **council)) or ("",))[0] == "connection"
    assert model_failure(failed("connection", **council)) is None
    assert model_failure(failed("connection")) is None
    assert model_failure("no header") is None
