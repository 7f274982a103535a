"""The generated reference leaves nothing out: what the code has is found by other means than the
generator's, and must be on its page.
"""

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from ordain import errors
from ordain.contracts import events
from ordain.contracts.policy import Policy
from ordain.contracts.profiles import ModelProfile
from ordain.effects import children, effect, results
from ordain.flows.kind import Kind
from ordain.journal.records import BODY_OF, CURRENT_VERSION, RecordKind
from ordain.rules.attach import Attached, MessageReading, ThreadFact
from ordain.rules.reasons import Reason
from ordain.server.documents import SCHEMAS
from ordain.settings import FileSettings, MailSettings, ServerSettings, VerbSettings
from ordain.shipped_verbs import builtin_registry
from ordain.store.schema import VERSION
from ordain.wording.cues import Cues
from scripts import reference
from scripts.described import environment_names
from scripts.keys import comments_of, meaning_of, model_in, models_of
from scripts.reference import ENVIRONMENT, PAGES

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "src" / "ordain"
HEADING = re.compile(r"^#+ (?:Result |End )?`?([^`\n]+)`?$", re.MULTILINE)


@cache
def page(name: str) -> str:
    """A page as it is made now."""
    return PAGES[name]()


def headings(name: str) -> set[str]:
    return set(HEADING.findall(page(name)))


