"""``ordain doctor``: whether the policy routes as its own probes say, and what the configured models' endpoints really do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ordain.app import shipped_kinds
from ordain.catalogs import build_catalog, build_registry
from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.models.doctor import DoctorReport, examine
from ordain.models.providers import build_models
from ordain.runtime.probes import Probed, run_probes
from ordain.runtime.seal import Seal
from ordain.settings import Settings, load_settings, read_policy


def diagnose(data_dir: Path | None, policy: Path | None, *, only_probes: bool, as_json: bool) -> int:
    """The policy's routing probes first; where they hold, every profile is asked once.

    A probe that does not hold is exit code 1, an endpoint that is not reached 3, one that cannot be used as configured 1.

    Raises:
        ConfigurationError: settings or policy are wrong, or a probe expects what no policy can give.
    """
    settings = load_settings(home=home_of(data_dir))
    if policy is not None:
        settings = settings.model_copy(update={"policy": read_policy(policy)})
    probed = run_probes(
        kinds := shipped_kinds(),
        build_catalog(settings, build_registry(settings), kinds),
        f"the policy of {settings.home}" if policy is None else str(policy),
    )
    hold = all(probe.holds for probe in probed)
    reports = asyncio.run(_examine(settings)) if hold and not only_probes else []
    seal = Seal(settings.every_secret)  # an endpoint may say anything, its key too
    if as_json:
        probes = [{**asdict(probe), "holds": probe.holds} for probe in probed]
        print_json({"home": str(settings.home), "probes": probes, "profiles": [seal.value(report.as_dict()) for report in reports]})
    else:
        _print(settings, probed, [seal.text("\n".join(report.lines())) for report in reports])
    if not hold:
        return FAILED
    if not all(report.reachable for report in reports):
        return UNAVAILABLE
    return OK if all(report.ok for report in reports) else FAILED


def _print(settings: Settings, probed: Sequence[Probed], reports: Sequence[str]) -> None:
    show(f"home: {settings.home}")
    for probe in probed:
        if not probe.holds:
            show(probe.line())
    show(f"routing probes: {sum(probe.holds for probe in probed)} of {len(probed)} hold")
    for report in reports:
        show(f"\n{report}")


async def _examine(settings: Settings) -> list[DoctorReport]:
    models = build_models(settings.profiles, settings.secrets, settings.home)
    try:
        return [await examine(name, profile, models[name]) for name, profile in settings.profiles.items()]
    finally:
        for model in set(models.values()):
            await model.close()
