"""What every reason code means, in the words of the rule that brings it; and what the codes of one
word mean, by which a call fails.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from ordain import rules
from ordain.contracts.failure_words import FAILURE_WORDS, RESULT_WORDS
from ordain.contracts.failures import CATEGORY
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.guardrail import GuardrailReason
from ordain.rules.handoff import HandingReason
from ordain.rules.reasons import Reason


@cache
def meanings() -> Mapping[str, str]:
    """Every reason of this build, by code. Reads each module of the rules: for whoever shows
    reasons, not for the way in.
    """
    for module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
    said = {reason.value: reason.meaning for family in _families(Reason) for reason in family}
    return MappingProxyType({**failure_meanings(), **said})


@cache
def failure_meanings() -> Mapping[str, str]:
    """The codes of one word, by which a call fails, or ends otherwise than well. Of one that was
    denied it is the end of the reason's code.
    """
    denials = {
        reason.value.rpartition(".")[2]: reason.meaning
        for family in (AuthorizeReason, HandingReason, GuardrailReason)
        for reason in family
        if reason.value.rpartition(".")[2] in CATEGORY
    }
    return MappingProxyType({**denials, **FAILURE_WORDS, **RESULT_WORDS})


def _families(kind: type[Reason]) -> list[type[Reason]]:
    return [one for below in kind.__subclasses__() for one in (below, *_families(below))]
