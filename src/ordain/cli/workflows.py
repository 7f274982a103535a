"""``ordain workflows``: what the server that holds the folder has, else the folder; and findings of
templates as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ordain.catalogs import build_registry
from ordain.cli.catalogued import folder_catalog, served_or
from ordain.cli.exit_codes import OK
from ordain.cli.output import json_text, print_json, print_table, show
from ordain.cli.places import home_of
from ordain.cli.verb_lint import print_findings
from ordain.contracts.agent_verbs import with_agents
from ordain.contracts.path_parts import path_part
from ordain.settings import load_settings
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.workflow.folder import WORKFLOWS
from ordain.verbs.workflow.lint import lint_template
from ordain.verbs.yaml_lint import lint_named

COLUMNS = ("template", "version", "steps", "not here", "what it does")


def print_workflows(data_dir: Path | None, *, as_json: bool) -> int:
    """Every template of the server that holds the folder, else of the folder."""
    found = _workflows(home_of(data_dir), None)
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["id"],
            str(one["version"]),
            str(len(one["steps"])),
            ", ".join(one["unavailable"]),
            one["description"],
        )
        for one in found["workflows"]
    ]
    print_table(COLUMNS, rows)
    return OK


def print_workflow(data_dir: Path | None, template: str, *, as_json: bool) -> int:
    """One template."""
    found = _workflows(home_of(data_dir), template)
    if as_json:
        print_json(found)
        return OK
    show(f"{found['id']}@{found['version']}\n{found['description']}")
    show(f"\narguments: {json_text(found['arguments'], indent=2)}")
    show(f"\nsteps: {json_text(found['steps'], indent=2)}")
    if found["unavailable"]:
        show(f"\nnot here: {', '.join(found['unavailable'])}")
    return OK


def _workflows(home: Path, template: str | None) -> Any:
    from ordain.server.workflows import (
        workflow_view,
        workflow_views,
    )  # lazy: beside a server it is not needed

    if template is None:
        return served_or(home, "/workflows", lambda: workflow_views(folder_catalog(home)))
    return served_or(
        home,
        f"/workflows/{path_part(template)}",
        lambda: workflow_view(folder_catalog(home), template),
    )


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such template or file.
        ConfigurationError: settings or verbs are wrong.
    """
    settings = load_settings(home=home_of(data_dir))
    verbs = with_agents(
        build_registry(settings).specs, CARDS.of(settings.home / CARDS.name).values()
    )
    more = partial(lint_template, verbs=verbs, settings=settings.workflows.verbs)
    linted = lint_named(
        WORKFLOWS, settings.home / WORKFLOWS.name, what, more, unknown="unknown_template"
    )
    return print_findings(linted, strict=strict, as_json=as_json)
