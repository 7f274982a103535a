"""Which addresses and paths a bound lets through: what every reader takes for the same, and nothing
in which somebody finds another host or place.
"""

from __future__ import annotations

import pytest

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.rules.authorize import AUTHORIZE, Allow, AuthorizeFacts, AuthorizeInputs, Deny
from ordain.rules.bounds import ADDRESSES, beyond
from tests.unit.rules.given import decided

BOUND = (Constraint(domains_allowlist=("example.org",), paths=("/pub",)),)


def lets(role: ArgumentRole, value: object, *, of_web: bool = True) -> bool:
    """Whether the bound lets a call through that has this value in an argument of this role;
    ``of_web`` as catalogs say it now.
    """
    resource = "place" if role is ArgumentRole.TARGET else None
    arguments = {
        "to": Argument(role=role, resource=resource),
        "whom": Argument(role=ArgumentRole.RECIPIENT),
    }
    spec = VerbSpec(
        name="post",
        description="d",
        effect=VerbEffect.SEND,
        arguments=arguments,
        input_schema={"properties": {"to": {}, "whom": {}}},
    )
    return beyond(BOUND, spec, {"to": value}, 0, of_web=of_web) == ""


@pytest.mark.parametrize("role", [ArgumentRole.RECIPIENT, ArgumentRole.URL])
@pytest.mark.parametrize(
    "value",
    [
        *(
            "a@example.org",
            "A.B+c=d~e'f-g@EXAMPLE.org",
            "jürgen@mail.example.org",
            "mailto:a@example.org",
            "example.org",
            "www.Example.org.",
        ),
        *(
            "https://example.org",
            "HTTPS://example.org:8443/a/b?c=d#e",
            "https://a.example.org/@evil.com",
            "wss://example.org?x=https://evil.com",
        ),
        *(["a@example.org", "b@example.org"],),
    ],
)
def test_what_everybody_reads_alike(role: ArgumentRole, value: object) -> None:
    """Mail addresses, hosts and web addresses of a domain that is allowed, or below it; of any
    scheme by catalogs of before, so that their runs replay.
    """
    assert lets(role, value, of_web=False)
    mail = isinstance(value, list) or ("@" in str(value) and "://" not in str(value))
    assert lets(role, value) == (
        not str(value).startswith("wss") and (role is ArgumentRole.RECIPIENT or not mail)
    )


@pytest.mark.parametrize(
    ("value", "role", "lets_through"),
    [
        *(
            (f"{scheme}://example.org/%0aalert(1)", role, False)
            for scheme in ("javascript", "ftp", "file", "x+http")
            for role in ADDRESSES
        ),
        *(
            (f"{scheme}://example.org/a", role, True)
            for scheme in ("http", "https", "HtTp")
            for role in ADDRESSES
        ),
        ("mailto:a@example.org", ArgumentRole.RECIPIENT, True),
        ("mailto:a@example.org", ArgumentRole.URL, False),
    ],
)
def test_an_address_of_a_domain_is_one_of_the_web(
    value: str, role: ArgumentRole, *, lets_through: bool
) -> None:
    """What another scheme does no list of domains bounds; mail is for recipients."""
    assert lets(role, value) is lets_through


@pytest.mark.parametrize("of_web", [False, True])
def test_a_catalog_says_which_schemes_its_runs_were_held_to(*, of_web: bool) -> None:
    """A run that pinned a catalog of before is decided as it was; that of a catalog without the
    word has the bytes that it had.
    """
    spec = VerbSpec(
        name="look",
        description="d",
        effect=VerbEffect.READ,
        arguments={"to": Argument(role=ArgumentRole.URL)},
        input_schema={"properties": {"to": {}}},
    )
    catalog = Catalog(
        CatalogData(policy=Policy(version=1), verbs={"look": spec}, web_addresses=of_web)
    )
    facts = AuthorizeFacts(
        verb="look", call="d", in_scope=True, depth=0, verb_calls=0, cap_verb_calls=1
    )
    inputs = AuthorizeInputs(
        args={"to": "javascript://example.org/%0aalert(1)"}, catalog=catalog, bounds=BOUND
    )
    assert isinstance(
        decided(AUTHORIZE, facts, inputs, Policy(version=1)).outcome, Deny if of_web else Allow
    )
    assert (b"web_addresses" in catalog.encoded) is of_web


