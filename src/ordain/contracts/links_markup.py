"""The addresses of markup that is neither Markdown nor HTML: Textile, reStructuredText, Org,
AsciiDoc, Creole, Mermaid; and whatever only begins as an address does.

Each as a pattern whose last group is the address, and whether a page that shows the text loads it.
"""

from __future__ import annotations

import re
from typing import Final

_SLASHES: Final = r"[/\\]{2,8}"
_WITH_HOST: Final = rf"(?:[a-z][a-z0-9+.-]{{1,20}}:)?{_SLASHES}"
"""What names a host, with a scheme or without."""

_BARE: Final = (
    rf"(?<![\w/\\])(?<!\w:)({_SLASHES}(?=[^\s<>\"'`()\[\]{{}}|"
    r"/\\]{0,253}[.\u3002\uff0e\uff61])[^\s<>\"'`()\[\]{}|]{1,4000})"
)
_TEXTILE: Final = (
    r"![<>=]?(?:\([^()\n]{0,100}\)|\{[^{}\n]{0,200}\}|\[[^\[\]\n"
    rf"]{{0,20}}\]){{0,4}}({_WITH_HOST}[^\s!()<>\"]{{1,4000}})(?:\([^()\n]{{0,500}}\))?!"
)
_DIRECTIVE: Final = (
    r"^[ \t]{0,40}\.\.[ \t]{1,10}(?:\|[^|\n]{1,100}\|[ \t]{1,10})?(?:image|figure|thumbnail|video|"
    r"audio|include)::[ \t]{1,20}(\S{1,4000})"
)
_ORG: Final = rf"\[\[(?:[^\[\]\n]{{1,4000}}\]\[)?({_WITH_HOST}[^\[\]\n]{{1,4000}})\]\]"
"""A link without words for it, or an address for its words."""
_MACRO: Final = r"(?<!\w)(?:image|video|audio|include|iframe)::?([^\s\[\]]{1,4000})\["
_ATTRIBUTE: Final = (
    r"^:(?:imagesdir|iconsdir|stylesdir|stylesheet|favicon|url):[ \t]{1,20}(\S{1,4000})"
)
_CREOLE: Final = rf"\{{\{{[ \t]{{0,10}}({_WITH_HOST}[^\s{{}}|]{{1,4000}})"
_SHAPE: Final = (
    r"(?<!\w)\$?(?:img|icon|sprite|logo|avatar)[ \t]{0,10}[:=][ \t]{0,10}[\"']?("
    rf"{_WITH_HOST}[^\s\"'<>()\[\]{{}}|]{{1,4000}})"
)
"""A picture within a diagram."""

MARKUP: Final = (
    *(
        (re.compile(one, re.IGNORECASE | re.MULTILINE), True)
        for one in (_TEXTILE, _DIRECTIVE, _ORG, _MACRO, _ATTRIBUTE, _CREOLE, _SHAPE)
    ),
    (re.compile(_BARE, re.IGNORECASE), False),
)
"""Patterns, and whether what they find is loaded."""
MARKUP_BEFORE_COLON: Final = (
    ":",
    "dir",
    "stylesheet",
    "favicon",
    "url",
    "image",
    "video",
    "audio",
    "include",
    "iframe",
)
"""Straight before a colon one of these stands, in small letters, in whatever a pattern finds that
has no slash.
"""
