"""A rehearsed call: decided by the flows themselves, shown as far as it would go, with the prompt
that would be sent.
"""

from __future__ import annotations

import pytest

from ordain.runtime.rehearsal import rehearse_verb
from tests.unit.flows.house import KINDS, shipped


def test_a_leaf_would_go_live() -> None:
    """After the decision that allows it, with its reason's meaning."""
    done = rehearse_verb(KINDS, shipped(), "math.evaluate", {"expression": "6 * 7"})
    assert (done.goes_live, done.error, done.prompt) == ("verb_call", None, None)
    assert [(one.rule, one.reason) for one in done.decisions] == [("authorize", "authorize.read")]
    assert done.decisions[0].meaning == "A read in scope."


def test_a_prompt_plan_shows_its_prompt() -> None:
    """Of the child that would be opened, as it would be rendered, and nothing is asked."""
    done = rehearse_verb(KINDS, shipped(), "extract_facts", {"text": "The lamp is red."})
    assert (done.goes_live, done.error) == ("model_call", None)
    assert done.prompt is not None
    assert "The lamp is red." in done.prompt.user
    assert done.call is not None
    assert len(done.prompt.user.encode()) <= done.call.bound_tokens
    assert [one.rule for one in done.decisions] == ["authorize", "lane", "reserve"]


@pytest.mark.parametrize(
    ("verb", "args", "code"),
    [
        ("no.such", {}, "unknown_verb"),
        ("math.evaluate", {"no": 1}, "schema"),
        ("ask_user", {"question": "?"}, "session_only"),
    ],
)
def test_a_refused_call_says_why(verb: str, args: dict[str, object], code: str) -> None:
    """As its caller would be told."""
    done = rehearse_verb(KINDS, shipped(), verb, args)
    assert (done.goes_live, (done.error or {})["code"]) == ("", code)
