"""``ordain cards``: what the server that holds the folder has, else the folder; and findings of
cards as they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ordain.catalogs import build_registry
from ordain.cli.catalogued import folder_catalog, served_or
from ordain.cli.exit_codes import OK
from ordain.cli.hints import in_folder
from ordain.cli.output import print_json, print_table, show
from ordain.cli.places import home_of
from ordain.cli.verb_lint import print_findings
from ordain.contracts.agent_verbs import with_agents
from ordain.contracts.cards import AgentCard
from ordain.contracts.path_parts import path_part
from ordain.errors import ConfigurationError
from ordain.settings import load_settings
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.cards.lint import lint_card
from ordain.verbs.yaml_lint import lint_named

COLUMNS = ("agent", "domain", "place taken by", "verbs here", "not here", "what it does")


def print_cards(data_dir: Path | None, *, as_json: bool) -> int:
    """Every card of the server that holds the folder, else of the folder."""
    found = _cards(home_of(data_dir), None)
    if as_json:
        print_json(found)
        return OK
    rows = [
        (
            one["name"],
            one["domain"],
            one["fallback_agent"],
            ", ".join(one["uses"]),
            ", ".join(one["missing"]),
            one["description"],
        )
        for one in found["cards"]
    ]
    print_table(COLUMNS, rows)
    if closed := [one["name"] for one in found["cards"] if not one["active"]]:
        show(f"nothing can be handed to: {', '.join(closed)} ({in_folder('ordain cards show')})")
    return OK


def print_card(data_dir: Path | None, name: str, *, as_json: bool) -> int:
    """One card."""
    found = _cards(home_of(data_dir), name)
    if as_json:
        print_json(found)
        return OK
    show(
        f"{found['name']} ({found['verb_id']}, {found['inactive'] or 'active'})\n"
        f"{found['description']}\n"
    )
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


def _cards(home: Path, name: str | None) -> Any:
    from ordain.server.cards import card_view, card_views  # lazy: beside a server it is not needed

    if name is None:
        return served_or(home, "/cards", lambda: card_views(folder_catalog(home)))
    return served_or(
        home, f"/cards/{path_part(name)}", lambda: card_view(folder_catalog(home), name)
    )


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such card or file.
        ConfigurationError: settings or verbs are wrong.
    """
    settings = load_settings(home=home_of(data_dir))
    folder = settings.home / CARDS.name
    beside = {**CARDS.shipped(), **readable_cards(CARDS.files(folder))}
    more = partial(
        lint_card,
        verbs=with_agents(build_registry(settings).specs, beside.values()).keys(),
        beside=beside,
    )
    return print_findings(
        lint_named(CARDS, folder, what, more, unknown="unknown_agent"),
        strict=strict,
        as_json=as_json,
    )


def readable_cards(files: Sequence[Path]) -> Mapping[str, AgentCard]:
    """The cards that are right by themselves, by name: of others their own findings tell."""
    found: dict[str, AgentCard] = {}
    for file in files:
        try:
            card = CARDS.load_file(file.parent.resolve(), file.name)
        except ConfigurationError:
            continue
        found[card.name] = card
    return found
