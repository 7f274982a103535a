"""Prompts are laid out for providers that cache a beginning: what stays the same comes first, what
grows comes last.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import MODEL_SERVICE
from ordain.flows.steps.prompt import TEMPLATE, TRACE_STEPS, planner_base, with_progress
from ordain.prompts.prompt import Prompt, render
from ordain.prompts.verb_step import VerbPrompt
from ordain.verbs.builtin.shipped import prompt_plans

PLANNER = (
    files("ordain.flows.steps").joinpath("templates", f"{TEMPLATE}.j2").read_text(encoding="utf-8")
)
PLANS = prompt_plans()
ASKING = sorted(name for name, spec in PLANS.specs.items() if spec.plan)

said = st.text(st.characters(codec="utf-8"), max_size=40)
steps = st.fixed_dictionaries(
    {"thought": said, "observation": st.dictionaries(said, said, max_size=2)}
)


def planner(request: PlannerRequest, trace: tuple[Any, ...], left: int) -> Prompt:
    """The prompt of a step after ``trace``."""
    return render(
        PLANNER, msgspec.structs.asdict(with_progress(planner_base(request, ()), trace, left, None))
    )


def reworded(value: Any) -> Any:
    """The same shape with other words."""
    if isinstance(value, dict):
        return {key: reworded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [reworded(inner) for inner in value] * 2
    return f"other than {value}" if isinstance(value, str) else value


@given(
    said.filter(lambda text: bool(text.strip())), st.lists(steps, min_size=1, max_size=TRACE_STEPS)
)
def test_a_planners_next_prompt_begins_with_the_last_one(
    goal: str, trace: list[dict[str, Any]]
) -> None:
    """While the whole trace is shown, each prompt repeats the one before up to the end of its
    trace, and the system text is the same.
    """
    request = PlannerRequest.model_validate({"goal": {"type": "chat", "description": goal}})
    before, after = planner(request, tuple(trace[:-1]), 5), planner(request, tuple(trace), 4)
    assert before.system == after.system
    stays = before.user.removesuffix("\n").rpartition("STEPS LEFT:")[0]
    assert after.user.startswith(stays)
    assert len(before.user) - len(stays) <= len("STEPS LEFT: 5\n")


@pytest.mark.parametrize("name", ASKING)
def test_a_verbs_instructions_do_not_depend_on_its_input(name: str) -> None:
    """The system text of every shipped prompt plan is the same whatever it is given, step by
    step.
    """
    spec = PLANS.specs[name]
    for step in spec.plan:
        if MODEL_SERVICE not in (step.services or spec.services):
            continue
        source = PLANS.templates[step.prompt_template or spec.prompt_template or ""]
        assert spec.example is not None
        prompts = [
            render(
                source,
                msgspec.structs.asdict(
                    VerbPrompt(
                        verb=name,
                        description=spec.description,
                        step=step.name,
                        input=given,
                        previous=previous,
                        output_schema=spec.output_schema,
                    )
                ),
            )
            for given, previous in (
                (spec.example.input, None),
                (reworded(spec.example.input), {"text": "earlier"}),
            )
        ]
        assert prompts[0].system == prompts[1].system
