"""Where renderers find an address: whatever a page would load by itself is given as an image, with
the host that it asks.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from ordain.contracts.text_links import TEXT_CHARS, links_of
from ordain.contracts.url_hosts import host_of
from tests.lanes import sampled

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
    "the second of a set in a sheet": (
        '<p style=\'background:image-set("a.png" 1x, "https://e.example/a" 2x)\'>'
    ),
    "a sheet in other spelling": r"<p style='background:u\72l(//e.example/a)'>",
    "a picture of SVG": "<svg><image href='//e.example/a'/></svg>",
    "by its older name": "<svg><image xlink:href='https://e.example/a'/></svg>",
    "a part of SVG": "<svg><use href='https://e.example/a#b'/></svg>",
    "a filter of SVG": "<svg><filter><feImage href='https://e.example/a'/></filter></svg>",
    "a page that goes on": "<meta http-equiv=refresh content='0;url=https://e.example/a'>",
    "a page in an attribute": (
        '<iframe srcdoc="&lt;img src=&quot;//e.example/a&quot;&gt;"></iframe>'
    ),
    "behind a base": "<base href='https://e.example/'><img src='a.png'>",
    "blanks around it": "<img src=' https://e.example/a '>",
    "a tab within it": "<img src='ht\ttp://e.example/a'>",
    "an end of line within it": "<img src='ht\ntp://e.example/a'>",
    "a host in wide signs": "![a](//e\uff0eexample/a)",
    "a host by numbers": "![a](https://e%2eexample/a)",
    "a host with what is left out": "![a](https://e.exa\u00admple/a)",
    "a crowd of brackets before it": "[x] " * 1001 + "\n\n![chart [2026]](//e.example/a)",
    "brackets far within one another": "![" + "[" * 40 + "a" + "]" * 40 + "](//e.example/a)",
    "quotations far within one another": "> " * 30 + "![a [b]](//e.example/a)",
    "a definition in such": "> " * 30 + "[r]: //e.example/a\n\n![r]",
    "a definition over lines of a quote": "> [r]:\n> //e.example/a\n\n![r]",
    "Markdown within HTML": "<div>\n![c [d]](//e.example/a)\n</div>",
    "Markdown where HTML is shown": '<b title="![c [d]](//e.example/a)">',
    "code that may not be any": "![a ` [b]](//e.example/a)",
    "a cell": "|a|\n|-|\n|![a [b]](//e.example/a)|",
    "many blanks before it": "![a](" + " " * 50 + "//e.example/a)",
    "brackets in a user's name": "![a](https://a(b)@e.example/a)",
    "what only looks like its host": r"![a](https://good.example\@e.example/a)",
    "three slashes": "![a](///e.example/a)",
    "the end of a tag in an attribute": "<svg><image alt='a>b' href='//e.example/a'/></svg>",
    "the beginning of one": "<svg><image alt='a<b' href='//e.example/a'/></svg>",
    "a long attribute before it": f"<svg><image data-x='{'a' * 5000}' href='//e.example/a'/></svg>",
    "blanks around the sign": "<img src" + " " * 50 + "=" + " " * 50 + "'//e.example/a'>",
    "no blanks": "<svg><image/href=//e.example/a></svg>",
    "what an animation sets": (
        "<svg><image><set attributeName=href to='//e.example/a'/></image></svg>"
    ),
    "what it goes through": "<svg><animate attributeName=href values='a;//e.example/a'/></svg>",
    "a template": "<template><svg><image href='//e.example/a'></svg></template>",
    "a comment": "<!--[if IE]><link rel=stylesheet href='//e.example/a'><![endif]-->",
    "a title": "<title><svg><image href='//e.example/a'></title>",
    "a tag in code that seems open": "`<b t=\"` <svg><image href='//e.example/a'></svg>",
    "a page in a page in an attribute": (
        "<iframe srcdoc=\"&lt;iframe srcdoc='&amp;lt;image href=//e.example/a&amp;gt;'&gt;\">"
    ),
    "a page in an address": (
        "<iframe src='data:text/html,%3Cimg src=%22//e.example/a%22%3E'></iframe>"
    ),
    "such a page in base64": (
        "<iframe src='data:text/html;base64,PGltZyBzcmM9Ly9lLmV4YW1wbGUvYT4='></iframe>"
    ),
    "a page that goes on in few words": "<meta http-equiv=refresh content='0;//e.example/a'>",
    "a set whose commas have no blanks": "<img srcset='a 1x,//e.example/a 2x'>",
    "a comment in a sheet": "<style>@import/**/'//e.example/a';</style>",
    "an address in a rule that is taken in": "<style>@import url(https://e.example/a)</style>",
    "escapes in a rule's name": r"<style>@\69mport '//e.example/a'</style>",
    "a set of addresses and texts in a sheet": (
        "<style>p{background:image-set(url(a.png) 1x, '//e.example/a' 2x)}</style>"
    ),
    "a name for an address in a sheet": (
        "<style>p{--a:'//e.example/a'; background:image-set(var(--a) 1x)}</style>"
    ),
    "a sheet by entities": "<p style='background&#58;url(&quot;//e.example/a&quot;)'>",
    "a film of a plug-in": "<object><param name=movie value=//e.example/a></object>",
    "of Textile": "!//e.example/a.png!",
    "of Textile, with a style, in words": (
        "See !>(right){color:red}https://e.example/a.png(a chart)!:https://f.example here"
    ),
    "of reStructuredText": ".. image:: //e.example/a.png",
    "such a figure": "  .. figure:: https://e.example/a.png",
    "such a substitution": ".. |logo| image:: //e.example/a",
    "of Org": "[[//e.example/a.png]]",
    "of Org, in place of words": "[[https://f.example][//e.example/a.png]]",
    "of AsciiDoc": "image::https://e.example/a.png[]",
    "of AsciiDoc, in words": "an image://e.example/a[chart] here",
    "such a film": "video:://e.example/a[]",
    "the folder of such": ":imagesdir: //e.example/a",
    "of Creole": "{{//e.example/a.png|a chart}}",
    "of a diagram": '```mermaid\nflowchart TD\nA@{ img: "//e.example/a.png" }\n```',
    "a sprite of one": '```mermaid\nUpdateElementStyle(a, $sprite="//e.example/a")\n```',
    "a mask of SVG": "<svg><rect mask=\"url('//e.example/a#b')\"/></svg>",
}


@pytest.mark.parametrize("text", LOADED.values(), ids=LOADED)
def test_what_a_page_loads_is_an_image_of_its_host(text: str) -> None:
    """As a reader of Markdown, HTML or CSS finds it."""
    assert any((one.host, one.image) == ("e.example", True) for one in links_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "<a href='https://e.example/a'>a</a>",
        "<area href=//e.example>",
        "<form action='https://e.example/a'>",
        "[a [b]](https://e.example)",
        "![a](b.png) and [c](//e.example)",
        "<svg xmlns='https://e.example'></svg>",
        "<img src=a.png alt='https://e.example'>",
        '```mermaid\nclick A "//e.example/a" "a tip"\n```',
        "```mermaid\nclick A href '//e.example/a' _blank\n```",
        '"a"://e.example/a',
        "`a <//e.example/a>`_ and .. note:: //e.example",
        "[[//e.example/a][words]]",
        "See //e.example/a or \\\\e.example\\a.",
    ],
)
def test_what_is_opened_by_whoever_clicks_is_none(text: str) -> None:
    """It is a link, with its host."""
    assert {(one.host, one.image) for one in links_of(text) if one.host} == {("e.example", False)}


def test_a_host_is_told_as_it_is_asked() -> None:
    """What looks like another name is no other's: a browser asks by the name's spelling in
    ASCII.
    """
    assert [one.host for one in links_of("![a](//\u0435.example/a)")] == ["xn--e1a.example"]


PIECES = (
    "![", "[", "]", "](", "]:", ")", "(", "<", ">", "`", "``", "\\", "!", "a", "&lt;", '"', "'",
        " ", "\n", "\n\n", "\n> ", "- ", "[a]: ",
    "//e.example/a", "https://f.example/b", "g.example", "<b>", "<b t=", "<img src=", "<!--", "-->",
        "$", "*", "|", "|\n|-|\n",
)  # fmt: skip
RENDERERS = [
    MarkdownIt("commonmark", {"html": html}).enable(tables)
    for html in (True, False)
    for tables in ([], ["table", "strikethrough"])
]


@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
@example("![a `]` b](//e.example/a)")
@settings(max_examples=100)
def test_whatever_a_renderer_shows_as_an_image_is_one(text: str) -> None:
    """The page that a renderer makes of any text, as a browser's parser reads it, asks no host that
    is not given as asked by an image.
    """
    listed = {one.host for one in links_of(text) if one.image}
    for renderer in RENDERERS:
        page = LexborHTMLParser(renderer.render(text))
        assert {host_of(one.attributes.get("src") or "") for one in page.css("img")} - {
            ""
        } <= listed


MADE = (
    "[", "![", "[a](", "![a](", "![a [b]](c)", "](", "](<", "](\n>", "[a]:>", "[a]: b\n", "[a\n",
        "[a\\", "`", "\\", "> ", "<", "<a ", "<a =",
    "<a b='", "<b>", "<div>", "<!--", "<title>", "<style>", "<style>'/", "<template>",
        "<base href=x>", "<img srcset='a,", "<a style='(",
    "<x a='&lt;", "<iframe/srcdoc=<", "<img src=data:,<", "url(", "@import ", "image-set(", "\\41 ",
        "https://", "www.", "//", "'",
    "!(", "!()", "!//a.b", ".. |", ".. image::", "[[", "[[//a", "[[a][", "image::", "{{", "{{//a.b",
        "img:", "//a", ":url: ",
)  # fmt: skip


@pytest.mark.parametrize("piece", sampled(MADE, 4, "loaded"))
def test_no_text_takes_long(piece: str) -> None:
    """Made to cost what lies within one another, or is never closed: each sign is looked at some
    times, and not once for each other.
    """
    text = (piece * TEXT_CHARS)[: TEXT_CHARS - 100] + "](=<img src=x>"
    begun = time.process_time()
    links_of(text)
    assert time.process_time() - begun < 5, "a second at most is usual"
