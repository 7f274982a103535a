"""Templates that come with code, from the ``templates`` folder of a package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

__all__ = ["packaged_templates"]


def packaged_templates(packages: Mapping[str, str]) -> dict[str, str]:
    """The source of each template, by its name; ``packages`` says which package has it, as
    ``Kinds.templates`` does.
    """
    return {
        name: files(package)
        .joinpath("templates")
        .joinpath(f"{name}.j2")
        .read_text(encoding="utf-8")
        for name, package in packages.items()
    }