@cache
def every_call() -> list[tuple[Path, str, ast.Call]]:
    """Every call in the source: in which file, of what."""
    return [
        (path, ast.unparse(node.func), node)
        for path in HOUSE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def calls(folder: str, name: str) -> Iterator[ast.Call]:
    return (
        call
        for path, called, call in every_call()
        if called == name and path.is_relative_to(HOUSE / folder)
    )


def test_every_rule_has_its_section() -> None:
    """Each `Rule(name=...)` written in the rules' room is a section of rules.md."""
    names = {
        ast.literal_eval(keyword.value)
        for call in calls("rules", "Rule")
        for keyword in call.keywords
        if keyword.arg == "name"
    }
    assert len(names) >= 12
    assert names <= headings("rules.md")


def test_every_reason_is_on_both_pages() -> None:
    """Each reason code has a row in reasons.md, and in rules.md under its rule or among those no
    rule gives.
    """
    # tests have sets of their own
    sets = [one for one in Reason.__subclasses__() if one.__module__.startswith("ordain.")]
    reasons = [reason for one in sets for reason in one]
    assert len(reasons) >= 100
    for name in ("reasons.md", "rules.md"):
        text = page(name)
        assert [reason for reason in reasons if f"| `{reason.value}` |" not in text] == []


def test_every_record_kind_and_field_has_its_row() -> None:
    """Each record kind is a section of records.md, and each field of its body a row there."""
    text = page("records.md")
    assert {str(kind) for kind in RecordKind} <= headings("records.md")
    for kind in RecordKind:
        section = text.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
        assert [
            name for name in BODY_OF[kind].__struct_fields__ if f"| `{name}` |" not in section
        ] == []


def versions_in_kind_files() -> set[tuple[str, int]]:
    """Name and version of each kind that a `kind.py` makes."""
    modules = [
        import_module(f"ordain.flows.{path.parent.name}.kind")
        for path in (HOUSE / "flows").glob("*/kind.py")
    ]
    return {
        (one.name, one.version)
        for module in modules
        for one in vars(module).values()
        if isinstance(one, Kind)
    }


def test_every_kind_and_version_can_be_resumed() -> None:
    """Each version of each kind stands on kinds.md, the newest one as what begins, the others as
    what is resumed; its prompts stand there too.
    """
    text, versions = page("kinds.md"), versions_in_kind_files()
    names = {name for name, _ in versions}
    assert len(names) >= 8
    assert names <= headings("kinds.md")
    for name in names:
        newest, *before = sorted((version for of, version in versions if of == name), reverse=True)
        assert (
            f"| [`{name}`](#{name}) | **{newest}** | {', '.join(map(str, before)) or 'none'} |"
            in text
        )
    given = [
        one.value
        for call in calls("flows", "PromptKind")
        for one in call.keywords
        if one.arg == "purpose"
    ]
    purposes = {one.value for one in given if isinstance(one, ast.Constant)}
    assert {"router", "supervisor", "triage", "verb"} <= purposes
    assert [purpose for purpose in purposes if f"| `{purpose}` | `" not in text] == []


def test_every_version_of_what_is_read_is_told() -> None:
    """The schema, the wording engines and the records of more than one version stand on
    kinds.md.
    """
    text = page("kinds.md")
    assert f"| schema of the database | **{VERSION}** |" in text
    assert all(
        f"| record `{kind}` | **{version}** |" in text
        for kind, version in CURRENT_VERSION.items()
        if version > 1
    )


def test_every_effect_result_and_end_has_its_section() -> None:
    """Each member of the closed unions of effects, results and ends is a section of effects.md."""
    unions = (effect.AnyEffect, results.AnyResult, children.AnyEnded)
    tags = {str(member.__struct_config__.tag) for union in unions for member in get_args(union)}
    assert tags <= headings("effects.md")


def test_every_event_and_field_has_its_row() -> None:
    """Each member of the closed union of a session's events is a section of events.md, and each
    field of it a row there or above.
    """
    text = page("events.md")
    kinds = get_args(events.SessionEvent)
    assert len(kinds) >= 9
    for kind in kinds:
        section = text.partition(f"\n### {kind.__struct_config__.tag}\n")[2].partition("\n### ")[0]
        assert section
        shared = events.Durable.__struct_fields__ if issubclass(kind, events.Durable) else ()
        assert [
            name
            for name in kind.__struct_fields__
            if name not in shared and f"| `{name}` |" not in section
        ] == []
    assert [name for name in events.Durable.__struct_fields__ if f"| `{name}` |" not in text] == []


def test_the_codes_of_a_messages_run_are_listed() -> None:
    """The codes that end a message's run in the flows' own tables and tests are on the page of
    errors.
    """
    listed = page("errors.md").partition("A message of a session")[2]
    for code in (
        "path_unavailable",
        "interrupted",
        "question_expired",
        "answer_unfit",
        "repair_expired",
        "supervisor_invalid",
        "partial",
    ):
        assert f"`{code}`" in listed


def test_types_are_written_plainly_with_their_bounds() -> None:
    """No page shows how a bound is written in the code; those inside a mapping stand beside its
    type.
    """
    assert [name for name in PAGES if "Annotated[" in page(name) or "FieldInfo" in page(name)] == []
    assert (
        "| `fallback.hedge_ms` | `dict[Lane, int]`, each value ≥ 0, each value ≤ 3600000 |"
        in page("policy.md")
    )
    assert "| `secrets` | `dict[str, SecretSource]`, each key matches ^[A-Za-z]" in page(
        "settings.md"
    )


def test_what_a_rules_facts_are_made_of_is_described() -> None:
    """The wording features and the threads that rule `attach` sees, and the values of its
    enumerations, stand on its page.
    """
    section = page("rules.md").partition("\n## attach\n")[2].partition("\n## ")[0]
    for part in (Cues, ThreadFact, MessageReading):
        assert [name for name in part.__struct_fields__ if f"| `{name}` |" not in section] == []
    assert all(f"`{one}`" in section for one in Attached)


def test_every_port_and_method_is_described() -> None:
    """Each protocol in the ports' room is a section of ports.md with all its methods."""
    text = page("ports.md")
    found = 0
    for path in (HOUSE / "ports").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                ast.unparse(base).startswith("Protocol") for base in node.bases
            ):
                found += 1
                section = text.partition(f"\n## {node.name}\n")[2].partition("\n## ")[0]
                methods = [
                    member.name
                    for member in node.body
                    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
                ]
                assert [name for name in methods if f"def {name}(" not in section] == []
    assert found >= 6


