"""Values of a flow that say one thing when they are judged and another when they are recorded:
whatever the port decides is about what a record shows.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import pytest

from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.effect import Say
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.budget import SETTLE
from ordain.rules.decision import Decision
from ordain.rules.proceed import PROCEED, ProceedFacts
from ordain.runtime.flow_port import PortAwait
from ordain.testing import ScriptedEffects, catalog_of, kind_of

AT_MOST_THREE = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 3}},
    "required": ["n"],
    "additionalProperties": False,
}
WIDE = CapabilityScope(allowed=("*",))


def leaf(name: str) -> VerbSpec:
    return VerbSpec(
        name=name,
        description=name,
        effect=VerbEffect.READ,
        input_schema=AT_MOST_THREE,
        output_schema={"type": "object"},
    )


CATALOG = catalog_of(verbs=(leaf("door.look"), leaf("door.open")))


class Whichever(str):
    """A text that equals every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return str.__hash__(self)


class Named(enum.StrEnum):
    """The same, as a name of a closed set."""

    OPEN = "door.open"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return str.__hash__(self.value)


class Small(enum.Enum):
    """A number that is small where it is asked for its value."""

    MANY = 99

    @property
    def value(self) -> int:
        """What it says it is."""
        return 1


class Shown(dict[str, Any]):
    """Arguments that show other items than they hold."""

    def items(self) -> Any:
        """What they show."""
        return {"n": 1}.items()

    def __iter__(self) -> Iterator[str]:
        return iter({"n": 1})

    def __getitem__(self, key: str) -> Any:
        return 1


def decided(call: Any, within: Any = WIDE) -> Decision[Any]:
    """What is decided of a call by a run that may only look."""

    async def asks(context: FlowContext, given: Any) -> None:
        found.append(context.fx.authorize(call, within))

    found: list[Decision[Any]] = []
    ScriptedEffects(kind_of(asks, verbs=("door.look",)), CATALOG).play(None)
    return found[0]


@pytest.mark.parametrize("verb", ["door.open", Named.OPEN])
def test_a_verb_out_of_scope_is_that_by_whatever_name(verb: str) -> None:
    """What is judged is the name that the record would have."""
    assert decided(Call(verb=verb, args={"n": 1})).reason is AuthorizeReason.OUT_OF_SCOPE


def test_a_name_that_no_record_can_hold_is_a_fault() -> None:
    """Nothing is judged by it."""
    with pytest.raises(FlowFault, match="that a record can hold"):
        decided(Call(verb=Whichever("door.open"), args={"n": 1}))


@pytest.mark.parametrize("args", [{"n": 99}, {"n": Small.MANY}, Shown(n=99)])
def test_arguments_are_held_to_their_schema_as_recorded(args: dict[str, Any]) -> None:
    """What is judged is what the record would hold, whatever the values say of themselves."""
    assert decided(Call(verb="door.look", args=args)).reason is AuthorizeReason.SCHEMA


@pytest.mark.parametrize("within", [CapabilityScope(), CapabilityScope(allowed=("door.open",))])
def test_a_flow_may_hold_itself_to_less(within: CapabilityScope) -> None:
    """Also to nothing."""
    assert (
        decided(Call(verb="door.look", args={"n": 1}), within).reason
        is AuthorizeReason.OUT_OF_SCOPE
    )


class Changing(PortAwait):
    """A port call that names another method whenever it is asked for it."""

    __slots__ = ("_asked",)

    def __init__(self, *args: Any) -> None:
        PortAwait.args.__set__(self, args)  # type: ignore[attr-defined] - the slot itself
        self._asked = 0

    @property
    def method(self) -> str:  # type: ignore[override]
        """Perform first, and then whatever the port has."""
        self._asked += 1
        return "perform" if self._asked == 1 else "__getattribute__"


def spoken(**what: Any) -> PortAwait:
    """A port call of the right type, with something else put into it."""
    call = PortAwait("perform", Say(text="one"))
    for name, value in what.items():
        setattr(call, name, value)
    return call


@pytest.mark.parametrize(
    "awaited",
    [
        lambda: Changing("state"),
        lambda: spoken(method=Whichever("state")),
        lambda: spoken(method="_perform"),
        lambda: spoken(args=iter((Say(text="one"),))),
    ],
)
def test_a_flow_awaits_calls_of_its_port_and_nothing_like_them(awaited: Any) -> None:
    """What is awaited names one of three methods, once, by a plain text."""

    async def awaits(context: FlowContext, given: Any) -> Any:
        return await awaited()

    with pytest.raises(FlowFault, match="awaited something other than its port"):
        ScriptedEffects(kind_of(awaits), CATALOG).play(None)


@pytest.mark.parametrize(
    ("refs", "held"),
    [([0, 1], True), ((0,), True), (["0"], False), (object(), False), ((True,), False)],
)
def test_what_a_decision_refers_to_is_what_its_record_has(refs: Any, held: bool) -> None:
    """A list is as good as a tuple; what is no record's number is a fault, and not a journal that
    cannot be read again.
    """

    async def decides(context: FlowContext, given: Any) -> str:
        context.fx.decide(PROCEED, ProceedFacts(steps=1, ms=1, tokens=1), None, refs)
        return "done"

    effects = ScriptedEffects(kind_of(decides, rules=(PROCEED,)), CATALOG)
    if held:
        assert effects.play(None).output == "done"
    else:
        with pytest.raises(FlowFault):
            effects.play(None)


def test_what_all_runs_share_cannot_be_changed() -> None:
    """Neither what a kind may ask nor how the kinds of a build carry out calls."""
    kind = kind_of(_nothing)
    for shared in (
        kind.asks,
        *(getattr(Kinds((kind,)), name) for name in ("by_id", "newest", "carrying", "rules")),
    ):
        with pytest.raises(TypeError):
            shared["settle"] = SETTLE


async def _nothing(context: FlowContext, given: Any) -> None:
    """A flow that does nothing."""
