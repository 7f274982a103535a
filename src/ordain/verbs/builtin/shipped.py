"""The shipped prompt plans, and the verbs that are flows: YAML beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType

from ordain.contracts.verbs import VerbSpec
from ordain.verbs.folder import VerbFolder, templates_of
from ordain.verbs.shipped_file import read_shipped

PLANS = Path(__file__).parent


@cache
def prompt_plans() -> VerbFolder:
    """The prompt plans beside this file, and the verbs that are flows; read once, they are part of
    the build.

    Their templates are, too, and its tests look through them (``template_errors``): they are
    compiled when they are first used.
    """
    specs = read_shipped(PLANS, VerbSpec)
    named = {template for spec in specs.values() for template in templates_of(spec)}
    return VerbFolder(
        specs=specs,
        templates=MappingProxyType(
            {name: (PLANS / name).read_text(encoding="utf-8") for name in sorted(named)}
        ),
        origins=MappingProxyType({name: str(PLANS / f"{name}.yaml") for name in specs}),
    )
