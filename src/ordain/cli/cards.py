"""``ordain cards``: what the server that holds the folder has, else the folder; and findings of cards as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ordain.catalogs import build_registry
from ordain.cli.connection import connect, running_server
from ordain.cli.exit_codes import OK
from ordain.cli.output import print_json, print_table, show
from ordain.cli.places import home_of
from ordain.cli.verb_lint import print_findings
from ordain.contracts.agent_verbs import with_agents
from ordain.contracts.cards import AgentCard
from ordain.errors import ConfigurationError, NotFound
from ordain.settings import Settings, load_settings
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.cards.lint import lint_card, lint_card_file
from ordain.verbs.lint import Linted
from ordain.verbs.yaml_folder import SUFFIXES
from ordain.verbs.yaml_lint import lint_folder

COLUMNS = ("agent", "domain", "place taken by", "verbs here", "not here", "what it does")


def print_cards(data_dir: Path | None, *, as_json: bool) -> int:
    """Every card of the server that holds the folder, else of the folder."""
    found = asyncio.run(_cards(home_of(data_dir), None))
    if as_json:
        print_json(found)
        return OK
    rows = [
        (one["name"], one["domain"], one["fallback_agent"], ", ".join(one["uses"]), ", ".join(one["missing"]), one["description"])
        for one in found["cards"]
    ]
    print_table(COLUMNS, rows)
    if closed := [one["name"] for one in found["cards"] if not one["active"]]:
        show(f"nothing can be handed to: {', '.join(closed)} (ordain cards show)")
    return OK


def print_card(data_dir: Path | None, name: str, *, as_json: bool) -> int:
    """One card."""
    found = asyncio.run(_cards(home_of(data_dir), name))
    if as_json:
        print_json(found)
        return OK
    show(f"{found['name']} ({found['verb_id']}, {found['inactive'] or 'active'})\n{found['description']}\n")
    told: dict[str, Any] = {
        "domain": found["domain"],
        "prefers": ", ".join(found["tool_preference"]),
        "allow": ", ".join(found["allow"]),
        "deny": ", ".join(found["deny"]),
        "may use here": ", ".join(found["uses"]),
        "not here": ", ".join(found["missing"]),
        "tools first": found["tool_first"],
        "place taken by": found["fallback_agent"],
        "confidence bias": found["confidence_bias"],
    }
    for what, value in told.items():
        show(f"{what}: {'-' if value in ('', None) else value}")
    return OK


async def _cards(home: Path, name: str | None) -> dict[str, Any]:
    if await running_server(home) is not None:
        async with connect(home, drive=False) as connection:
            return await connection.ask("GET", "/cards" if name is None else f"/cards/{quote(name, safe='')}")
    from ordain.app import shipped_kinds  # lazy: beside a server none of this is needed
    from ordain.catalogs import build_catalog  # lazy: see above
    from ordain.server.cards import card_view, card_views  # lazy: see above

    settings = load_settings(home=home)
    catalog = build_catalog(settings, build_registry(settings), shipped_kinds())
    return card_views(catalog) if name is None else card_view(catalog, name)


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such card or file.
        ConfigurationError: settings or verbs are wrong.
    """
    settings = load_settings(home=home_of(data_dir))
    return print_findings(_linted(settings, what), strict=strict, as_json=as_json)


def _linted(settings: Settings, what: Sequence[str]) -> list[Linted]:
    folder = settings.home / CARDS.name
    files = sorted(entry for entry in folder.iterdir() if entry.name.endswith(SUFFIXES)) if folder.is_dir() else []
    beside = {**CARDS.shipped(), **_readable(files)}
    verbs = with_agents(build_registry(settings).specs, beside.values()).keys()
    linted: list[Linted] = []
    for name in what or [str(file) for file in files]:
        file = Path(name) if "/" in name or name.endswith(SUFFIXES) else folder / f"{name}.yaml"
        if not file.exists() and name in CARDS.shipped():
            one = Linted(f"shipped: {name}")
            for found in lint_card(CARDS.shipped()[name], verbs, beside):
                one.add(*found)
        elif not file.exists():
            raise NotFound(f"there is no agent {name[:128]}", code="unknown_agent")
        else:
            one = lint_card_file(file, verbs, beside)
        linted.append(one)
    if not what:
        lint_folder(CARDS, folder, linted)
    return linted


def _readable(files: Sequence[Path]) -> Mapping[str, AgentCard]:
    """The cards that are right by themselves, by name: of others their own findings tell."""
    found: dict[str, AgentCard] = {}
    for file in files:
        try:
            card = CARDS.load_file(file.parent.resolve(), file.name)
        except ConfigurationError:
            continue
        found[card.name] = card
    return found
