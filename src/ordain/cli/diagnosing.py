"""``ordain doctor``: what the configured models' endpoints really do."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE
from ordain.cli.output import print_json
from ordain.cli.places import home_of
from ordain.models.doctor import DoctorReport, examine
from ordain.models.providers import build_models
from ordain.settings import Settings, load_settings


def examine_models(data_dir: Path | None, *, as_json: bool) -> int:
    """Ask every profile once; an endpoint that is not reached is exit code 3, one that cannot be used as configured 1."""
    settings = load_settings(home=home_of(data_dir))
    reports = asyncio.run(_examine(settings))
    if as_json:
        print_json({"home": str(settings.home), "profiles": [report.as_dict() for report in reports]})
    else:
        print(f"home: {settings.home}")
        for report in reports:
            print("\n" + "\n".join(report.lines()))
    if not all(report.reachable for report in reports):
        return UNAVAILABLE
    return OK if all(report.ok for report in reports) else FAILED


async def _examine(settings: Settings) -> list[DoctorReport]:
    models = build_models(settings.profiles, settings.secrets)
    try:
        return [await examine(name, profile, models[name]) for name, profile in settings.profiles.items()]
    finally:
        for model in set(models.values()):
            await model.close()
