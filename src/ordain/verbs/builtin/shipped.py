"""The shipped prompt plans, and the verbs that are flows: YAML beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ordain.verbs.folder import VerbFolder, load_folder


@cache
def prompt_plans() -> VerbFolder:
    """The prompt plans beside this file, and the verbs that are flows; read once, they are part of the build."""
    return load_folder(Path(__file__).parent, shipped=True)
