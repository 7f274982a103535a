"""``ordain workflows``: what the server that holds the folder has, else the folder; and findings of templates as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ordain.catalogs import build_registry
from ordain.cli.connection import connect, running_server
from ordain.cli.exit_codes import OK
from ordain.cli.output import json_text, print_json, print_table, show
from ordain.cli.places import home_of
from ordain.cli.verb_lint import print_findings
from ordain.contracts.agent_verbs import with_agents
from ordain.errors import NotFound
from ordain.settings import Settings, load_settings
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.lint import Linted
from ordain.verbs.workflow.folder import WORKFLOWS, shipped_workflows
from ordain.verbs.workflow.lint import lint_template, lint_workflow
from ordain.verbs.yaml_folder import SUFFIXES
from ordain.verbs.yaml_lint import lint_folder

COLUMNS = ("template", "version", "steps", "not here", "what it does")


def print_workflows(data_dir: Path | None, *, as_json: bool) -> int:
    """Every template of the server that holds the folder, else of the folder."""
    found = asyncio.run(_workflows(home_of(data_dir), None))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (one["id"], str(one["version"]), str(len(one["steps"])), ", ".join(one["unavailable"]), one["description"])
        for one in found["workflows"]
    ]
    print_table(COLUMNS, rows)
    return OK


def print_workflow(data_dir: Path | None, template: str, *, as_json: bool) -> int:
    """One template."""
    found = asyncio.run(_workflows(home_of(data_dir), template))
    if as_json:
        print_json(found)
        return OK
    show(f"{found['id']}@{found['version']}\n{found['description']}")
    show(f"\narguments: {json_text(found['arguments'], indent=2)}")
    show(f"\nsteps: {json_text(found['steps'], indent=2)}")
    if found["unavailable"]:
        show(f"\nnot here: {', '.join(found['unavailable'])}")
    return OK


async def _workflows(home: Path, template: str | None) -> dict[str, Any]:
    if await running_server(home) is not None:
        async with connect(home, drive=False) as connection:
            return await connection.ask("GET", "/workflows" if template is None else f"/workflows/{quote(template, safe='')}")
    from ordain.app import shipped_kinds  # lazy: beside a server none of this is needed
    from ordain.catalogs import build_catalog  # lazy: see above
    from ordain.server.workflows import workflow_view, workflow_views  # lazy: see above

    settings = load_settings(home=home)
    catalog = build_catalog(settings, build_registry(settings), shipped_kinds())
    return workflow_views(catalog) if template is None else workflow_view(catalog, template)


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such template or file.
        ConfigurationError: settings or verbs are wrong.
    """
    settings = load_settings(home=home_of(data_dir))
    return print_findings(_linted(settings, what), strict=strict, as_json=as_json)


def _linted(settings: Settings, what: Sequence[str]) -> list[Linted]:
    folder, cards = settings.home / WORKFLOWS.name, CARDS.of(settings.home / CARDS.name)
    verbs = with_agents(build_registry(settings).specs, cards.values())
    if not what:
        found = sorted(entry for entry in folder.iterdir() if entry.name.endswith(SUFFIXES)) if folder.is_dir() else []
        every = [lint_workflow(file, verbs, settings.workflows.verbs) for file in found]
        lint_folder(WORKFLOWS, folder, every)
        return every
    linted: list[Linted] = []
    for name in what:
        file = Path(name) if "/" in name or name.endswith(SUFFIXES) else folder / f"{name}.yaml"
        if not file.exists() and name in shipped_workflows():
            one = Linted(f"shipped: {name}")
            for found in lint_template(shipped_workflows()[name], verbs, settings.workflows.verbs):
                one.add(*found)
        elif not file.exists():
            raise NotFound(f"there is no workflow {name[:128]}", code="unknown_template")
        else:
            one = lint_workflow(file, verbs, settings.workflows.verbs)
        linted.append(one)
    return linted
