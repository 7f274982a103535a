"""The registry: what belongs together is checked together."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from ordain.contracts.verbs import (
    Argument,
    ArgumentRole,
    Example,
    PlanStep,
    Reconcile,
    VerbEffect,
    VerbSpec,
)
from ordain.errors import ConfigurationError
from ordain.verbs import FunctionVerb, Registry, VerbFolder, verb

MODEL = "LLMGatewayService"


class Found(BaseModel):
    happened: bool | None
    output: dict[str, Any] | None = None


@verb(effect="read", name="note.find")
async def find(key: str, args: dict[str, Any]) -> Found:
    """Find."""
    return Found(happened=None)


@verb(
    effect="private",
    name="note.write",
    arguments={"text": ArgumentRole.CONTENT},
    reconcile="note.find",
)
async def write(text: str) -> str:
    """Write."""
    return text


def plan(name: str = "tell", **fields: Any) -> VerbSpec:
    steps = [PlanStep(name="ask", order=0, services=[MODEL])]
    return VerbSpec(
        **{
            "name": name,
            "description": "d",
            "effect": VerbEffect.READ,
            "plan": steps,
            "prompt_template": "tell.j2",
            **fields,
        }
    )


def folder(*specs: VerbSpec, template: str = "x") -> VerbFolder:
    return VerbFolder(
        specs={spec.name: spec for spec in specs},
        templates={"tell.j2": template},
        origins={spec.name: f"{spec.name}.yaml" for spec in specs},
    )


def refusal(
    *folders: VerbFolder, functions: tuple[FunctionVerb[..., Any], ...] = (), **rest: Any
) -> str:
    with pytest.raises(ConfigurationError) as error:
        Registry(folders, functions, **rest)
    return error.value.message


def test_verbs_are_found_by_exact_id() -> None:
    """Ids are exact: nothing is trimmed, folded or guessed."""
    registry = Registry([folder(plan())], [find, write])
    assert set(registry.specs) == {"tell", "note.find", "note.write"}
    assert registry.templates == {"tell.j2": "x"}
    assert registry.function("note.find") is find
    for other in ("tell", "Note.find", "note.find ", "note", "notefind", ""):
        assert not registry.is_coded(other)


def test_an_empty_registry_is_one() -> None:
    """No verbs is a valid set."""
    assert dict(Registry().specs) == {}


def test_the_registry_cannot_be_changed() -> None:
    """Its mappings are views that refuse writing."""
    registry = Registry(functions=[find])
    with pytest.raises(TypeError):
        registry.specs["x"] = find.spec  # type: ignore[index]


def test_an_id_is_declared_once() -> None:
    """The same id twice is refused, whichever two sources it came from, both named."""
    assert "tell.yaml and tell.yaml" in refusal(folder(plan()), folder(plan()))
    assert "declared twice" in refusal(functions=(find, find))
    assert "note.find.yaml and function" in refusal(folder(plan("note.find")), functions=(find,))
    with pytest.raises(ConfigurationError, match="declared twice"):
        Registry(functions=[find]).extended(functions=[find])


def test_a_template_name_means_one_template() -> None:
    """Two folders may share a template only if it is the same."""
    Registry([folder(plan()), folder(plan("say"))])
    assert "template tell.j2 is declared twice" in refusal(
        folder(plan()), folder(plan("say"), template="y")
    )


def test_extending_gives_a_new_whole() -> None:
    """An extended registry holds both sets, the first is as it was."""
    first = Registry([folder(plan())], [find])
    second = first.extended([folder(plan("say"))], [write])
    assert set(first.specs) == {"tell", "note.find"}
    assert set(second.specs) == {"tell", "note.find", "say", "note.write"}
    assert second.function("note.write") is write


def test_a_leaf_in_a_file_needs_code() -> None:
    """A file without a plan is refused unless code for it is given."""

    async def say(text: str, context: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return {"text": text}

    leaf = VerbSpec(name="say", description="d", effect=VerbEffect.READ)
    assert "a leaf verb needs code" in refusal(folder(leaf))
    registry = Registry([folder(leaf)], code={"say": say})
    assert registry.function("say") is not None
    assert "no leaf verb in a folder has this id" in refusal(folder(plan()), code={"tell": say})
    assert "no leaf verb in a folder has this id" in refusal(code={"nobody": say})


def test_a_reconcile_verb_that_voids_is_told_what_it_voids() -> None:
    """It takes the attempt, and may write where the verb itself writes; elsewhere it may not."""

    def booking(effect: str, **more: Any) -> tuple[FunctionVerb[..., Any], FunctionVerb[..., Any]]:
        @verb(
            effect="private",
            name="note.book",
            arguments={"text": ArgumentRole.CONTENT},
            reconcile=Reconcile(verb="note.void", voids=True),
        )
        async def book(text: str) -> str:
            """Book."""
            return text

        @verb(effect=effect, name="note.void", **more)  # type: ignore[arg-type]
        async def void(key: str, args: dict[str, Any], attempt: int) -> Found:
            """Find or void."""
            return Found(happened=None)

        return book, void

    roles = {
        "arguments": {
            "key": ArgumentRole.LABEL,
            "args": ArgumentRole.CONTENT,
            "attempt": ArgumentRole.LABEL,
        }
    }
    for functions in (booking("read"), booking("private", **roles)):
        spec = Registry(functions=functions).specs["note.book"]
        assert (spec.reconciler, spec.voids) == ("note.void", True)
    assert "reconcile: note.void is not" in refusal(functions=booking("admin", **roles))
    book, _ = booking("read")

    @verb(effect="read", name="note.void")
    async def untold(key: str, args: dict[str, Any]) -> Found:
        """Find."""
        return Found(happened=None)

    assert "takes key, args and attempt" in refusal(functions=(book, untold))


def test_a_reconcile_verb_is_a_registered_read() -> None:
    """What is asked after a crash exists, does not itself act, and can take the question and give
    the answer.
    """
    assert "reconcile: note.find is not" in refusal(functions=(write,))

    @verb(effect="private", name="note.find", arguments={"key": ArgumentRole.LABEL})
    def find_and_touch(key: str) -> bool:
        """Find."""
        return True

    assert "reconcile: note.find is not" in refusal(functions=(write, find_and_touch))

    @verb(effect="read", name="note.find")
    def find_by_text(text: str) -> Found:
        """Find."""
        return Found(happened=True)

    @verb(effect="read", name="note.find")
    def find_quietly(key: str, args: dict[str, Any]) -> bool:
        """Find."""
        return True

    for unfit in (find_by_text, find_quietly):
        assert "takes key and args and returns happened" in refusal(functions=(write, unfit))


def test_recursion_depth_is_sane() -> None:
    """A leaf calls nothing; a composite goes no deeper than policy permits."""
    Registry([folder(plan(max_recursion_depth=3))], max_depth=3)
    assert "max_recursion_depth" in refusal(folder(plan(max_recursion_depth=4)), max_depth=3)
    leaf = FunctionVerb(
        find.spec.model_copy(update={"max_recursion_depth": 2}), find.function, find.signature, True
    )
    assert "max_recursion_depth" in refusal(functions=(leaf,))


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (
            [
                PlanStep(name="a", order=0, services=[MODEL]),
                PlanStep(name="a", order=1, services=[MODEL]),
            ],
            "the same name",
        ),
        (
            [
                PlanStep(name="a", order=0, services=[MODEL]),
                PlanStep(name="b", order=0, services=[MODEL]),
            ],
            "the same order",
        ),
        (
            [
                PlanStep(name="a", order=0, services=[MODEL]),
                PlanStep(name="b", order=1, services=["PromptComposer"]),
            ],
            "last step asks a model",
        ),
        ([PlanStep(name="a", order=0)], "last step asks a model"),
    ],
)
def test_a_plan_makes_sense(steps: list[PlanStep], says: str) -> None:
    """Steps have their own names and orders, and the last one gives the output."""
    assert says in refusal(folder(plan(plan=steps)))


def test_services_of_the_verb_are_the_default_of_its_steps() -> None:
    """A step without services has the verb's (C3)."""
    Registry([folder(plan(plan=[PlanStep(name="a", order=0)], services=[MODEL]))])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"prompt_template": "absent.j2"}, "template absent.j2 is not there"),
        ({"input_schema": {"type": "no such type"}}, "invalid JSON Schema"),
        ({"output_schema": {"$ref": "https://example.org/schema.json"}}, "invalid JSON Schema"),
        ({"example": Example(input={})}, "example's input"),
        (
            {
                "example": Example(input={"text": "t"}, output={"a": 1}),
                "output_schema": {"maxProperties": 0},
            },
            "example's output",
        ),
    ],
)
def test_schemas_templates_and_examples_hold(fields: dict[str, Any], says: str) -> None:
    """A schema that is none or reaches out, a missing template and a false example are found at
    load.
    """
    assert says in refusal(folder(plan(**fields)))


def test_a_fixed_argument_is_kept() -> None:
    """A declaration reaches the registry unchanged."""

    @verb(effect="egress", arguments={"place": Argument(role=ArgumentRole.URL, fixed="here")})
    def look(place: str) -> str:
        """Look."""
        return place

    assert Registry(functions=[look]).specs["look"].arguments["place"].fixed == "here"
