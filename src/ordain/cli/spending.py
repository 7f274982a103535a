"""``ordain models cost``: what models came to, as the journal says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ordain.cli.connection import connect, in_workspace
from ordain.cli.exit_codes import OK
from ordain.cli.hints import in_folder
from ordain.cli.model_profiles import usd
from ordain.cli.output import moment, print_json, print_table, show
from ordain.cli.places import home_of
from ordain.contracts.nearest import did_you_mean
from ordain.errors import ConfigurationError
from ordain.runtime.spending import By

FAILURES = 3


def print_cost(data_dir: Path | None, days: int, by: str, workspace: str, *, as_json: bool) -> int:
    """What was spent in the last days.

    Raises:
        ConfigurationError: attempts are grouped by nothing of this name.
    """
    if by not in set(By):
        raise ConfigurationError(
            f"--by is one of {', '.join(By)}{did_you_mean(by, By)}", code="usage"
        )
    found = asyncio.run(_ask(home_of(data_dir), {"days": days, "by": by}, workspace))
    if as_json:
        print_json(found)
        return OK
    show(
        f"workspace {found['workspace']}, {moment(found['since'])} to "
        f"{moment(found['until'])} (UTC)"
    )
    if not found["complete"]:
        show(
            "the journal holds more runs than are read in one go: only what began after "
            f"{moment(found['since'])} is counted"
        )
    rows = [_row(group["key"] or "-", group) for group in found["groups"]]
    print_table(
        (by, "attempts", "failed", "tokens in", "tokens out", "booked", "cost", "answered by"),
        [*rows, _row("total", found["total"])],
    )
    if failures := found["total"]["failures"]:
        most = sorted(failures.items(), key=lambda item: (-item[1], item[0]))[:FAILURES]
        told = ", ".join(f"{count} {code}" for code, count in most)
        show(f"failed: {told}{' and others' if len(failures) > FAILURES else ''}")
    if found["total"]["estimated"]:
        show(
            f"{found['total']['estimated']} attempts had no token counts of the provider's: "
            "theirs are estimated, a byte counted as a token"
        )
    if found["unreadable_runs"]:
        show(
            in_folder(
                f"{found['unreadable_runs']} runs cannot be read, and are not in these sums; see "
                "ordain replay --all"
            )
        )
    if found["erased_attempts"]:
        show(f"{found['erased_attempts']} attempts were erased, and are not in these sums")
    return OK


def _row(key: str, one: dict[str, Any]) -> tuple[object, ...]:
    money = usd(one["usd_micros"]) if one["usd_micros"] else "-"  # no price is no cost of nothing
    return (
        key,
        one["attempts"],
        one["failed"],
        one["input_tokens"],
        one["output_tokens"],
        one["tokens"],
        money,
        ", ".join(one["models"]),
    )


async def _ask(home: Path, asked: dict[str, Any], workspace: str) -> Any:
    async with connect(home, drive=False) as connection:
        return await connection.ask(
            "GET", "/models/cost", params=asked, headers=in_workspace(workspace)
        )