def keys(schema: dict[str, Any], root: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The keys of a JSON Schema's object and of the objects that stand directly in it."""
    for name, value in schema.get("properties", {}).items():
        target = root["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else value
        if target.get("properties") and prefix == "":
            yield from keys(target, root, f"{name}.")
        else:
            yield f"{prefix}{name}"


def test_a_table_of_models_shows_its_shipped_values() -> None:
    """The caps of each budget class stand beside each other, and what a probe may say is listed."""
    text = page("policy.md")
    caps = Policy(version=1).router.classes
    assert f"| key | type | {' | '.join(f'`{name}`' for name in caps)} | meaning |" in text
    assert " | ".join(f"`{one.max_tokens_answer}`" for one in caps.values()) in text
    assert {"[[probes]]", "ProbeMessage", "ProbeExpectation"} <= headings("policy.md")


def test_every_policy_key_has_its_row() -> None:
    """Each key of the policy's own JSON Schema is a row of policy.md."""
    schema = Policy.model_json_schema(by_alias=False)
    found = list(keys(schema, schema))
    text = page("policy.md")
    assert len(found) > 45
    assert [key for key in found if f"| `{key}` |" not in text] == []


def test_every_key_says_what_it_means() -> None:
    """No key of policy or settings is without a meaning."""
    comments = comments_of((HOUSE / "policy.toml").read_text(encoding="utf-8"))
    sections = [
        (name, model)
        for name, field in Policy.model_fields.items()
        if (model := model_in(field.annotation)) is not None
    ]
    assert len(sections) >= 14
    silent = [
        f"{section}.{key}"
        for section, model in sections
        for key in model.model_fields
        if not meaning_of(model, key, comments.get(f"{section}.{key}", ""))
    ]
    inner = {one for _, model in sections for one in models_of(model)}
    assert {"Activation", "BudgetCaps", "ProbeMessage", "ProbeExpectation"} <= {
        one.__name__ for one in inner
    }
    silent += [
        f"{one.__name__}.{key}"
        for one in inner
        for key in one.model_fields
        if not meaning_of(one, key)
    ]
    settings = (FileSettings, MailSettings, ModelProfile, ServerSettings, VerbSettings)
    silent += [
        f"{model.__name__}.{key}"
        for model in settings
        for key in model.model_fields
        if not meaning_of(model, key)
    ]
    assert silent == []


def test_every_shipped_verb_has_its_section(tmp_path: Path) -> None:
    """Each verb of the full shipped registry is a section of verbs.md."""
    registry = builtin_registry(files_root=tmp_path, urls=("https://example.com/",))
    assert set(registry.specs) <= headings("verbs.md")


def test_every_error_class_has_its_row() -> None:
    """Each class of errors.py is a row of errors.md with its code."""
    text = page("errors.md")
    classes = [
        one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.OrdainError)
    ]
    assert len(classes) >= 16
    assert [
        one.__name__
        for one in classes
        if f"`{one.__name__}` | `{one.code}` | {one.status} |" not in text
    ] == []


def test_every_code_beside_an_error_has_its_row() -> None:
    """Each `code="..."` that the source gives an error is a row of errors.md."""
    text = page("errors.md")
    classes = {
        name
        for name, one in vars(errors).items()
        if isinstance(one, type) and issubclass(one, errors.OrdainError)
    }
    codes = {
        keyword.value.value
        for name in classes
        for call in calls(".", name)
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    }
    assert [code for code in codes if f"| `{code}` |" not in text] == []


def test_every_environment_variable_is_explained() -> None:
    """The variables that the house reads are exactly those that settings.md explains."""
    written = {
        name
        for path in HOUSE.rglob("*.py")
        for name in re.findall(
            r'"((?:ORDAIN|OPENAI|PLANNER)_[A-Z_]+)"', path.read_text(encoding="utf-8")
        )
    }
    assert written <= environment_names()
    assert environment_names() == set(ENVIRONMENT)


def test_openapi_has_every_route_and_a_schema_for_every_reference() -> None:
    """The published document names the paths of the HTTP face, and refers to nothing that it does
    not have.
    """
    document = json.loads(page("openapi.json"))
    assert {
        "/plan/react",
        "/verbs",
        "/verbs/execute",
        "/runs",
        "/runs/{run}",
        "/runs/{run}/journal",
        "/health",
    } <= set(document["paths"])
    assert {
        "/messages",
        "/sessions/{session}/events",
        "/api/chat",
        "/api/verbs",
        "/v1/cortex/chat",
    } <= set(document["paths"])
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert referred <= set(document["components"]["schemas"])
    assert {f"schemas/{name}.json" for name in SCHEMAS} <= PAGES.keys()


def test_pages_do_not_depend_on_the_process() -> None:
    """Another process with another hash seed makes the same bytes."""
    program = (
        "import hashlib\nfrom scripts.reference import PAGES\n"
        "print(hashlib.sha256(''.join(r() for r in PAGES.values()).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4417"}
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == hashlib.sha256("".join(map(page, PAGES)).encode()).hexdigest()


def test_a_stale_and_an_unknown_page_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verifying names a page that is not current and a file that nothing makes; writing repairs the
    first.
    """
    monkeypatch.setattr(reference, "REFERENCE", tmp_path)
    (tmp_path / "mine.md").write_text("by hand")
    assert reference.main([]) == 1
    assert "rules.md is not current" in capsys.readouterr().out
    assert reference.main(["--write"]) == 1
    assert capsys.readouterr().out == "docs/reference/mine.md is made by nothing; remove it\n"
    (tmp_path / "mine.md").unlink()
    assert reference.main([]) == 0
