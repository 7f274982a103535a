"""Whether a text of Ordain's own ends with a question, so that a bare answer may be meant for
it.
"""

# ruff: noqa: RUF001 (question and quotation marks of many scripts)
from __future__ import annotations

import re
from typing import Final

AFTERWARDS: Final = 60
"""So many characters may stand behind the question: *Would you like that? Just say so!*"""
_QUOTED: Final = re.compile(
    r"“[^”“\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|»[^«\n]*«|「[^」\n]*」|『[^』\n]*』|`[^`\n]*`|"
    r"(?<![^\s(])\"[^\"\n]*\"(?!\w)|(?<![^\s(])[‘'][^'’\n]*[’'](?!\w)"
)
_MARK: Final = re.compile(r"[?？﹖︖؟⁇⁈⁉‽՞፧⸮\u037e](?![^\s\W])|か[。．]")
"""A question mark that closes something: none in an address."""
_ANY: Final = re.compile(r"[?？﹖︖؟⁇⁈⁉‽՞፧⸮\u037eか]")
"""Without any of these a text is looked at no further."""
_ADDRESS: Final = re.compile(r"\b\w+://\S+")


def ends_asking(text: str) -> bool:
    """Whether its last sentence, or the one before a short closing word, is a question; what it
    quotes is said by others. Total and linear in the text.
    """
    if ("?" not in text) if text.isascii() else (_ANY.search(text) is None):
        return False
    said = _ADDRESS.sub(" ", _QUOTED.sub(" ", text)).rstrip()
    found = list(_MARK.finditer(said))
    return bool(found) and len(said) - found[-1].end() <= AFTERWARDS
