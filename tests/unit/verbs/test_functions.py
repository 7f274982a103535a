"""Functions as verbs: schemas from hints, declarations, lint."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, Field

from ordain.contracts.access import TokenScope
from ordain.contracts.schema import Schema
from ordain.contracts.verbs import (
    Argument,
    ArgumentRole,
    Category,
    Example,
    Trust,
    VerbEffect,
    VerbSpec,
)
from ordain.errors import ConfigurationError
from ordain.verbs import FunctionVerb, VerbContext, bind, verb
from ordain.verbs.signatures import Unfitting


@dataclass
class Point:
    x: int
    y: int = 0


class Place(BaseModel):
    name: str
    at: Point


class Tag(msgspec.Struct):
    label: Annotated[str, msgspec.Meta(max_length=5)]


class Opaque:
    """No wire form."""


class Options(TypedDict, total=False):
    deep: bool


def properties(function: FunctionVerb[..., Any]) -> Any:
    return function.spec.input_schema["properties"]


def test_primitives_defaults_and_words() -> None:
    """Hints, defaults and the docstring become a closed input schema and a description."""

    @verb(effect="read")
    def repeat(
        text: Annotated[str, Field(max_length=9)],
        times: int = 2,
        *,
        kind: Literal["a", "b"] = "a",
        ratio: float | None = None,
    ) -> dict[str, str]:
        """Repeat a text.

        As often as wanted.

        Args:
            text: what is
                repeated
            times (int): how often

        Returns:
            Not for the planner.
        """
        return {"text": text * times}

    assert repeat.spec.name == "repeat"
    assert repeat.spec.description == "Repeat a text. As often as wanted."
    assert repeat.spec.input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 9, "description": "what is repeated"},
            "times": {"type": "integer", "default": 2, "description": "how often"},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    assert repeat("x", 3) == {"text": "xxx"}
    assert not repeat.asynchronous


@pytest.mark.parametrize(
    ("hint", "good", "typed", "bad"),
    [
        (Point, {"x": 1}, Point(1), {"x": 1, "z": 2}),
        (
            Place,
            {"name": "n", "at": {"x": 1, "y": 2}},
            Place(name="n", at=Point(1, 2)),
            {"name": "n", "at": {"x": 1, "q": 2}},
        ),
        (Tag, {"label": "abc"}, Tag("abc"), {"label": "abcdef"}),
        (list[Tag], [{"label": "a"}], [Tag("a")], [{"label": "abcdef"}]),
        (Options, {"deep": True}, {"deep": True}, {"wide": True}),
        (Annotated[int, msgspec.Meta(ge=3)], 3, 3, 2),
        (Annotated[int, Field(ge=3)], 3, 3, 2),
        (dict[str, list[int]], {"a": [1]}, {"a": [1]}, {"a": ["1"]}),
        (Literal["x", "y"], "x", "x", "z"),
        (tuple[int, str], [1, "a"], (1, "a"), [1]),
        (date, "2020-01-02", date(2020, 1, 2), 7),
    ],
)
def test_each_kind_of_hint_has_a_schema_and_a_conversion(
    hint: Any, good: Any, typed: Any, bad: Any
) -> None:
    """Pydantic, msgspec, dataclass, TypedDict, Literal and container hints check strictly and
    arrive as their types.
    """

    def take(value: Any) -> dict[str, Any]:
        """Take."""
        return {}

    take.__annotations__["value"] = hint
    made = verb(effect="read")(take)
    schema = Schema(made.spec.input_schema)
    assert schema.accepts({"value": good})
    assert not schema.accepts({"value": bad})
    assert made.signature.arguments({"value": good}) == {"value": typed}


def test_an_argument_that_does_not_fit_is_named_without_its_value() -> None:
    """Conversion errors name the argument and never show what was in it."""

    @verb(effect="read")
    def count(number: int) -> int:
        """Count."""
        return number

    with pytest.raises(Unfitting) as error:
        count.signature.arguments({"number": "secret words"})
    assert "number" in str(error.value)
    assert "secret" not in str(error.value)
    with pytest.raises(Unfitting):
        count.signature.arguments({"number": 1, "other": 2})


@pytest.mark.parametrize(
    ("hint", "wraps"),
    [
        (int, True),
        (str | None, True),
        (list[Point], True),
        (None, True),
        (Any, True),
        (Point | None, True),
        (Point, False),
        (Place, False),
        (Tag, False),
        (Options, False),
    ],
)
def test_a_result_that_is_no_object_is_wrapped(hint: Any, wraps: bool) -> None:
    """Every output is an object: anything else stands under `result`."""

    def give() -> Any:
        """Give."""

    give.__annotations__["return"] = hint
    made = verb(effect="read")(give)
    assert made.signature.wraps is wraps
    assert made.spec.output_schema["type"] == "object"
    assert ("result" in made.spec.output_schema["properties"]) is wraps  # type: ignore[operator]
    Schema(made.spec.output_schema)


def test_a_result_that_refers_to_itself_keeps_its_definition() -> None:
    """A recursive result type compiles."""

    class Node(BaseModel):
        below: list[Node] = []

    def give() -> Any:
        """Give."""

    give.__annotations__["return"] = Node
    Node.model_rebuild(_types_namespace={"Node": Node})
    made = verb(effect="read")(give)
    schema = Schema(made.spec.output_schema)
    assert schema.accepts(
        {"result": {"below": [{"below": []}]}}
        if made.signature.wraps
        else {"below": [{"below": []}]}
    )


def test_what_was_forgotten_at_a_declaration_is_said() -> None:
    """A verb without an effect, without its brackets, without a description."""
    for forgotten in (lambda: verb(_returns_one), lambda: verb(name="x")(_returns_one)):  # type: ignore[arg-type, typeddict-item]
        with pytest.raises(ConfigurationError, match="declares no effect: @verb"):
            forgotten()
    with pytest.raises(ConfigurationError, match="no description"):
        verb(effect="read")(_undocumented)


def _returns_one(value: int) -> int:
    """Doc."""
    return value


def test_the_context_is_no_argument() -> None:
    """A parameter `context: VerbContext` is given by the executor and is absent from the schema;
    another `context` is an argument.
    """

    @verb(effect="read")
    async def first(text: str, context: VerbContext) -> str:
        """First."""
        return text + context.key

    @verb(effect="read")
    async def second(context: dict[str, Any]) -> str:
        """Second."""
        return ""

    assert set(properties(first)) == {"text"}

    @verb(effect="read")
    async def third(text: str, context: VerbContext | None = None) -> str:
        """Say it."""
        return text + ("" if context is None else context.key)

    @verb(effect="read")
    async def fourth(text: str, context: Annotated[_Renamed, "whose"]) -> str:
        """Say it."""
        return text + context.key

    assert first.signature.context
    assert third.signature.context
    assert fourth.signature.context
    assert set(properties(third)) == set(properties(fourth)) == {"text"}
    assert first.asynchronous
    assert set(properties(second)) == {"context"}
    assert not second.signature.context


def test_everything_else_is_declared_beside_the_function() -> None:
    """Effect, roles, trust, time-out, retry, reconcile and example reach the spec; a declared list
    shows in the schema.
    """

    @verb(
        name="post.send",
        effect=VerbEffect.SEND,
        arguments={
            "to": Argument(role=ArgumentRole.RECIPIENT, allowed=["a@x", "b@x"]),
            "body": ArgumentRole.CONTENT,
        },
        output={"id": Trust.SYSTEM},
        timeout_ms=1234,
        idempotent=True,
        reconcile="post.find",
        example=Example(input={"to": "a@x", "body": "hi"}, output={"id": "1"}),
    )
    def send(to: str, body: str) -> TypedDict("Sent", {"id": str}):  # type: ignore[valid-type]
        """Send."""
        return {"id": "1"}

    spec = send.spec
    assert (spec.name, spec.effect, spec.timeout_ms, spec.idempotent, spec.reconcile) == (
        "post.send",
        VerbEffect.SEND,
        1234,
        True,
        "post.find",
    )
    assert spec.arguments["body"].role is ArgumentRole.CONTENT
    assert spec.output["id"].trust is Trust.SYSTEM
    assert properties(send)["to"]["enum"] == ["a@x", "b@x"]


def test_a_list_closes_nothing_of_what_is_sent_out() -> None:
    """Of a verb that sends its arguments out a declared list says what goes unasked, however the
    verb is written: the schema takes another value, and the door asks somebody about it.
    """

    @verb(effect="egress", arguments={"q": Argument(role=ArgumentRole.CONTENT, allowed=["a"])})
    def look_up(q: str) -> str:
        """Look it up."""
        return q

    assert "enum" not in properties(look_up)["q"]


def _no_hint(value) -> int:
    """Doc."""
    return 0


def _no_result(value: int):
    """Doc."""


def _star(*values: int) -> int:
    """Doc."""
    return 0


def _keywords(**values: int) -> int:
    """Doc."""
    return 0


def _positional(value: int, /) -> int:
    """Doc."""
    return 0


def _unknown(value: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Doc."""
    return 0


