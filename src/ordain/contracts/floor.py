"""What a verb may be taken for at the least, whatever its declaration says (security policy, "The
mechanism sets a floor"). Pure tables.

A request is known by its method, or by a stricter one that it may name in its stead
(``HttpCall.counts_as``), by where it may go and by whether it carries arguments. What stays inside
is exempt from what is said of sending: a verb whose host is declared private, and whose declaration
is below what the open network would demand, reaches private addresses alone (``stays_inside``).
Code cannot be looked through: a function is what it declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ordain.contracts.access import TokenScope
from ordain.contracts.http_call import HttpCall, HttpMethod
from ordain.contracts.verbs import (
    Category,
    OutputField,
    TrustClass,
    VerbEffect,
    VerbSpec,
    properties_of,
)

STRICTNESS: Mapping[VerbEffect, int] = MappingProxyType(
    {
        VerbEffect.READ: 0,
        VerbEffect.PRIVATE: 1,
        VerbEffect.EGRESS: 2,
        VerbEffect.SEND: 3,
        VerbEffect.ADMIN: 3,
        VerbEffect.PAY: 4,
        VerbEffect.DELETE: 4,
        VerbEffect.SECRET: 4,
    }
)
"""How much a call of each effect asks for before it may run, as rule ``authorize`` has it; a
stricter effect never allows what a looser one does not.
"""

_BEYOND: Mapping[HttpMethod, VerbEffect] = MappingProxyType(
    {
        HttpMethod.GET: VerbEffect.EGRESS,
        HttpMethod.POST: VerbEffect.SEND,
        HttpMethod.PUT: VerbEffect.SEND,
        HttpMethod.PATCH: VerbEffect.SEND,
        HttpMethod.DELETE: VerbEffect.DELETE,
    }
)
"""The least effect of a request to anywhere. A GET without arguments is a read."""

_INSIDE: Mapping[HttpMethod, VerbEffect] = MappingProxyType({HttpMethod.DELETE: VerbEffect.DELETE})
"""The least effect of a request to a declared private host: that of a deletion. What is sent there
has not left.

One that names another method in its own's stead writes; a file whose own method does and that calls
itself a read is refused before it comes here.
"""

_SENSITIVE_FAMILIES = frozenset({"files", "recall", "secrets"})
_SENSITIVE_EFFECTS = frozenset({VerbEffect.SECRET})


def floor_beyond(spec: VerbSpec) -> VerbEffect:
    """The least effect of a verb's mechanism where its host is not private."""
    method = _method(spec)
    if method is None or (method is HttpMethod.GET and not properties_of(spec.input_schema)):
        return VerbEffect.READ
    return _BEYOND[method]


def _method(spec: VerbSpec) -> HttpMethod | None:
    return None if spec.http is None else spec.http.counts_as(spec.input_schema)


def floor_of(spec: VerbSpec) -> VerbEffect:
    """The least effect of a verb's mechanism."""
    method = _method(spec)
    if spec.http is not None and spec.http.private and method is not None:
        return _INSIDE.get(
            method, VerbEffect.READ if method is spec.http.method else VerbEffect.PRIVATE
        )
    return floor_beyond(spec)


def stays_inside(spec: VerbSpec) -> bool:
    """Whether the verb's request may go to private addresses alone: it declares a private host, and
    less than would be asked of it elsewhere.
    """
    if spec.http is None or not spec.http.private:
        return False
    return (
        spec.effect is VerbEffect.READ or STRICTNESS[spec.effect] < STRICTNESS[floor_beyond(spec)]
    )


def at_least(spec: VerbSpec, floor: VerbEffect) -> VerbSpec:
    """The verb at its own effect, or at ``floor`` where that is stricter; it then keeps what it
    declared.
    """
    if STRICTNESS[spec.effect] >= STRICTNESS[floor]:
        return spec
    return spec.model_copy(update={"effect": floor, "declared_effect": spec.written_effect})


def raised(spec: VerbSpec) -> VerbSpec:
    """The verb as it is used: nowhere below its mechanism's floor. What is native says itself which
    of its fields are sensitive.
    """
    spec = at_least(spec, floor_of(spec))
    if spec.trust_class is TrustClass.NATIVE or not holds_sensitive(spec):
        return spec
    names = spec.output.keys() | properties_of(spec.output_schema).keys()
    declared = {name: spec.output.get(name, OutputField()) for name in sorted(names)}
    output = {
        name: field if field.sensitive else field.model_copy(update={"sensitive": True})
        for name, field in declared.items()
    }
    return spec if output == spec.output else spec.model_copy(update={"output": output})


def holds_sensitive(spec: VerbSpec) -> bool:
    """Whether what a verb gives is sensitive by its mechanism: files, what is remembered,
    secrets.
    """
    return (
        spec.name.partition(".")[0] in _SENSITIVE_FAMILIES
        or spec.effect in _SENSITIVE_EFFECTS
        or spec.category is Category.MEMORY_ACCESS
        or TokenScope.MEMORY in spec.scopes
        or spec.recall_profile is not None
    )


def sensitive(spec: VerbSpec, field: str) -> bool:
    """Whether an output field must not leave; one that the verb does not declare counts by the
    verb's mechanism.
    """
    declared = spec.output.get(field)
    return holds_sensitive(spec) if declared is None else declared.sensitive


def why_raised(spec: VerbSpec) -> str:
    """In words, why the verb is used at a stricter effect than it declares; "" where it is not."""
    if spec.declared_effect is None:
        return ""
    what = (
        "what it writes other users can read"
        if spec.http is None
        else f"{_request(spec.http, spec)} is at least {floor_of(spec)}{_where(spec)}"
    )
    return (
        f"{what}: effect {spec.effect}, not {spec.declared_effect}; "
        f"{_ASKS[STRICTNESS[spec.effect]]}"
    )


def _request(http: HttpCall, spec: VerbSpec) -> str:
    override, counted = http.override(spec.input_schema), http.counts_as(spec.input_schema)
    return (
        http.method
        if override is None or counted is http.method
        else f"{http.method} that {override[0]} may make a {counted}"
    )


def _where(spec: VerbSpec) -> str:
    inside = spec.http is not None and spec.http.private
    return "" if inside or _method(spec) is HttpMethod.DELETE else " beyond a private host"


_ASKS = {
    1: "every call is a write",
    2: "a call with an argument that is not listed needs an approval",
    3: "every call needs an approval",
    4: "every call needs an approval",
}
