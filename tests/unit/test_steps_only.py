"""Plans are of steps only, wherever anything is said of them: contract, prompt, versions,
documents, comments and tools (PLAN-20, PLAN-21).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from ordain.contracts.roster import LEGACY_KEY, SCHEMA_VERSION, PlannerPlan, PlannerPlanPayload
from ordain.flows.roster.prompt import TEMPLATE, plan_schema
from tests.unit.flows.house import shipped

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"""["'`]?\bagents["'`]?\s*:\s*\[""")
"""An array of agents, as plans once were."""
SAYS_NO = {
    Path("docs/requirements.md"): "the seeds' own words",
    Path("docs/reference/verbs.md"): "the schema of `roster_runtime`, whose caller may name agents",
    Path("src/ordain/verbs/builtin/roster_runtime.yaml"): "the same schema",
    Path("src/ordain/verbs/builtin/shipped.json"): "the same schema",
    Path("src/ordain/flows/roster/templates/roster_plan.j2"): "that it is refused",
}
TOOLS = ("check", "demo", ".ci", "scripts", "bench", "examples")


def texts(*places: str) -> Iterator[Path]:
    """Every file of these places that is text."""
    for place in places:
        found = [ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*"))
        yield from (
            one
            for one in found
            if one.is_file()
            and one.suffix in {"", ".py", ".md", ".j2", ".yaml", ".toml", ".sh", ".json"}
        )


def who_names(*places: str) -> set[Path]:
    """The files in which a plan is an array of agents."""
    return {
        one.relative_to(ROOT)
        for one in texts(*places)
        if NAMED.search(one.read_text(encoding="utf-8"))
    }


def test_documents_comments_and_versions_know_steps_alone() -> None:
    """No page, comment or prompt has a plan of agents but to refuse it; one version of the contract
    there is, and every kept plan has it.

    PLAN-21 "docs/comments/versions describe steps-only;"
    PLAN-20 "No legacy model, prompt helper, conditional or telemetry branch exists."
    """
    assert who_names("src", "docs", "README.md", "CHANGELOG.md") == set(SAYS_NO)
    versions = {
        found
        for one in texts("src")
        for found in re.findall(r"SCHEMA_VERSION = \"(.+)\"", one.read_text(encoding="utf-8"))
    }
    assert versions == {SCHEMA_VERSION}
    assert PlannerPlan(steps=(), metadata={}).schema_version == SCHEMA_VERSION
    prompt = shipped().data.prompts[TEMPLATE]
    assert '{"steps": [' in prompt
    assert '{"agents": [...]} is refused' in prompt


def test_the_contract_has_no_other_key() -> None:
    """What a model is asked for and what its answer is held to both demand steps, and neither knows
    agents.

    PLAN-19 "Payloads that omit `steps` are rejected."
    """
    schema = plan_schema(shipped())
    assert "steps" in schema["required"]
    assert (LEGACY_KEY in schema["properties"], schema["additionalProperties"]) == (False, False)
    for given in (
        {},
        {"metadata": {}},
        {LEGACY_KEY: ["finance_agent"]},
        {"steps": [], LEGACY_KEY: []},
    ):
        with pytest.raises(ValidationError):
            PlannerPlanPayload.model_validate(given)
    assert PlannerPlanPayload.model_validate({"steps": []}).steps == []


def test_what_ci_runs_assumes_steps_alone() -> None:
    """CI runs ``./check``, which leaves out no test but the documents' own, and no tool, example or
    bench plans by agents.

    PLAN-21 "CI and deploy tooling assume steps-only."
    """
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("exec ./check")
    lane = re.search(
        r'^  ""\) tests=\((.*)\) ;;$', (ROOT / "check").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert lane is not None
    assert [word for word in lane[1].split() if not word.startswith("--record")] == [
        "--ignore=tests/docs"
    ]
    assert who_names(*TOOLS) == set()