def _strange(value: int) -> Opaque:
    """Doc."""
    return Opaque()


def _generator(value: int) -> AsyncIterator[int]:
    """Doc."""
    yield value  # type: ignore[misc]


def _wrong_default(value: int = "x") -> int:  # type: ignore[assignment]
    """Doc."""
    return 0


@dataclass
class _Holding:
    """A type with the call's context in it."""

    given: VerbContext | None = None


class _Kept(BaseModel):
    """A model with one in a list."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    given: list[VerbContext]


class _Own(VerbContext, frozen=True):
    """A context of one's own."""


class _Named(NamedTuple):
    """One in a tuple with names."""

    given: VerbContext


N = TypeVar("N")
B = TypeVar("B", bound=VerbContext)
_Renamed = NewType("_Renamed", VerbContext)


class _Box(msgspec.Struct, Generic[N]):
    """A generic type with one beside what it is of."""

    of: N
    given: VerbContext


class _Many(msgspec.Struct):
    """Fields whose hints are made while they are asked for, with one among them."""

    a: dict[str, int] | None = None
    b: dict[int, int] | None = None
    c: list[int] | None = None
    d: list[str] | None = None
    e: tuple[int, ...] | None = None
    who: list[VerbContext] | None = None


def _context_in_a_list(context: list[VerbContext]) -> int:
    return len(context)


