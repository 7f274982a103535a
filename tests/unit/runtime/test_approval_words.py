"""What an approver is told: made by code of what the verb declares, and no value of it can look like more than a value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain import verb
from ordain.contracts.approvals import TIERS, Subject, Tier
from ordain.contracts.verbs import ArgumentRole, VerbEffect
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.runtime.approval_words import CALLS_TOLD, DOES, NOT_TRACED, TITLED, UNKNOWN, titled, told
from ordain.testing import catalog_of
from tests.unit.rules.given import json_values


@verb(name="post.out", effect="send", arguments={"text": ArgumentRole.CONTENT, "to": ArgumentRole.RECIPIENT})
def post_out(text: str, to: str) -> str:
    """Send a text to somebody."""
    return to


CATALOG = catalog_of(verbs=[post_out.spec])
CALL = Call(verb="post.out", args={"text": "hello", "to": "ben@example.org"})


def asked(*calls: Call, subject: Subject = Subject.CALL, **detail: Any) -> ApprovalAsked:
    return ApprovalAsked(subject=subject, calls=calls, tier=Tier.WRITE, detail=detail)


def test_a_call_is_told_by_its_effect_and_then_its_arguments() -> None:
    """Whom it is about comes before what is said to them, and last that nothing is traced."""
    first, to, text, last = told(asked(CALL), CATALOG).splitlines()
    assert first == f"post.out {DOES[VerbEffect.SEND]}."
    assert "to (recipient)" in to
    assert "ben@example.org" in to
    assert "hello" in text
    assert last == NOT_TRACED


@pytest.mark.parametrize("effect", list(VerbEffect))
def test_every_effect_has_its_words(effect: VerbEffect) -> None:
    """And what needs a yes says more than that it reads."""
    assert DOES[effect]
    assert (effect in TIERS) == (effect not in (VerbEffect.READ, VerbEffect.PRIVATE))


@given(st.text(max_size=400) | json_values, st.text(max_size=100))
def test_no_value_makes_a_line_of_its_own(value: Any, name: str) -> None:
    """Line ends, control signs and quotes in names and values stay inside the value's line."""
    words = told(asked(Call(verb="post.out", args={"text": value, name: value}), Call(verb=f"no\n{name}", args={})), CATALOG)
    lines = words.splitlines()
    assert words.split("\n") == lines
    assert len(lines) == 4 + (name != "text")
    assert [line for line in lines if line == NOT_TRACED] == [NOT_TRACED]
    assert lines[-2].endswith(UNKNOWN)
    assert not any(ord(sign) < 32 for line in lines for sign in line)


def test_a_workflow_is_told_in_its_order_with_what_undoes_it() -> None:
    """The template first, and a call that only undoes says so."""
    lines = told(asked(CALL, CALL, subject=Subject.WORKFLOW, template="announce\nx", version=2, undo=[1]), CATALOG).splitlines()
    assert lines[0].startswith("Workflow announce")
    assert lines[0].endswith("@2, in this order:")
    assert [number for number, line in enumerate(lines) if line.startswith("Where a later step fails")] == [4]


def test_of_many_calls_the_rest_is_counted() -> None:
    """Not one is left unsaid."""
    assert "and 3 calls more" in told(asked(*[CALL] * (CALLS_TOLD + 3)), CATALOG)


def test_in_a_list_it_is_one_line() -> None:
    """The verbs, of a workflow with its name; what would only undo is left out, and so are more than a few."""
    assert titled(asked(CALL)) == "post.out"
    steps = asked(CALL, CALL, CALL, subject=Subject.WORKFLOW, template="two\nlines", version=3, undo=[1])
    assert titled(steps) == "two lines@3: post.out, post.out"
    many = asked(*(Call(verb=f"verb{number}\n", args={}) for number in range(TITLED + 3)))
    assert titled(many) == "verb0, verb1, verb2, verb3, verb4, …"
