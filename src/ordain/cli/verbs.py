"""``ordain verbs``: what the server that holds the folder has, else the folder; and having a server
take up its files.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordain.cli.catalogued import served_or
from ordain.cli.connection import connect, running_server
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import json_text, print_groups, print_json, show
from ordain.cli.places import home_of
from ordain.cli.server_told import NEEDS_RESTART
from ordain.contracts.catalog import UNCONFIRMED
from ordain.contracts.path_parts import path_part
from ordain.contracts.shell_words import shell_word
from ordain.errors import Transient


def print_verbs(
    data_dir: Path | None, pack: str | None = None, *, whole: bool = False, as_json: bool
) -> int:
    """Every verb, or those of a pack, of the server that holds the folder, else of the folder.
    ``whole``: however long a line is.
    """
    found = _verbs(home_of(data_dir), None, pack)
    if as_json:
        print_json(found)
        return OK
    print_groups(
        ("verb", "kind", "effect", "state", "what it does"), _groups(found["verbs"]), whole=whole
    )
    if pack is not None and (missing := found["packs"][pack]["missing"]):
        show(f"not there: {', '.join(missing)}")
    _show_problems(found["problems"])
    if unconfirmed := [verb["verb_id"] for verb in found["verbs"] if not verb["confirmed"]]:
        show(
            f"unconfirmed: {', '.join(unconfirmed)} ({in_folder('ordain verbs confirm')} "
            f"{' '.join(map(shell_word, unconfirmed))})"
        )
    return OK


def _groups(verbs: Sequence[dict[str, Any]]) -> dict[str, list[Sequence[object]]]:
    """A line of each verb, by its category in words: ``MemoryAccess`` is memory access."""
    groups = dict[str, list[Sequence[object]]]()
    for verb in sorted(verbs, key=lambda one: one["category"]):  # within one the order stays
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", verb["category"]).capitalize()
        groups.setdefault(name, []).append(
            (verb["verb_id"], verb["kind"], verb["effect"], _state(verb), verb["description"])
        )
    return groups


def _state(verb: dict[str, Any]) -> str:
    state = verb["inactive"] or "active"
    return state if verb["confirmed"] or state == UNCONFIRMED else f"{state}, unconfirmed"


def _show_problems(problems: list[dict[str, Any]]) -> None:
    for problem in problems:
        what = (
            "waits"
            if problem["code"] == NEEDS_RESTART
            else "stricter than written"
            if problem["warning"]
            else "not in use"
        )
        show(f"{what}: {problem['message']}")


def reload_server(data_dir: Path | None, *, as_json: bool) -> int:
    """Have the server that holds the folder take up its verbs.

    Raises:
        Transient: no server holds it; the next one reads the folder when it starts.
    """
    done = asyncio.run(_reload(home_of(data_dir)))
    if as_json:
        print_json(done)
    elif done["ok"]:
        show(
            f"{'reloaded' if done['changed'] else 'nothing has changed'}: catalog "
            f"{done['catalog'][:12]}"
        )
        _show_problems(done["problems"])
    else:
        show("not reloaded, the verbs of before stay")
        _show_problems(done["problems"])
    return OK if done["ok"] else FAILED


async def _reload(home: Path) -> dict[str, Any]:
    if await running_server(home) is None:
        raise Transient(
            "no server holds the data folder; the next one reads its verbs when it starts",
            code="no_server",
        )
    async with connect(home, drive=False) as connection:
        return await connection.ask("POST", "/verbs/reload")


def print_verb(data_dir: Path | None, verb: str, *, as_json: bool) -> int:
    """One verb."""
    found = _verbs(home_of(data_dir), verb)
    if as_json:
        print_json(found)
        return OK
    show(
        f"{found['verb_id']} ({found['kind']}, {found['effect']}, {_state(found)})\n"
        f"{found['description']}"
    )
    if found["effect_raised"]:
        show(found["effect_raised"])
    for name in ("input_schema", "output_schema"):
        show(f"\n{name.replace('_', ' ')}: {json_text(found[name], indent=2)}")
    return OK


def _verbs(home: Path, verb: str | None, pack: str | None = None) -> Any:
    def here() -> Any:
        from ordain.app import shipped_kinds  # lazy: beside a server none of this is needed
        from ordain.catalogs import build_catalog, build_verbs, own_verbs  # lazy: see above
        from ordain.server.verbs import verb_view, verb_views  # lazy: see above
        from ordain.settings import load_settings  # lazy: see above

        settings = load_settings(home=home)
        registry, problems = build_verbs(settings, own_verbs(settings))
        catalog = build_catalog(settings, registry, shipped_kinds())
        return verb_views(catalog, problems, pack) if verb is None else verb_view(catalog, verb)

    address = "/verbs" if verb is None else f"/verbs/{path_part(verb)}"
    return served_or(home, address, here, {} if pack is None else {"pack": pack})
