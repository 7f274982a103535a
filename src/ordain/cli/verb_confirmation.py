"""``ordain verbs confirm``: an operator says that verbs are what their files declare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ordain.catalogs import build_verbs, own_verbs
from ordain.cli.exit_codes import OK
from ordain.cli.output import print_json, show
from ordain.cli.person import operator
from ordain.cli.places import home_of
from ordain.contracts.nearest import no_such
from ordain.errors import CallerError, NotFound
from ordain.settings import load_settings
from ordain.verbs.confirmed import FILE, Confirmation, read_confirmed, write_confirmed
from ordain.verbs.registry import Registry


def confirm(data_dir: Path | None, names: Sequence[str], *, every: bool, as_json: bool) -> int:
    """Confirm the declarations of verbs as they stand in the folder now; a running server takes it
    up by itself.

    Raises:
        CallerError: neither verbs are named nor all of them.
        NotFound: there is no such verb.
        ConfigurationError: a verb cannot be loaded, or the file of confirmations is not to be used.
    """
    if every is bool(names):
        raise CallerError(
            "name the verbs that you have looked at, or say --all", code="invalid_request"
        )
    home = home_of(data_dir)
    settings = load_settings(home=home)
    confirmed = dict(read_confirmed(home / FILE))
    registry, _ = build_verbs(settings, own_verbs(settings))
    asked = registry.unconfirmed if every else tuple(dict.fromkeys(names))
    if unknown := [name for name in asked if name not in registry.specs]:
        raise NotFound(no_such("verb", unknown[0], registry.specs), code="unknown_verb")
    open_ones = [name for name in asked if name in registry.unconfirmed]
    by, at = operator(), datetime.now(UTC).isoformat(timespec="seconds")
    confirmed |= {
        name: Confirmation(digest=registry.declarations[name], by=by, at=at) for name in open_ones
    }
    if open_ones:
        write_confirmed(home / FILE, confirmed)
    _tell(registry, asked, open_ones, as_json=as_json)
    return OK


def _tell(registry: Registry, asked: Sequence[str], done: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "confirmed": {name: registry.declarations[name] for name in done},
                "already": [one for one in asked if one not in done],
            }
        )
        return
    for name in done:
        show(
            f"confirmed: {name}, effect {registry.specs[name].effect} "
            f"({registry.declarations[name][:12]})"
        )
    for name in asked:
        if name not in done:
            show(
                f"{name} counts as confirmed: it "
                f"{'is so already' if name in registry.declarations else 'is shipped'}"
            )
    if not asked:
        show("nothing is unconfirmed")
