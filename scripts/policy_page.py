"""The reference's page of policy keys."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Policy
from ordain.settings import read_policy
from scripts.described import code, page, summary, table, text_of, whole
from scripts.keys import (
    caps_table,
    comments_of,
    enums_of,
    model_in,
    model_table,
    models_of,
    policy_row,
    type_of,
)

SHIPPED_POLICY = Path(__file__).resolve().parent.parent / "src" / "ordain" / "policy.toml"


def render_policy() -> str:
    """Every key of policy with type, default, bounds and meaning."""
    comments = comments_of(SHIPPED_POLICY.read_text(encoding="utf-8"))
    shipped = read_policy(None)
    lines = page(
        "Policy",
        "`$ORDAIN_HOME/policy.toml`, or the file that `policy` in `ordain.toml` names, replaces "
        "the shipped policy as a whole: what your file "
        "leaves out has the default of this page, not the shipped value. Unknown keys are "
        "refused. Money is in micro-dollars.",
    )
    lists = [
        (
            code(name),
            type_of(field),
            code("[]"),
            f"{len(getattr(shipped, name))} of them",
            f"{summary(section)} [Below](#{name}).",
        )
        for name, field in Policy.model_fields.items()
        if isinstance(getattr(shipped, name), list)
        and (section := model_in(field.annotation)) is not None
    ]
    lines += table(
        ("key", "type", "default", "shipped", "meaning"),
        [policy_row("version", Policy, shipped, comments), *lists],
    )
    for name, field in Policy.model_fields.items():
        section = model_in(field.annotation)
        if section is None:
            continue
        inside = getattr(shipped, name)
        if isinstance(inside, list):
            lines += [
                f"## [[{name}]]",
                "",
                field.description or whole(section),
                "",
                *model_table(section),
                *_inner(section),
            ]
            continue
        lines += [f"## [{name}]", "", whole(section), ""]
        rows = [
            policy_row(key, section, inside, comments, f"{name}.") for key in section.model_fields
        ]
        lines += [
            *table(("key", "type", "default", "shipped", "meaning"), rows),
            *_inner(section, inside),
        ]
    lines += ["## Values", ""]
    for enum in (ModelErrorCode, *enums_of(Policy)):
        if enum.__name__ not in "\n".join(lines[lines.index("## Values") :]):
            lines += [
                (
                    f"**{enum.__name__}.** {summary(enum)} "
                    f"{', '.join(code(str(one)) for one in enum)}."
                ),
                "",
            ]
    return text_of(lines)


def _inner(section: type[BaseModel], shipped: BaseModel | None = None) -> list[str]:
    """The models that a section's keys hold; of those that stand in a table by name the shipped
    values.
    """
    by_name = {
        model_in(field.annotation): getattr(shipped, key, None)
        for key, field in section.model_fields.items()
    }
    lines: list[str] = []
    for model in models_of(section):
        given = by_name.get(model)
        lines += [f"### {model.__name__}", "", summary(model), ""]
        lines += (
            caps_table(model, given) if isinstance(given, dict) and given else model_table(model)
        )
    return lines
