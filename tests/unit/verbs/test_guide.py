"""The guides' examples are what the code takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ordain.prompts.prompt import render
from ordain.verbs import FunctionVerb, Registry, load_folder, verb
from ordain.verbs.http_access import HttpAccess, Secret
from ordain.verbs.http_verb import preview

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guides"
GUIDE = "".join(
    (GUIDES / name).read_text(encoding="utf-8")
    for name in ("verbs.md", "verbs-http.md", "verbs-python.md")
)


def block(language: str, holding: str) -> str:
    (found,) = [
        text
        for text in re.findall(rf"```{language}(?: file [^\n]*)?\n(.*?)```", GUIDE, re.DOTALL)
        if holding in text
    ]
    return found


def test_the_prompt_plan_of_the_guide_loads(tmp_path: Path) -> None:
    """The YAML and the template of the guide make a registered verb whose template renders with its
    example.
    """
    (tmp_path / "rate_tone.yaml").write_text(block("yaml", "name: rate_tone"))
    (tmp_path / "rate_tone_prompt.j2").write_text(block("jinja", "output_schema"))
    registry = Registry([load_folder(tmp_path)])
    spec = registry.specs["rate_tone"]
    assert spec.example is not None
    inputs = {"input": spec.example.input, "output_schema": spec.output_schema}
    assert "Please leave." in render(registry.templates["rate_tone_prompt.j2"], inputs).user


async def test_the_function_of_the_guide_is_a_verb() -> None:
    """The Python function of the guide decorates and counts."""
    names: dict[str, Any] = {"verb": verb}
    exec(block("python", "word_count").replace("from ordain import verb\n", ""), names)
    made: FunctionVerb[..., Any] = names["word_count"]
    assert Registry(functions=[made]).specs["word_count"].input_schema["required"] == ["text"]
    assert await made("one two") == {"words": 2}


def test_the_http_verb_of_the_guide_loads(tmp_path: Path) -> None:
    """The HTTP verb of the guide is one, and its arguments make the request that the guide tells
    of.
    """
    (tmp_path / "crm.get_item.yaml").write_text(block("yaml", "crm.get_item"))
    access = HttpAccess(secrets={"CRM_TOKEN": Secret("a-long-secret", frozenset({"crm.internal"}))})
    spec = Registry([load_folder(tmp_path)], http=access).specs["crm.get_item"]
    assert (
        preview(spec, {"item_id": "a b"})["url"]
        == "http://crm.internal:8080/items/a%20b?fields=title%2Cstate"
    )
