"""What every reason code means, in the words of the rule that brings it."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from ordain import rules
from ordain.rules.reasons import Reason


@cache
def meanings() -> Mapping[str, str]:
    """Every reason of this build, by code. Reads each module of the rules: for whoever shows
    reasons, not for the way in.
    """
    for module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
    return MappingProxyType(
        {reason.value: reason.meaning for family in _families(Reason) for reason in family}
    )


def _families(kind: type[Reason]) -> list[type[Reason]]:
    return [one for below in kind.__subclasses__() for one in (below, *_families(below))]
