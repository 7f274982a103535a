"""Rule ``completeness``: does a message give the verb that it enters by what that requires? A
message is words; they fill one argument.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason

TEXT = "text"


class CompletenessReason(Reason):
    """Which argument a message's words fill, and whether that is all the verb requires."""

    TEXT = "completeness.text", "The verb takes a text and requires nothing else."
    ONLY = "completeness.only", "The verb requires one argument, and that is what the message says."
    INCOMPLETE = (
        "completeness.incomplete",
        (
            "The verb requires more than a message says, or names no argument for it; rule "
            "authorize "
            "judges the call."
        ),
    )


class Complete(Struct, frozen=True, tag="complete"):
    """The words fill this argument, and nothing else is required."""

    argument: str


class Incomplete(Struct, frozen=True, tag="incomplete"):
    """The words would fill this argument; how many others are required, itself among them where the
    verb does not name it.
    """

    argument: str
    missing: int


class CompletenessFacts(Struct, frozen=True, kw_only=True):
    """The verb, and how many arguments it requires."""

    verb: str
    required: int


class CompletenessInputs(Struct, frozen=True, kw_only=True):
    """The catalog that declares the verb."""

    catalog: Catalog


def decide_completeness(
    facts: CompletenessFacts, inputs: CompletenessInputs, policy: Policy
) -> Decision[Complete | Incomplete]:
    """The verb's ``text``, else its one required argument."""
    outcome = filled(inputs.catalog, facts.verb)
    if isinstance(outcome, Incomplete):
        return Decision(outcome=outcome, reason=CompletenessReason.INCOMPLETE)
    named = TEXT in _arguments(inputs.catalog, facts.verb)[0]
    return Decision(
        outcome=outcome, reason=CompletenessReason.TEXT if named else CompletenessReason.ONLY
    )


def filled(catalog: Catalog, verb: str) -> Complete | Incomplete:
    """What a message's words fill of a verb."""
    properties, required = _arguments(catalog, verb)
    if TEXT not in properties and len(required) == 1:
        return Complete(next(iter(required)))
    missing = len(required - {TEXT}) + (TEXT not in properties)
    return Incomplete(TEXT, missing) if missing else Complete(TEXT)


def _arguments(catalog: Catalog, verb: str) -> tuple[set[str], set[str]]:
    declared = catalog.verbs.get(verb)
    schema: Any = {} if declared is None else declared.spec.input_schema
    properties, required = schema.get("properties"), schema.get("required")
    names = {str(name) for name in properties} if isinstance(properties, dict) else set[str]()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return names, {str(name) for name in required} if isinstance(required, list) else set[str]()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


COMPLETENESS: Rule[CompletenessFacts, CompletenessInputs, Any] = Rule(
    name="completeness",
    outcome=Complete | Incomplete,
    apply=decide_completeness,
    reasons=(CompletenessReason,),
)
