"""Catalogs for tests: the shipped policy with single values changed, a scripted model behind every
lane, and the verbs that a test needs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verbs import VerbSpec
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.prompts.packaged import packaged_templates

PolicyTables = Mapping[str, Mapping[str, Any]]
"""Values of policy by table: ``{"step": {"reask": 0}}``; what is not named stays."""
SCRIPTED = ModelProfile(provider="scripted", model="scripted")


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Any]:
    return tomllib.loads(files("ordain").joinpath("policy.toml").read_text(encoding="utf-8"))


def shipped_policy(changes: PolicyTables | None = None) -> Policy:
    """The shipped policy with a scripted model behind every lane, and single values changed.

    Raises:
        ValidationError: there is no such value.
    """
    lanes = {**_shipped()["lanes"], "profiles": {str(lane): ["default"] for lane in Lane}}
    return _changed({**_shipped(), "lanes": lanes}, changes or {})


def catalog_of(
    *kinds: Kind[Any, Any],
    policy: PolicyTables | None = None,
    verbs: Iterable[VerbSpec] = (),
    profiles: Mapping[str, ModelProfile] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Catalog:
    """A catalog of these verbs with the templates that the kinds bring; ``prompts`` are further
    templates, by name.

    Raises:
        ConfigurationError: a schema is none, or policy routes by a purpose that none of the kinds
            has.
        ValidationError: ``policy`` names what there is not.
    """
    own = Kinds(kinds)
    data = CatalogData(
        policy=shipped_policy(policy),
        verbs={spec.name: spec for spec in verbs},
        prompts={**packaged_templates(own.templates), **(prompts or {})},
        profiles={"default": SCRIPTED, **(profiles or {})},
    )
    own.check_policy(data.policy)
    return Catalog(data)


def with_policy(catalog: Catalog, changes: PolicyTables) -> Catalog:
    """The same catalog under a policy with single values changed.

    Raises:
        ValidationError: there is no such value.
    """
    return catalog.changed(policy=_changed(catalog.policy.model_dump(mode="json"), changes))


def _changed(tables: Mapping[str, Any], changes: PolicyTables) -> Policy:
    merged = {
        **tables,
        **{table: {**tables.get(table, {}), **values} for table, values in changes.items()},
    }
    return Policy.model_validate(merged, strict=False)
