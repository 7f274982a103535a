"""What code, files and settings make together: the verbs, and the catalog that runs pin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ordain.contracts.catalog import Catalog, CatalogData
from ordain.flows.kinds import Kinds
from ordain.ports.catalog_source import CatalogProblem
from ordain.ports.library import Library
from ordain.prompts.packaged import packaged_templates
from ordain.prompts.renderer import check_template
from ordain.runtime.reloader import problem_of
from ordain.settings import Settings
from ordain.verbs.builtin.library_verbs import no_library
from ordain.verbs.builtin.shipped import builtin_registry
from ordain.verbs.functions import FunctionVerb
from ordain.verbs.http_verb import HttpAccess, Secret
from ordain.verbs.own_verbs import OwnVerbs
from ordain.verbs.registry import Registry
from ordain.wording.engines import NEWEST
from ordain.wording.languages import (
    FILE_BYTES,
    SUFFIX,
    Language,
    check_phrases,
    check_sizes,
    read_language,
    table_with,
    wrong_file,
)

__all__ = ["build_catalog", "build_registry", "build_verbs", "own_verbs", "read_file", "read_folder", "shipped_registry", "wording_files"]

FILES_MAX: Final = 64
"""Most files of phrases in a folder."""
SUFFIXES: Final = (SUFFIX, ".yaml", ".yml")
"""What is looked at in a folder: a file of phrases, and what somebody may have meant as one."""


def build_registry(
    settings: Settings, more: Sequence[FunctionVerb[..., Any]] = (), library: Callable[[], Library] = no_library
) -> Registry:
    """The shipped verbs, those of ``$ORDAIN_HOME/verbs`` and an embedder's own; ``library`` is asked when a verb needs it."""
    return build_verbs(settings, own_verbs(settings), more, library)[0]


def build_verbs(
    settings: Settings,
    own: OwnVerbs,
    more: Sequence[FunctionVerb[..., Any]] = (),
    library: Callable[[], Library] = no_library,
    *,
    strict: bool = False,
) -> tuple[Registry, tuple[CatalogProblem, ...]]:
    """As ``build_registry``, and the Python files that were left out because they are broken or off; ``strict`` leaves no broken one out."""
    registry, left_out = own.added_to(shipped_registry(settings, library), more, strict=strict)
    return registry, tuple(problem_of(error) for error in left_out)


def shipped_registry(settings: Settings, library: Callable[[], Library] = no_library) -> Registry:
    """The shipped verbs, as the settings declare them."""
    root = settings.verbs.files_root
    return builtin_registry(
        files_root=None if root is None else (settings.home / root),
        urls=settings.verbs.urls,
        private_hosts=settings.verbs.private_hosts,
        max_depth=settings.policy.verbs.max_depth,
        library=library,
        playbooks=settings.home / "playbooks",
    )


def own_verbs(settings: Settings) -> OwnVerbs:
    """The operator's verbs folder, and what HTTP verbs are given."""
    secrets = {
        name: Secret(settings.verb_secrets.get(name, ""), frozenset(source.hosts)) for name, source in settings.verbs.secrets.items()
    }
    return OwnVerbs(settings.home / "verbs", HttpAccess(secrets=secrets), python=settings.verbs.python)


def build_catalog(settings: Settings, registry: Registry, kinds: Kinds) -> Catalog:
    """Policy, verbs, prompts, profiles and wording as one value; every template is compiled once here.

    Raises:
        ConfigurationError: a template or a file of ``$ORDAIN_HOME/wording`` cannot be used, or policy routes by a purpose that no kind of this build has.
    """
    kinds.check_policy(settings.policy)
    prompts = {**registry.templates, **packaged_templates(kinds.templates)}
    for source in prompts.values():
        check_template(source)
    table = table_with(read_folder(settings.home / "wording", checked=True))
    data = CatalogData(
        policy=settings.policy,
        verbs=dict(registry.specs),
        prompts=prompts,
        profiles=settings.profiles,
        node=settings.node,
        wording=f"{NEWEST}:{table.digest}",
    )
    return Catalog(data, {table.digest: table.encoded}.get)


def read_folder(folder: Path, *, checked: bool = False) -> tuple[Language, ...]:
    """Every file of a folder, by name; none where there is no such folder.

    ``checked`` is for what somebody else wrote: each phrase is looked at, and there may not be too many.

    Raises:
        ConfigurationError: a file cannot be used, or there are too many files, phrases or words.
    """
    found = tuple(read_file(file) for file in wording_files(folder))
    if checked:
        for language in found:
            check_phrases(language)
        check_sizes(str(folder), found)
    return found


def wording_files(folder: Path) -> Sequence[Path]:
    """What of a folder is meant as a file of phrases, by name.

    Raises:
        ConfigurationError: there are too many.
    """
    if not folder.is_dir():
        return ()
    found = sorted(entry for entry in folder.iterdir() if _counts(entry))
    if len(found) > FILES_MAX:
        raise wrong_file(str(folder), f"more than {FILES_MAX} files")
    return found


def read_file(file: Path) -> Language:
    """One file.

    Raises:
        ConfigurationError: it cannot be used.
    """
    if not file.name.endswith(SUFFIX):
        raise wrong_file(str(file), f"a file of phrases is named *{SUFFIX}")
    try:
        with file.open("rb") as opened:
            encoded: bytes = opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise wrong_file(str(file), error.strerror or "cannot be read") from None
    return read_language(str(file), encoded)


def _counts(entry: Path) -> bool:
    """Whether it is meant as a file of phrases: what an editor leaves behind, or notes beside, is not."""
    return not entry.name.startswith(".") and entry.name.endswith(SUFFIXES)
