"""What of changed settings a running Ordain takes up, and what waits for its next start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from ordain.contracts.hosted import check_named
from ordain.models.providers import build_models
from ordain.ports.catalog_source import CatalogProblem
from ordain.ports.model import ModelPort
from ordain.settings import Settings

TAKEN_UP = frozenset(
    {
        "home",
        "files",
        "policy",
        "profiles",
        "secrets",
        "assistant",
        "workflows",
        "mail",
        "mail_password",
        "node",
    }
)
"""Fields of the settings that the catalog and the models are made of anew; all others were used up
when this process started.
"""
STARTED_POLICY = ("memory",)
"""Tables of the policy that are used at the start as well: they wait with it, or one half would go
by another than the other.
"""
SPELLED = {"verb_secrets": "verbs.secrets"}
LATER_S = 1.0


class SettingsChange(Struct, frozen=True, kw_only=True):
    """Settings as they hold from now on, and the tables in the files that wait for the next
    start.
    """

    settings: Settings
    waiting: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[CatalogProblem, ...]:
        """What an operator is told of it."""
        if not self.waiting:
            return ()
        tables = ", ".join(f"[{table}]" for table in self.waiting)
        message = (
            f"{tables} of the settings: what has changed there holds when this is started again"
        )
        return (CatalogProblem(code="needs_restart", message=message, warning=True),)


def change_of(started: Settings, read: Settings) -> SettingsChange:
    """What is taken up of settings that were read while those it was ``started`` with are in
    use.
    """
    waiting = [
        name
        for name in Settings.model_fields
        if name not in TAKEN_UP and getattr(read, name) != getattr(started, name)
    ]
    kept = {name: getattr(started, name) for name in waiting}
    policy = read.policy
    for table in STARTED_POLICY:
        if (before := getattr(started.policy, table)) != getattr(policy, table):
            waiting.append(f"policy: {table}")
            policy = policy.model_copy(update={table: before})
    named = dict.fromkeys(SPELLED.get(name, name) for name in waiting)
    return SettingsChange(
        settings=read.model_copy(update={**kept, "policy": policy}), waiting=tuple(named)
    )


def models_of(
    settings: Settings,
    purposes: Iterable[str],
    before: tuple[Settings, Mapping[str, ModelPort]] | None = None,
) -> Mapping[str, ModelPort]:
    """The adapters behind the profiles; those of ``before`` stay where their profile and key are
    the same.

    Raises:
        ConfigurationError: a profile lacks what its provider needs, or a lane's model was named by
            nobody.
    """
    check_named(settings.profiles, settings.asked)
    built = build_models(settings.profiles, settings.secrets, settings.home, frozenset(purposes))
    if before is None:
        return built
    old, models = before
    return {
        name: models[name] if name in models and _same(old, settings, name) else model
        for name, model in built.items()
    }


def _same(old: Settings, new: Settings, name: str) -> bool:
    return old.profiles.get(name) == new.profiles[name] and old.secrets.get(
        name
    ) == new.secrets.get(name)


def spent_after_s(settings: Settings) -> float:
    """By when every attempt has ended that was under way at a model that is no longer asked."""
    return (
        max((profile.timeout_ms for profile in settings.profiles.values()), default=0) / 1000
        + LATER_S
    )


def stamps_of(files: Iterable[Path]) -> object:
    """Identity, time and size of each of these files; None of one that is not there."""
    return tuple(_stamp(file) for file in files)


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
