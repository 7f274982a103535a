"""Laws of the floor that a verb's mechanism sets below its declaration."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ordain.contracts.access import TokenScope
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.floor import (
    STRICTNESS,
    at_least,
    floor_beyond,
    floor_of,
    holds_sensitive,
    raised,
    sensitive,
    stays_inside,
    why_raised,
)
from ordain.contracts.policy import Policy
from ordain.contracts.risk import RISK, RiskLevel
from ordain.contracts.verbs import TrustClass, VerbEffect, VerbSpec
from ordain.rules.authorize import AUTHORIZE, Allow, AuthorizeFacts, AuthorizeInputs
from tests.unit.rules.given import decided

POLICY = Policy(version=1)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROLES: dict[str, dict[str, Any]] = {
    "recipient": {},
    "target": {"resource": "item"},
    "amount": {"maximum": 5},
    "content": {},
    "label": {"allowed": ["a", "b"]},
    "select": {"fixed": "a"},
}
RISKS = list(RiskLevel)


def declaration(
    method: str = "POST",
    effect: str = "private",
    *,
    private: bool = False,
    roles: tuple[str, ...] = ("content",),
    **more: Any,
) -> VerbSpec:
    """An HTTP verb whose arguments have these roles; ``more`` of its request.

    Raises:
        ValidationError: no file could declare that.
    """
    names = [f"a{number}" for number in range(len(roles))]
    placed = "".join(f"/{{{name}}}" for name in names) if method in {"GET", "DELETE"} else "/x"
    return VerbSpec.model_validate(
        {
            "name": "crm.put",
            "description": "Do it.",
            "effect": VerbEffect(effect),
            "arguments": {
                name: {"role": role, **ROLES[role]} for name, role in zip(names, roles, strict=True)
            },
            "http": {
                "method": method,
                "url": f"https://crm.example{placed}",
                "hosts": ["crm.example"],
                "private": private,
                **more,
            },
            "input_schema": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in names},
                "required": names,
                "additionalProperties": False,
            },
        },
        strict=False,
    )


@st.composite
def declarations(draw: st.DrawFn) -> VerbSpec:
    """Whatever an HTTP file may declare."""
    roles = tuple(draw(st.lists(st.sampled_from(sorted(ROLES)), max_size=3)))
    method, effect, private = (
        draw(st.sampled_from(METHODS)),
        draw(st.sampled_from(list(VerbEffect))),
        draw(st.booleans()),
    )
    try:
        return declaration(method, effect, private=private, roles=roles)
    except ValidationError:
        assume(False)  # refused as before: it contradicts itself
        raise


def outcome(spec: VerbSpec, args: dict[str, Any], policy: Policy = POLICY) -> object:
    catalog = Catalog(CatalogData(policy=policy, verbs={spec.name: spec}))
    facts = AuthorizeFacts(
        verb=spec.name, call="d", in_scope=True, depth=0, verb_calls=0, cap_verb_calls=1
    )
    return decided(AUTHORIZE, facts, AuthorizeInputs(args=args, catalog=catalog), policy).outcome


values = st.dictionaries(
    st.sampled_from(["a0", "a1", "a2"]), st.sampled_from(["a", "b", "c", 1]), max_size=3
)


@given(declarations(), values)
@example(declaration("POST", "egress", roles=("label",)), {"a0": "a"})
def test_what_was_not_allowed_is_not_allowed_by_the_floor(
    spec: VerbSpec, args: dict[str, Any]
) -> None:
    """Raising an effect never turns a no into a yes, and never makes a verb less of a risk."""
    used = raised(spec)
    assert isinstance(outcome(spec, args), Allow) or not isinstance(outcome(used, args), Allow)
    assert RISKS.index(RISK[used.effect].risk_level) >= RISKS.index(RISK[spec.effect].risk_level)


@given(st.sampled_from(list(VerbEffect)), st.sampled_from(list(VerbEffect)), values)
def test_a_stricter_effect_allows_no_more(
    one: VerbEffect, other: VerbEffect, args: dict[str, Any]
) -> None:
    """Whatever stands around a verb may raise it to any effect: what is allowed then was allowed
    before.
    """
    arguments = {
        "a0": {"role": "recipient", "allowed": ["a", "b"]},
        "a1": {"role": "target", "resource": "item", "fixed": "a"},
    }
    schema = {"type": "object", "properties": {"a0": {}, "a1": {}}}
    fields = {
        "name": "do.it",
        "description": "Do it.",
        "effect": one,
        "arguments": arguments,
        "input_schema": schema,
    }
    loose = VerbSpec.model_validate(fields, strict=False)
    strict = at_least(loose, other)
    assert STRICTNESS[strict.effect] == max(STRICTNESS[one], STRICTNESS[other])
    assert isinstance(outcome(loose, args), Allow) or not isinstance(outcome(strict, args), Allow)


@given(declarations())
def test_nothing_is_used_below_its_floor(spec: VerbSpec) -> None:
    """A deletion is one wherever it goes; a write beyond a private host sends; what carries
    arguments out is no read, or it stays inside.
    """
    used = raised(spec)
    assert used.http is not None
    method, private = used.http.method, used.http.private
    assert STRICTNESS[used.effect] >= STRICTNESS[floor_of(spec)]
    assert method != "DELETE" or STRICTNESS[used.effect] >= STRICTNESS[VerbEffect.DELETE]
    assert (
        method not in {"POST", "PUT", "PATCH"}
        or private
        or STRICTNESS[used.effect] >= STRICTNESS[VerbEffect.SEND]
    )
    if STRICTNESS[used.effect] < STRICTNESS[floor_beyond(used)]:
        assert stays_inside(used)
    if used.effect is VerbEffect.READ and used.arguments:
        assert stays_inside(used)


@given(declarations())
def test_what_is_raised_is_kept_as_it_is(spec: VerbSpec) -> None:
    """Raised again it is the same; a catalog that holds it reads back equal, though its roles are
    those of the milder effect.
    """
    used = raised(spec)
    assert raised(used) == used
    assert used.written_effect is spec.effect
    assert bool(why_raised(used)) == (used.effect is not spec.effect)
    catalog = Catalog(CatalogData(policy=POLICY, verbs={used.name: used}))
    assert Catalog.from_bytes(catalog.encoded).verbs[used.name].spec == used


@pytest.mark.parametrize(
    ("method", "effect", "private", "used"),
    [
        ("GET", "read", True, "read"),
        ("GET", "read", False, "egress"),
        ("GET", "egress", False, "egress"),
        ("POST", "egress", False, "send"),
        ("POST", "private", False, "send"),
        ("PUT", "private", False, "send"),
        ("PATCH", "private", False, "send"),
        ("PATCH", "admin", False, "admin"),
        ("PUT", "private", True, "private"),
        ("POST", "egress", True, "egress"),
        ("DELETE", "private", True, "delete"),
        ("DELETE", "private", False, "delete"),
    ],
)
def test_what_a_declaration_is_used_at(method: str, effect: str, private: bool, used: str) -> None:
    """The table, row by row."""
    spec = raised(declaration(method, effect, private=private))
    assert spec.effect == used
    assert (spec.declared_effect is None) == (effect == used)


@pytest.mark.parametrize("place", ["headers", "query"])
@pytest.mark.parametrize(
    "name",
    [
        "X-HTTP-Method-Override",
        "x_http_method",
        "X-METHOD-Override",
        "_method",
        "_HttpMethod",
        "X-HTTP-Method",
    ],
)
@pytest.mark.parametrize(
    ("value", "private", "used"),
    [
        ("{a0}", True, "delete"),
        ("{a0}", False, "delete"),
        (" delete", True, "delete"),
        ("PURGE", True, "delete"),
        ({"secret": "METHOD"}, True, "delete"),
        ("PUT", True, "private"),
        ("patch", False, "send"),
        ("POST", False, "send"),
        ("GET", True, "read"),
        ("head", False, "egress"),
    ],
)
def test_a_request_counts_as_the_strictest_method_that_it_may_name(
    place: str, name: str, value: object, private: bool, used: str
) -> None:
    """A GET whose header or parameter lets the server do something else is what that would be,
    fixed or free, however the name is written.
    """
    spec = raised(declaration("GET", "read", private=private, **{place: {name: value}}))
    assert spec.effect == used
    assert (name in why_raised(spec)) == (used not in {"read", "egress"})


@pytest.mark.parametrize(
    ("method", "more", "private", "used"),
    [
        ("POST", {"headers": {"X-HTTP-Method-Override": "DELETE"}}, True, "delete"),
        ("POST", {"headers": {"X-HTTP-Method-Override": "GET"}}, False, "send"),
        ("PUT", {"idempotency_header": "X-Method-Override"}, True, "delete"),
        ("DELETE", {"headers": {"X-HTTP-Method-Override": "GET"}}, True, "delete"),
        ("PUT", {"query": {"method": "{a0}"}, "headers": {"X-Methods": "DELETE"}}, True, "private"),
    ],
)
def test_no_name_of_another_method_makes_less_of_a_request(
    method: str, more: dict[str, Any], private: bool, used: str
) -> None:
    """What is named counts where it is stricter; what no server reads so, as a parameter
    ``method``, does not.
    """
    assert (
        raised(
            declaration(
                method,
                "private" if method != "DELETE" else "delete",
                private=private,
                roles=("target",),
                **more,
            )
        ).effect
        == used
    )


def test_an_argument_in_the_body_may_name_the_method() -> None:
    """Frameworks read a field ``_method`` of what is posted."""
    spec = declaration("POST", "private", private=True)
    schema = {**spec.input_schema, "properties": {"_method": {"type": "string"}}, "required": []}
    posted = spec.model_copy(update={"input_schema": schema, "arguments": {}})
    assert raised(posted).effect is VerbEffect.DELETE
    assert "_method" in why_raised(raised(posted))


def test_a_get_that_names_another_method_may_declare_what_it_does() -> None:
    """Its effect and its key for repeats are those of what it becomes; a plain GET has neither."""
    more = {
        "headers": {"X-HTTP-Method-Override": "DELETE"},
        "idempotency_header": "Idempotency-Key",
    }
    assert declaration("GET", "delete", roles=("target",), **more).effect is VerbEffect.DELETE
    with pytest.raises(ValidationError, match="GET changes nothing"):
        declaration("GET", "delete", roles=("target",))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "files.list"},
        {"name": "recall.mine"},
        {"name": "secrets.get"},
        {"name": "notes", "scopes": [TokenScope.MEMORY]},
        {"name": "notes", "recall_profile": "deep"},
    ],
)
def test_what_comes_from_files_memory_and_secrets_is_sensitive(changes: dict[str, Any]) -> None:
    """An operator's own verb of that kind cannot say otherwise of any field, nor by keeping silent;
    a native one says it itself.
    """
    spec = declaration("GET", "read", private=True).model_copy(update=changes)
    fields = VerbSpec.model_validate(
        {
            **spec.model_dump(),
            "trust_class": "skill",
            "output_schema": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "size": {"type": "integer"}},
            },
            "output": {"text": {"trust": "system", "sensitive": False}},
        },
        strict=False,
    )
    used = raised(fields)
    assert holds_sensitive(fields)
    assert {name: field.sensitive for name, field in used.output.items()} == {
        "text": True,
        "size": True,
    }
    assert used.output["text"].trust == "system"
    assert sensitive(used, "text")
    assert sensitive(used, "what the schema does not name")
    assert not sensitive(
        raised(fields.model_copy(update={"trust_class": TrustClass.NATIVE})), "text"
    )
