"""``ordain doctor``: whether the policy routes as its own probes say, and what the configured
models' endpoints really do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ordain.app import shipped_kinds
from ordain.catalogs import build_catalog, build_registry, mail_server
from ordain.cli.exit_codes import FAILED, OK, UNAVAILABLE
from ordain.cli.output import print_json, show, with_places
from ordain.cli.places import home_of
from ordain.contracts.hosted import check_named
from ordain.errors import Transient
from ordain.models.doctor import DoctorReport, examine
from ordain.models.embedding import MISSING, embedder_of
from ordain.models.providers import build_models
from ordain.runtime.probes import Probed, run_probes
from ordain.runtime.seal import Seal
from ordain.settings import Settings, load_settings, read_policy
from ordain.verbs.functions import VerbError
from ordain.verbs.own_addresses import OwnAddresses


def diagnose(
    data_dir: Path | None, policy: Path | None, *, only_probes: bool, as_json: bool
) -> int:
    """The policy's routing probes first; where they hold, every profile is asked once, and the mail
    server is greeted where there is one.

    A probe that does not hold is exit code 1, an endpoint or mail server that is not reached 3, one
    that cannot be used as configured 1.

    Raises:
        ConfigurationError: settings or policy are wrong, no model is named, or a probe expects what
            no policy can give.
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
    asking = hold and not only_probes
    if asking:
        check_named(settings.profiles, settings.profiles)
    reports = asyncio.run(_examine(settings)) if asking else []
    mail = asyncio.run(_greeted(settings)) if asking else None
    embedder = _embedder(settings) if asking else None
    seal = Seal(settings.every_secret)  # an endpoint may say anything, its key too
    if as_json:
        probes = [{**asdict(probe), "holds": probe.holds} for probe in probed]
        print_json(
            {
                "home": str(settings.home),
                "probes": probes,
                "profiles": [seal.value(report.as_dict()) for report in reports],
            }
            | ({} if mail is None else {"mail": asdict(mail)})
            | ({} if embedder is None else {"embedder": asdict(embedder)})
        )
    else:
        _print(
            settings,
            probed,
            [with_places(seal.text("\n".join(report.lines()))) for report in reports],
        )
        if mail is not None:
            show(f"\n{mail.line()}")
        if embedder is not None:
            show(f"\n{embedder.line()}")
    if not hold:
        return FAILED
    if (
        not all(report.reachable for report in reports)
        or (mail is not None and mail.later)
        or (embedder is not None and embedder.why)
    ):
        return UNAVAILABLE
    return (
        OK if all(report.ok for report in reports) and (mail is None or not mail.code) else FAILED
    )


@dataclass(frozen=True, slots=True)
class MailReport:
    """What became of a greeting: ``code`` "" is that mail would be taken; ``later``: it may be at
    another time. Without a ``server`` there is none.
    """

    server: str
    sender: str = ""
    code: str = ""
    message: str = ""
    later: bool = False

    def line(self) -> str:
        """For people."""
        if not self.server:
            return "mail: no server is configured ([mail] in ordain.toml), mail.send is inactive"
        return f"mail: {self.server}: " + (
            f"{self.message} [{self.code}]" if self.code else f"takes mail from {self.sender}"
        )


@dataclass(frozen=True, slots=True)
class EmbedderReport:
    """The endpoint whose vectors what is remembered is found by: its name where it answers, else
    ``why`` not.
    """

    place: str
    name: str = ""
    why: str = ""

    def line(self) -> str:
        """For people."""
        told = (
            f"no vectors: {self.why}"
            if self.why
            else f"answers, as {self.name}; what has vectors of another gets them anew by itself"
        )
        return f"embedder: {self.place}: {told}"


def _embedder(settings: Settings) -> EmbedderReport | None:
    """One text is embedded, where an endpoint is configured."""
    if settings.embedder is None:
        return None
    place = f"{settings.embedder.base_url} ({settings.embedder.model})"
    made = embedder_of(settings.embedder, settings.embedder_key)()
    if made is None:
        return EmbedderReport(place, why=MISSING)
    try:
        return EmbedderReport(place, name=made.name)
    except Transient as error:
        return EmbedderReport(place, why=error.message)


async def _greeted(settings: Settings) -> MailReport:
    """Connect, encrypt and log in as ``mail.send`` does; no mail is sent."""
    if settings.mail is None:
        return MailReport("")
    place = f"{settings.mail.host}:{settings.mail.port_used} ({settings.mail.security})"
    server = mail_server(settings, OwnAddresses())
    if server is None:
        return MailReport(
            place,
            settings.mail.sender,
            "secret_missing",
            "the password has no value here, mail.send is inactive",
        )
    from ordain.verbs.smtp import greet  # lazy: the SMTP client, where there is a server

    try:
        await greet(server, server.timeout_ms / 1000)
    except VerbError as error:
        return MailReport(place, server.sender, error.code, error.message, error.retryable)
    return MailReport(place, server.sender)


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
        return [
            await examine(name, profile, models[name])
            for name, profile in settings.profiles.items()
        ]
    finally:
        for model in set(models.values()):
            await model.close()
