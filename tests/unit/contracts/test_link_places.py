"""Where renderers find an address: whatever a page would load by itself is given as an image, with the host that it asks."""

from __future__ import annotations

import pytest

from ordain.contracts import link_places
from ordain.contracts.link_places import CROWDED_CHARS
from ordain.contracts.text_links import links_of

LOADED = {
    "brackets in its words": "![chart [2026]](https://e.example/a)",
    "an escaped bracket in them": r"![a \] b](https://e.example/a)",
    "code in them": "![a `]` b](https://e.example/a)",
    "HTML in them": "![<b title=']'>a</b>](https://e.example/a)",
    "within a link": "[![a [b]](//e.example/a)](//f.example)",
    "a definition in a quote": "> [r]: //e.example/a\n\n![r]",
    "a definition in a list": "- a\n\n  [r]: https://e.example/a\n\n![r]",
    "a definition on two lines": "![a][r]\n\n[r]:\n  <https://e.example/a>",
    "an escaped slash": r"![a](\//e.example/a)",
    "an escaped colon": r"![a](http\://e.example/a)",
    "of a wiki": "![[https://e.example/a]]",
    "of a forum": "[img]https://e.example/a[/img]",
    "the second of a set": "<img srcset='//f.example/1 1x, //e.example/a 2x'>",
    "a set that is loaded ahead": "<link rel=preload as=image imagesrcset='//e.example/a'>",
    "a sheet": "<link rel=stylesheet href='https://e.example/a'>",
    "what a sheet takes in": "<style>@import '//e.example/a';</style>",
    "the second of a set in a sheet": '<p style=\'background:image-set("a.png" 1x, "https://e.example/a" 2x)\'>',
    "a sheet in other spelling": r"<p style='background:u\72l(//e.example/a)'>",
    "a picture of SVG": "<svg><image href='//e.example/a'/></svg>",
    "by its older name": "<svg><image xlink:href='https://e.example/a'/></svg>",
    "a part of SVG": "<svg><use href='https://e.example/a#b'/></svg>",
    "a filter of SVG": "<svg><filter><feImage href='https://e.example/a'/></filter></svg>",
    "a page that goes on": "<meta http-equiv=refresh content='0;url=https://e.example/a'>",
    "a page in an attribute": '<iframe srcdoc="&lt;img src=&quot;//e.example/a&quot;&gt;"></iframe>',
    "behind a base": "<base href='https://e.example/'><img src='a.png'>",
    "blanks around it": "<img src=' https://e.example/a '>",
    "a tab within it": "<img src='ht\ttp://e.example/a'>",
    "an end of line within it": "<img src='ht\ntp://e.example/a'>",
    "a host in wide signs": "![a](//e\uff0eexample/a)",
    "a host by numbers": "![a](https://e%2eexample/a)",
    "a host with what is left out": "![a](https://e.exa\u00admple/a)",
}


@pytest.mark.parametrize("text", LOADED.values(), ids=LOADED)
def test_what_a_page_loads_is_an_image_of_its_host(text: str) -> None:
    """As a reader of Markdown, HTML or CSS finds it."""
    assert any((one.host, one.image) == ("e.example", True) for one in links_of(text))


@pytest.mark.parametrize(
    "text",
    ["<a href='https://e.example/a'>a</a>", "<area href=//e.example>", "<form action='https://e.example/a'>", "[a [b]](https://e.example)"],
)
def test_what_is_opened_by_whoever_clicks_is_none(text: str) -> None:
    """It is a link, with its host."""
    assert {(one.host, one.image) for one in links_of(text) if one.host} == {("e.example", False)}


class Counting:
    """A parser that tells how much it was given."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.given: list[int] = []

    def parse(self, text: str, _env: object) -> list[object]:
        """Nothing is found."""
        self.given.append(len(text))
        return []


@pytest.mark.parametrize("piece", ["![a](", "[![a](b)", "[a]: b\n", "[a]: <"])
def test_what_is_crowded_is_read_in_part(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    """A parser takes the square of the brackets' number, so of a text that is made of them it reads the beginning; what looks like an address is found behind it."""
    parser = Counting()
    monkeypatch.setattr(link_places, "_markdown", lambda: parser)
    hosts = {one.host for one in links_of(f"{piece * 2000})\nhttps://e.example")}
    assert (parser.given, "e.example" in hosts) == ([CROWDED_CHARS], True)