def _context_or_text(context: VerbContext | str) -> int:
    return len(str(context))


def _context_in_a_dataclass(call: _Holding) -> int:
    return 1 if call.given else 0


def _context_in_a_model(call: _Kept) -> int:
    return len(call.given)


def _context_in_a_named_tuple(context: _Named) -> int:
    return context.given.attempt


def _context_in_a_generic(context: _Box[int]) -> int:
    return context.given.attempt


def _context_by_bound(context: list[B]) -> int:
    return len(context)


def _context_among_many(context: _Many) -> int:
    return len(context.who or ())


def _own_context(context: _Own) -> int:
    return context.attempt


def _optional_by_another_name(call: VerbContext | None = None) -> int:
    return 1 if call else 0


def _context_by_another_name(call: VerbContext) -> int:
    """Doc."""
    return 0


def _undocumented(value: int) -> int:
    return 0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_no_hint, "parameter value has no type hint"),
        (_no_result, "the result has no type hint"),
        (_star, "arguments are passed by name"),
        (_keywords, "arguments are passed by name"),
        (_positional, "arguments are passed by name"),
        (_unknown, "cannot be resolved"),
        (_strange, "has no JSON Schema"),
        (_generator, "a generator is not a verb"),
        (_wrong_default, "the default does not fit"),
        (_context_by_another_name, "is named context"),
        (_optional_by_another_name, "is named context"),
        *(
            (refused, "no part of an argument")
            for refused in (_context_in_a_list, _context_or_text, _own_context)
        ),
        *(
            (refused, "no part of an argument")
            for refused in (_context_in_a_dataclass, _context_in_a_model, _context_among_many)
        ),
        *(
            (refused, "no part of an argument")
            for refused in (_context_in_a_named_tuple, _context_in_a_generic, _context_by_bound)
        ),
        (_undocumented, "description"),
    ],
)
def test_a_function_that_cannot_be_a_verb_is_refused_by_name(function: Any, says: str) -> None:
    """Every refusal names the function, its file and line, and what is wrong."""
    with pytest.raises(ConfigurationError) as error:
        verb(effect="read", name="x")(function)
    assert says in error.value.message
    assert f"{function.__name__} (" in error.value.message
    assert f"{__file__}:{function.__code__.co_firstlineno})" in error.value.message


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"effect": "send"}, "missing: body, to"),
        (
            {"effect": "read", "arguments": {"cc": ArgumentRole.RECIPIENT}},
            "not in input_schema: cc",
        ),
        (
            {
                "effect": "send",
                "arguments": {"to": ArgumentRole.LABEL, "body": ArgumentRole.CONTENT},
            },
            "role recipient",
        ),
        ({"effect": "read", "name": "Bad Name"}, "name"),
        ({"effect": "read", "timeout_ms": 0}, "timeout_ms"),
        ({"effect": "read", "output": {"absent": Trust.OWN}}, "the result does not have: absent"),
        ({"effect": "read", "example": Example(input={})}, "example's input"),
        (
            {"effect": "read", "example": Example(input={"to": "a", "body": "b"}, output={})},
            "example's output",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(options: Any, says: str) -> None:
    """What the security policy's lint refuses is refused at decoration."""

    def send(to: str, body: str) -> int:
        """Send."""
        return 1

    with pytest.raises(ConfigurationError, match=r"send.*test_functions\.py") as error:
        verb(**options)(send)
    assert says in error.value.message


def test_only_functions_are_verbs() -> None:
    """A class or another callable has no hints to read and is refused."""
    for thing in (int, len, Point):
        with pytest.raises(ConfigurationError, match="is not a function"):
            verb(effect="read")(thing)


def test_binding_code_to_a_spec_needs_the_same_names() -> None:
    """Code for a spec from a file takes exactly the spec's arguments."""
    spec = VerbSpec(name="say", description="Say.", effect=VerbEffect.READ)

    async def say(text: str, context: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def other(word: str) -> dict[str, Any]:
        return {}

    assert bind(spec, say).spec is spec
    with pytest.raises(ConfigurationError, match="are not the arguments of verb say"):
        bind(spec, other)


def test_every_word_may_be_a_plain_string() -> None:
    """Whoever writes a verb needs no enumeration of the house: its words as strings make the same
    declaration.
    """

    def tell(to: str, body: str) -> dict[str, str]:
        """Tell somebody."""
        return {"said": f"{to} {body}"}

    plain = verb(
        effect="send",
        category="Generative",
        scopes=["memory"],
        arguments={"to": "recipient", "body": "content"},
        output={"said": "own"},
        example={"input": {"to": "a@x", "body": "b"}},
    )(tell)
    typed = verb(
        effect=VerbEffect.SEND,
        category=Category.GENERATIVE,
        scopes=[TokenScope.MEMORY],
        arguments={"to": ArgumentRole.RECIPIENT, "body": ArgumentRole.CONTENT},
        output={"said": Trust.OWN},
        example=Example(input={"to": "a@x", "body": "b"}),
    )(tell)
    assert plain.spec == typed.spec


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"effect": "reed"}, "effect is one of read, egress"),
        ({"effect": "read", "category": "Fun"}, "category is one of SelfModification"),
        ({"effect": "read", "scopes": ["everything"]}, "scopes is one of chat"),
        ({"effect": "send", "arguments": {"text": "whom"}}, "arguments.text is one of recipient"),
        ({"effect": "read", "output": {"result": "mine"}}, "output.result is one of system, own"),
        ({"effect": "read", "example": {"given": {}}}, "example.input"),
    ],
)
def test_a_word_that_there_is_not_is_named_with_those_that_there_are(
    options: Any, said: str
) -> None:
    """A misspelt word is a ConfigurationError that lists the known ones, and never a traceback of
    an enumeration.
    """

    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    with pytest.raises(ConfigurationError) as refused:
        verb(**options)(shout)
    assert said in refused.value.message
    assert "test_functions" in refused.value.message