@pytest.mark.parametrize("role", [ArgumentRole.RECIPIENT, ArgumentRole.URL])
@pytest.mark.parametrize(
    "value",
    [
        *(
            "a@evil.com",
            "https://evil.com/",
            "evil.com",
            "notexample.org",
            "example.org.evil.com",
            "https://example.org.evil.com",
            "",
            ".",
        ),
        *(
            "a@evil.com,b@example.org",
            "a@evil.com;b@example.org",
            "a@evil.com b@example.org",
            "<a@evil.com>b@example.org",
            "b@example.org,a@evil.com",
        ),
        *(
            "a@evil.com/b@example.org",
            "a@evil.com?b@example.org",
            "@evil.com:a@example.org",
            '"a@evil.com"@example.org',
            "evil.com!a@example.org",
        ),
        *(
            "a%evil.com@example.org",
            "mailto:a%40evil.com,b@example.org",
            "mailto:a@evil.com?cc=b@example.org",
            "mailto:b@example.org?cc=a%40evil.com",
        ),
        *(
            "https:/evil.com/@example.org",
            "https:evil.com/@example.org",
            "//evil.com/@example.org",
            "/evil.com/@example.org",
            "https:///evil.com/@example.org",
        ),
        *(
            "evil.com/.example.org",
            "evil.com/x@example.org",
            "evil.com?x=@example.org",
            "evil.com#.example.org",
            "evil.com:80.example.org",
        ),
        *(
            "https://example.org@evil.com",
            "https://evil.com@example.org",
            "https://evil.com\\@example.org",
            "https://evil.com#@example.org",
        ),
        *(
            "https://evil.com?.example.org",
            "https://example%2eorg",
            "https://ex\tample.org",
            "https://example.org\n",
            "a@example.org\nBcc: a@evil.com",
        ),
        *(
            "javascript:alert(1)//example.org",
            "data:text/plain,@example.org",
            "https://example.org:99999999",
            "https://example.org\x00.evil.com",
        ),
        *(
            5,
            None,
            True,
            {"host": "example.org"},
            [["a@example.org"]],
            ["a@example.org", "a@evil.com"],
        ),
    ],
)
def test_what_somebody_reads_otherwise(role: ArgumentRole, value: object) -> None:
    """Several addresses in one, routes, users, codes, strokes left out or doubled, what only ends
    in the domain: beyond the bound, like what is no address.
    """
    assert not lets(role, value)
    assert not lets(role, value, of_web=False)


@pytest.mark.parametrize(
    "value", ["/pub", "/pub/a b.txt", "/pub/./x/../y", "/pub/100%25", "/pub/%41"]
)
def test_a_path_below(value: str) -> None:
    """However it is written, for who decodes it and who does not."""
    assert lets(ArgumentRole.TARGET, value)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "/etc",
            "/public",
            "pub/x",
            "/pub/../etc",
            "../pub",
            "/pub/%2e%2e/etc",
            "/pub/%252e%252e/etc",
            "/pub/..%2f..%2fetc",
            "/pub/..\\..\\etc",
        ),
        *("/pub/x\n/etc/passwd", "/pub/\x00", "%2fpub/x", "/pub/%" + "25" * 9 + "41"),
    ],
)
def test_a_path_that_leads_elsewhere(value: str) -> None:
    """Also once it is decoded, or read by who takes a backslash for a stroke."""
    assert not lets(ArgumentRole.TARGET, value)
