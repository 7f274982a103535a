"""Laws of rule ``completeness``: a message's words fill one argument, and a verb is complete
exactly where that is all it requires.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.completeness import (
    COMPLETENESS,
    Complete,
    CompletenessFacts,
    CompletenessInputs,
    CompletenessReason,
    Incomplete,
)
from tests.unit.rules.given import POLICY, catalog, decided

FIELDS = ["text", "goal", "place", "when"]
REASONS = {
    True: {CompletenessReason.TEXT, CompletenessReason.ONLY},
    False: {CompletenessReason.INCOMPLETE},
}

known = st.lists(st.sampled_from(FIELDS), unique=True)


def complete(
    properties: list[str] | None, required: list[str] | None, name: str = "verb"
) -> Complete | Incomplete:
    """What the rule says of a verb of this input, by itself the only one that there is."""
    schema: dict[str, Any] = {"type": "object"}
    if properties is not None:
        schema["properties"] = {field: {"type": "string"} for field in properties}
    if required is not None:
        schema["required"] = required
    spec = VerbSpec(
        name="verb", description="d", effect=VerbEffect.READ, arguments={}, input_schema=schema
    )
    facts = CompletenessFacts(verb=name, required=len(required or ()))
    decision = decided(
        COMPLETENESS, facts, CompletenessInputs(catalog=catalog({"verb": spec})), POLICY
    )
    assert decision.reason in REASONS[isinstance(decision.outcome, Complete)]
    assert (decision.reason is CompletenessReason.ONLY) == (
        decision.outcome == Complete((required or [""])[0]) and "text" not in (properties or ())
    )
    return decision.outcome


@given(known, known)
def test_it_is_complete_exactly_where_one_argument_is_all(
    properties: list[str], more: list[str]
) -> None:
    """With the one argument that the words fill nothing that is required is left; what is missing
    is counted without it.
    """
    properties = sorted({*properties, *more})
    outcome = complete(properties, more)
    rest = set(more) - {outcome.argument}
    if isinstance(outcome, Complete):
        assert outcome.argument in properties
        assert not rest
    else:
        assert outcome.argument == "text"
        assert outcome.missing == len(rest) + ("text" not in properties) > 0


@given(known, known)
def test_a_text_comes_first(properties: list[str], required: list[str]) -> None:
    """Where the verb takes a text the words are its text, whatever else it takes or requires."""
    fields = [*dict.fromkeys(["text", *properties, *required])]
    assert complete(fields, required).argument == "text"


@given(known, known, st.sampled_from(FIELDS))
def test_requiring_less_never_makes_it_incomplete(
    properties: list[str], required: list[str], dropped: str
) -> None:
    """Of a verb that takes a text, one that requires less is complete where the other was, and
    never lacks more.
    """
    fields = [*dict.fromkeys(["text", *properties, *required])]
    before, after = (
        complete(fields, required),
        complete(fields, [field for field in required if field != dropped]),
    )
    if isinstance(before, Complete):
        assert isinstance(after, Complete)
    elif isinstance(after, Incomplete):
        assert after.missing <= before.missing


@given(st.one_of(st.none(), known), st.one_of(st.none(), known))
def test_any_schema_is_read(properties: list[str] | None, required: list[str] | None) -> None:
    """A schema that names no properties, or requires nothing, is read as one that has none; a verb
    nobody knows requires nothing that helps.
    """
    assert complete(properties, required) == complete(properties or [], required or [])
    assert complete(properties, required, "unknown") == Incomplete("text", 1)
