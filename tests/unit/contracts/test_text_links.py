"""Links and images of a text as data: what is found, whom each asks, and that no text takes
long.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import Reply
from ordain.contracts.text_links import (
    LINKS_MAX,
    TEXT_CHARS,
    URL_CHARS,
    TextLink,
    each_linked,
    links_of,
    texts_of,
)

SECRET = "http://evil.example/p.png?d=secret"


@pytest.mark.parametrize(
    ("text", "url", "host", "image"),
    [
        (f"![a]({SECRET})", SECRET, "evil.example", True),
        (f'![a](  <{SECRET}> "title")', SECRET, "evil.example", True),
        ("[docs](https://A.example:8443/x)", "https://A.example:8443/x", "a.example", False),
        ("[![a](//c.example/i.png)](https://d.example)", "//c.example/i.png", "c.example", True),
        ("![a][x]\n\n[x]: https://e.example/i.png", "https://e.example/i.png", "e.example", True),
        ("<img alt='x' SRC=https://f.example/a>", "https://f.example/a", "f.example", True),
        ('<img src="&#104;ttps://f.example/a">', "&#104;ttps://f.example/a", "f.example", True),
        ('<a href = "https:\\\\g.example/a">', "https:\\\\g.example/a", "g.example", False),
        (
            "<p style='background: url(https://h.example/a)'>",
            "https://h.example/a",
            "h.example",
            True,
        ),
        ("See https://i.example/a, it says.", "https://i.example/a", "i.example", False),
        ("See www.j.example.", "www.j.example", "www.j.example", False),
        ("[mail](mailto:ada@k.example)", "mailto:ada@k.example", "", False),
        ("[run](javascript:alert)", "javascript:alert", "", False),
        ("[here](https:l.example/a)", "https:l.example/a", "l.example", False),
        ("![a](data:image/png;base64,AAAA)", "data:image/png;base64,AAAA", "", True),
    ],
)
def test_addresses_are_found(text: str, url: str, host: str, image: bool) -> None:
    """Markdown, HTML, CSS and bare ones, with the host that a browser would ask, and whether a page
    would load them by itself.
    """
    assert TextLink(url=url, host=host, image=image) in links_of(text)


def test_each_stands_once_in_its_order() -> None:
    """What is linked and loaded is an image; there are at most so many."""
    found = links_of(f"[a](https://a.example) and {SECRET}, ![b]({SECRET})")
    assert [(one.host, one.image) for one in found] == [
        ("a.example", False),
        ("evil.example", True),
    ]
    assert links_of("Nothing: at all. [x] (y) a = b, 10:30, C:\\dir") == []
    assert len(links_of(" ".join(f"https://{n}.example" for n in range(900)))) == LINKS_MAX


@given(st.text(alphabet="[]()!<>\"'= :/\\.whtpsrcx\n", max_size=300))
def test_any_text_has_links_of_bounded_form(text: str) -> None:
    """Total, and the same again."""
    found = links_of(text)
    assert all(0 < len(one.url) <= URL_CHARS for one in found)
    assert links_of(text) == found


def test_a_reply_has_them_beside_its_text() -> None:
    """Made from the text and from what the header quotes, whatever was said of them; absent where
    there are none.
    """
    given_: dict[str, Any] = {
        "header": "h",
        "narrative": f"![a]({SECRET})",
        "ok": True,
        "links": [{"url": "x", "host": "y", "image": False}],
    }
    assert Reply.model_validate(given_).model_dump()["links"] == [
        {"url": SECRET, "host": "evil.example", "image": True}
    ]
    assert "links" not in Reply(header="h", narrative="None.", ok=True).model_dump()
    quoted = Reply(header=f'✓ v · "![a]({SECRET})"', narrative="None.", ok=True)
    assert quoted.model_dump()["links"][0]["image"]


def test_texts_of_a_value() -> None:
    """Every text of a JSON value, in its order."""
    assert texts_of(msgspec.json.decode(b'{"a": ["x", {"b": "y"}, 1], "c": "z"}')) == "x\ny\nz"
    assert texts_of(None) == ""


def test_each_object_has_its_own_links_and_all_together_one_texts_bound() -> None:
    """What a large one leaves of the bound is shared out: it hides no other's address, and an
    object without one has no such field.
    """
    large = {"output": "x" * TEXT_CHARS + " http://late.example"}
    small = {"thought": "![i](//i.example/a.png)", "output": {"a": ["http://o.example"]}}
    told = each_linked([large, small, {"thought": None}])
    assert [[link["host"] for link in one.get("links", ())] for one in told] == [
        [],
        ["i.example", "o.example"],
        [],
    ]
    assert [one.keys() - {"links"} for one in told] == [large.keys(), small.keys(), {"thought"}]
    assert "links" not in told[2]


PIECES = (
    "[",
    "]",
    "(",
    ")",
    ":",
    "//",
    "\\\\",
    "!",
    "=",
    "src",
    "href",
    "url(",
    "@import ",
    "www.",
    "a.example",
    "http",
    "\n",
    " ",
    "x",
    '"',
    "<",
    "::",
    "image",
    ".. ",
    "[[",
    "]]",
    "{{",
    "[",
    ":imagesdir: ",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_address_is_without_a_sign_of_one(text: str) -> None:
    """What is looked for first, to leave most texts alone, stands in whatever the patterns find."""
    assert links_of(text) == links_of("=\n" + text)  # this has a sign, and is looked through
