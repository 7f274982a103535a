"""What stands in the data folder's own files, as a catalog that is made anew when they have
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ordain.catalogs import DECLARED, build_catalog, build_verbs, own_verbs
from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.errors import ConfigurationError
from ordain.flows.kinds import Kinds
from ordain.ports.catalog_source import Built, CatalogProblem, CatalogSource
from ordain.ports.library import Library
from ordain.ports.model import ModelPort
from ordain.runtime.reloader import problem_of
from ordain.settings import Settings
from ordain.settings_change import SettingsChange, stamps_of
from ordain.verbs.confirmed import FILE as CONFIRMED
from ordain.verbs.functions import FunctionVerb
from ordain.verbs.own_verbs import files_of
from ordain.verbs.registry import Registry
from ordain.verbs.yaml_folder import SUFFIXES as YAML_SUFFIXES
from ordain.wording.wording import wording_of
from ordain.wording_files import SUFFIXES


class TakesUp(Protocol):
    """Whoever has the settings, and takes up what was read."""

    settings: Settings
    kinds: Kinds
    agents: tuple[AgentCard, ...]

    def read_anew(self) -> SettingsChange:
        """See ``Ordain.read_anew``."""
        ...

    def models_for(self, settings: Settings) -> Mapping[str, ModelPort]:
        """See ``Ordain.models_for``."""
        ...

    def use(self, registry: Registry, catalog: Catalog) -> None:
        """See ``Ordain.use``."""
        ...

    def use_settings(self, settings: Settings, models: Mapping[str, ModelPort]) -> None:
        """See ``Ordain.use_settings``."""
        ...


class DeclaredFiles(CatalogSource):
    """The catalog of an ``Ordain``, made anew from its folders of verbs, wording, workflows, cards
    and seats.
    """

    def __init__(
        self,
        ordain: TakesUp,
        more: Sequence[FunctionVerb[..., Any]],
        library: Callable[[], Library],
    ) -> None:
        """For this Ordain, with ``more`` verbs of an embedder's; ``library`` is what those of the
        library are for.
        """
        self._ordain, self._more, self._library = ordain, more, library
        self._own = own_verbs(ordain.settings)
        self.listening = self._own.http.own

    def fingerprint(self) -> object:
        """Of all these folders, and of what is confirmed."""
        home = self._ordain.settings.home
        declared = [files_of(home / name, YAML_SUFFIXES) for name in DECLARED]
        settings = stamps_of(self._ordain.settings.files)
        return (
            self._own.fingerprint(),
            files_of(home / "wording", SUFFIXES),
            declared,
            files_of(home, (CONFIRMED,)),
            settings,
        )

    def close(self) -> None:
        """The modules of Python verbs go."""
        self._own.files.forget_others([])

    def build(self) -> Built:
        """From the folders and the settings as they are now."""
        change = self._ordain.read_anew()
        models = self._ordain.models_for(change.settings)
        registry, catalog, problems = self.read(change.settings, strict=True)
        wording_of(catalog)  # compiled here, and not by the first message

        def install() -> None:
            self._ordain.use(registry, catalog)
            self._ordain.use_settings(change.settings, models)

        return Built(catalog=catalog, install=install, problems=(*problems, *change.problems))

    def read(
        self, settings: Settings, *, strict: bool
    ) -> tuple[Registry, Catalog, tuple[CatalogProblem, ...]]:
        """As ``build``, not to be installed yet; unless ``strict``, without the cards and seats
        that cannot be used, which are told. The wording is compiled by who is talked to: nothing
        else reads it.
        """
        ordain = self._ordain
        registry, problems = build_verbs(
            settings, self._own, self._more, self._library, strict=strict
        )
        left_out: list[ConfigurationError] | None = None if strict else []
        catalog = build_catalog(settings, registry, ordain.kinds, ordain.agents, left_out)
        return registry, catalog, (*problems, *map(problem_of, left_out or ()))
