"""``ordain cards new``: a complete card as a beginning, in the data folder's ``cards/``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ordain.cli.cards import readable_cards
from ordain.cli.exit_codes import OK
from ordain.cli.hints import in_folder
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.contracts.cards import AGENT_VERB, CARD_NAME, DOMAIN, AgentCard, card_faults
from ordain.errors import CallerError, Conflict
from ordain.verbs.cards.folder import CARDS


def write_card(data_dir: Path | None, name: str, domain: str | None, *, as_json: bool) -> int:
    """Write the file of a new card; prints what to do next.

    Raises:
        CallerError: the name or the domain is none, or none that a card beside these may have.
        Conflict: the name is a shipped card's, or the file is there already.
    """
    domain = domain or name.removesuffix("_agent")
    for what, said, pattern in (("agent's name", name, CARD_NAME), ("domain", domain, DOMAIN)):
        if not re.fullmatch(pattern.removesuffix("$"), said):
            raise CallerError(
                f"{said[:100]!r} is no {what}: a lower-case letter, then lower-case letters, "
                "digits and _",
                code="invalid_name",
            )
    if name in CARDS.shipped():
        raise Conflict(CARDS.taken(name, "shipped"), code="file_exists")
    folder = home_of(data_dir) / CARDS.name
    file = folder / f"{name}.yaml"
    if os.path.lexists(file):
        raise Conflict(f"{file} is there already; nothing was written", code="file_exists")
    beside = {**CARDS.shipped(), **readable_cards(CARDS.files(folder))}
    known = [*card_faults(beside)]
    for found in card_faults({**beside, name: AgentCard(name=name, domain=domain)}):
        if found not in known:
            raise CallerError(f"{found[1][1]}; nothing was written", code="invalid_name")
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(_card(name, domain))
    following = [in_folder(f"ordain cards {what} {name}") for what in ("lint", "show")]
    if as_json:
        print_json({"card": name, "files": [str(file)], "next": following})
        return OK
    show(
        f"wrote {file}\nChange it into yours, then:\n  "
        + "\n  ".join(following)
        + "\nA running server takes it up by itself."
    )
    return OK


def _card(name: str, domain: str) -> str:
    return f"""\
# An agent: whom a planner may hand work to, by the verb {AGENT_VERB}{name}.
name: {name} # as the file is named
description: Reads a text and says what it states. # planners choose by this: say what it is for
domain: {domain} # what it owns; one card owns a domain
# The verbs that it works with. Without `allow` these are all that it may use.
tool_preference: [extract_facts, summarize_facts]
# Globs over verb ids, beside those: what it may use (`allow`), what it never may (`deny`), which wins.
deny: [mail.*]
fallback_agent: general_agent # who takes its place once where it fails
confidence_bias: 0.8 # told to the planner; it decides nothing
tool_first: optional # enforced: what it says counts only once a tool that was planned has succeeded
"""
