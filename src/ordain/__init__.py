"""Ordain: models propose, code ordains. A runtime for chat assistants, multi-agent work and
autonomous agents.

The public surface is ``__all__``; the names are loaded when first used, so that importing the
package is cheap.
"""

# The names of __all__ are loaded lazily below; their types stand in __init__.pyi.
# pyright: reportUnsupportedDunderAll=false

from __future__ import annotations

from importlib import import_module

__all__ = [
    "Agent",
    "CallResult",
    "DeliberationResult",
    "FunctionVerb",
    "Ordain",
    "OrdainError",
    "PlanResult",
    "VerbContext",
    "VerbError",
    "__version__",
    "tune_collector",
    "verb",
]
__version__ = "0.1.0"

_HOMES = {
    "Agent": "ordain.contracts.cards",
    "CallResult": "ordain.contracts.results",
    "DeliberationResult": "ordain.contracts.results",
    "FunctionVerb": "ordain.verbs",
    "Ordain": "ordain.app",
    "OrdainError": "ordain.errors",
    "PlanResult": "ordain.contracts.results",
    "VerbContext": "ordain.verbs",
    "VerbError": "ordain.verbs",
    "tune_collector": "ordain.collector",
    "verb": "ordain.verbs",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ordain' has no attribute {name!r}")
    return getattr(import_module(home), name)
