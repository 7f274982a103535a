"""Verbs: loaders (YAML folders, Python functions), the registry and the executor of leaf verbs
behind `VerbPort`; `builtin/` ships some.

Imports `ports` and below, and of `runtime` how attempts are timed, and how requests are marked.
Never decides whether a call may run, never asks a model, holds nothing global.
"""

from __future__ import annotations

from ordain.verbs.executor import LeafExecutor
from ordain.verbs.folder import VerbFolder, load_folder
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, bind, verb
from ordain.verbs.registry import Registry

__all__ = [
    "FunctionVerb",
    "LeafExecutor",
    "Registry",
    "VerbContext",
    "VerbError",
    "VerbFolder",
    "bind",
    "load_folder",
    "verb",
]
