"""Which addresses and paths a bound lets through: what every reader takes for the same, and nothing in which somebody finds another host or place."""

from __future__ import annotations

import pytest

from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.rules.bounds import beyond

BOUND = (Constraint(domains_allowlist=("example.org",), paths=("/pub",)),)


def lets(role: ArgumentRole, value: object) -> bool:
    """Whether the bound lets a call through that has this value in an argument of this role."""
    resource = "place" if role is ArgumentRole.TARGET else None
    arguments = {"to": Argument(role=role, resource=resource), "whom": Argument(role=ArgumentRole.RECIPIENT)}
    spec = VerbSpec(
        name="post", description="d", effect=VerbEffect.SEND, arguments=arguments, input_schema={"properties": {"to": {}, "whom": {}}}
    )
    return beyond(BOUND, spec, {"to": value}, 0) == ""


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
    """Mail addresses, hosts and web addresses of a domain that is allowed, or below it."""
    assert lets(role, value)


@pytest.mark.parametrize("role", [ArgumentRole.RECIPIENT, ArgumentRole.URL])
@pytest.mark.parametrize(
    "value",
    [
        *("a@evil.com", "https://evil.com/", "evil.com", "notexample.org", "example.org.evil.com", "https://example.org.evil.com", "", "."),
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
        *("evil.com/.example.org", "evil.com/x@example.org", "evil.com?x=@example.org", "evil.com#.example.org", "evil.com:80.example.org"),
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
        *(5, None, True, {"host": "example.org"}, [["a@example.org"]], ["a@example.org", "a@evil.com"]),
    ],
)
def test_what_somebody_reads_otherwise(role: ArgumentRole, value: object) -> None:
    """Several addresses in one, routes, users, codes, strokes left out or doubled, what only ends in the domain: beyond the bound, like what is no address."""
    assert not lets(role, value)


@pytest.mark.parametrize("value", ["/pub", "/pub/a b.txt", "/pub/./x/../y", "/pub/100%25", "/pub/%41"])
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
