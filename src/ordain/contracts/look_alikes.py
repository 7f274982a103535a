"""What is seen as a letter, figure or point of ASCII and is none: by itself, beside what it stands,
or because its whole word is made of such. Pure.

The letters are those of Unicode's data of confusable characters (UTS 39), less what Unicode itself
calls a form of another sign.
"""

# ruff: noqa: RUF001 - such letters are what this is about
from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from functools import lru_cache
from typing import Final, NamedTuple

OF_LATIN: Final = frozenset("ıƄƍƖƦƧƷƼƽǀȜȢȣɑɡɣɩɪɯʋʏᴄᴏᴑᴜᴠᴡᴢᶃᶌẝỿꜱꝚꝪꝮꞘꞙꞟꞫꞲꞳꞴꬲꬵꬽꭇꭈꭎꭒꭚ")
"""Letters of the Latin script that are seen as others of it."""
OF_OTHERS: Final = frozenset(
    "𑜆𑜊𑜎𑜏ՍՏՕագզհոռսցքօꛟꛯ০৪৭ᐯᑌᑭᑯᑲᒍᒪᒿᕁᕼᕽᖇᖯᖴᗅᗞᗪᗰᗷ𐊠𐊡𐊢𐊥𐊫𐊰𐊱𐊲𐊴𐋏ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏮᏳᏴꭵꮁꮃꮓꮩꮪꮯ"
    "ϨⲅⲎⲒⲔⲘⲚⲞⲟⲢⲣⲤⲥⲦⲨⲬⳊⳌⳐⳒ𐋵ЅІЈАВЕЗКМНОРСТУХЬабгеорсухѕіјѡѴѵҮүһҽӀӏӠԁԌԛԜԝꙄꙇ𐐄𐐕𐐛𐐠𐐬𐐽𐑈०𐔓𐔖𐔘𐔜𐔝𐔥𐔦𐔧ሀዐ۱۵۷ყჿ"
    "ͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγινορσυϜϳϺᴦ૦੦੧੪〇೦໐ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ𐊂𐊆𐊇𐊊𐊐𐊒𐊕𐊖𐊗ഠ൦൭𖼈𖼊𖼖𖼨𖼵𖼺𖼻𖽀𖽂𖽃ဝ၀"
    "𐌁𐌂𐌉𐌑𐌕𐌗𐌚𐌠𐌢ଠ୦୨𐒴𐓂𐓎𐓒𐓪𐓶ᚷᛁᛕᛖ௦౦๐ⴸⴹⵏⵔⵕⵝ𑓐𑢠𑢢𑢣𑢤𑢦𑢩𑢬𑢮𑢯𑢲𑢵𑢸𑢻𑢼𑣀𑣁𑣂𑣃𑣄𑣆𑣈𑣊𑣌𑣕𑣖𑣗𑣘𑣜𑣠𑣥𑣦𑣩𑣬𑣯𑣲"
)
"""Letters and figures of other scripts."""
TURKISH_I: Final = "ı"
"""A letter that Turkish cannot do without; in an address it is seen as another one."""
SEEN_AS_SYNTAX: Final = frozenset("＂″‶〃˝˶‟᳓＼﹨∖⟍⧵⧹㇔\U0001d20f\U0001d23b")
"""Seen as what closes a text, or begins an escape in it."""
_SEEN_AS_SIGNS: Final = "․。．｡﹒·・･⁄∕⧸／╱⟋㇓〳ノﾉ丶丿ー一ｰ゠＠﹫：﹕꞉∶˸։‐‑‒−﹣－＿﹍﹎﹏？＃％＆＝＋，；﹖﹟﹠﹦﹢﹐﹔∣╳⨯∪⋃∨⋁⊤℮〇二ニ工エ口ロトﾄハ卜八"
"""Seen as a sign or a letter of ASCII where such stand on both sides."""
_STROKES: Final = "ㅣ丨⼁〡㇑"
"""Seen as an l, an I or a 1 wherever one of ASCII stands beside it."""
_SIGN_BETWEEN: Final = re.compile(
    f"(?<=[A-Za-z0-9])[{_SEEN_AS_SIGNS}](?=[A-Za-z0-9])|(?<=[A-Za-z0-9])[{_STROKES}]|[{_STROKES}](?=[A-Za-z0-9])"
)
_APART: Final = frozenset(
    {
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "KATAKANA-HIRAGANA",
        "HANGUL",
        "BOPOMOFO",
        "IDEOGRAPHIC",
        "HALFWIDTH",
        "FULLWIDTH",
    }
    | {"THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}
)
"""Scripts that are written without blanks: a word of another one stands right beside theirs, and
none of their letters is seen as one of it.
"""
_NONE: Final = frozenset({"", "MICRO", "FEMININE", "MASCULINE"})
"""Of letters that belong to no script, and are seen as what they are."""
_ADDRESS: Final = re.compile(r"@|://|[^\W_][.．․﹒｡][^\W_]")
"""By one of these a part of a text between blanks is taken for an address."""
_ENDS: Final = "@/:?#&=,;<>()[]{}\"'`|\\“”‘’„«»‹›「」『』（）【】《》、，；：！？。"
"""Between these stands what one owner of an address has named."""
_NAME: Final = re.compile(f"[^{re.escape(_ENDS)}]+")
_POINT_IN_NAME: Final = re.compile(r"(?<=[^\W_])[^\w\x00-\x7f](?=[^\W_])")
_WORD: Final = re.compile(r"[^\W_](?:[\w\u200b-\u200f\u0300-\u036f]*\w)?")
_TOKEN: Final = re.compile(r"\S+")


@lru_cache(8192)
def script_of(character: str) -> str:
    """The script of a letter, figure or mark, as the first word of its name has it; "" where it has
    none. Figures of ASCII have none.
    """
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    script = (
        unicodedata.name(character, "").partition(" ")[0]
        if unicodedata.category(character)[0] in "LNM"
        else ""
    )
    return "" if script in _NONE else script


def mistakable(text: str) -> set[int]:
    """The places at which a text has a letter, figure or point that is seen there as one of ASCII,
    or stands in a word of another script.
    """
    found = {match.start() for match in _SIGN_BETWEEN.finditer(text)}
    doubtful, shown = list[_Word](), set[str]()
    for token in _TOKEN.finditer(text):
        if token[0].isascii():
            continue
        address = _ADDRESS.search(token[0]) is not None
        if address:
            found |= {
                token.start() + match.start()
                for match in _POINT_IN_NAME.finditer(token[0])
                if match[0] not in _ENDS
            }
        elif (script := _of_one_script(token[0])) is not None:
            shown.add(script)
            continue
        parts = (_NAME if address else _WORD).finditer(token[0])
        doubtful += (
            _Word(token.start() + part.start(), part[0], address)
            for part in parts
            if not part[0].isascii()
        )
    for word in doubtful:
        shown |= word.shown
    for word in doubtful:
        found |= word.strange(shown)
    return found


class _Seen(NamedTuple):
    """What counts of a character: its script, one for all that stand apart; whether it is a letter
    of that beyond doubt; whether it needs a look at its word.
    """

    script: str
    clear: bool
    doubtful: bool


@lru_cache(8192)
def _seen(character: str) -> _Seen:
    script = script_of(character)
    letter = unicodedata.category(character)[0] == "L"
    wide = script == "FULLWIDTH"
    figure = character.isdecimal()
    clear = letter and not character.isascii() and character not in OF_OTHERS
    return _Seen(
        "APART" if script in _APART else script if letter else "",
        clear and not wide,
        wide or figure,
    )


def _of_one_script(token: str) -> str | None:
    """The script of all letters of a part of a text, which it shows beyond doubt; None where it
    does not, or more has to be looked at.
    """
    seen = set(map(_seen, token))
    scripts = {one.script for one in seen} - {""}
    if len(scripts) != 1 or any(one.doubtful for one in seen) or not any(one.clear for one in seen):
        return None
    return scripts.pop()


class _Word(NamedTuple):
    """A word of a text, or a name of an address, from a place on."""

    start: int
    text: str
    address: bool

    @property
    def shown(self) -> set[str]:
        """The scripts of which it has a letter beyond doubt."""
        return {one.script for one in map(_seen, self.text) if one.clear}

    def strange(self, shown: Set[str]) -> set[int]:
        """The places at which it is not what it seems; ``shown`` are the scripts that the text
        shows beyond doubt.
        """
        scripts = {script for one in self.text if (script := _seen(one).script)}
        latin, found = "LATIN" in scripts, set[int]()
        beyond = [
            (at, one, _seen(one).script) for at, one in enumerate(self.text) if not one.isascii()
        ]
        if latin or self.address:
            found |= {at for at, one, _ in beyond if script_of(one) == "FULLWIDTH"}
        if latin and self.address:
            found |= {
                at
                for at, one, _ in beyond
                if one == TURKISH_I or unicodedata.category(one)[0] == "M"
            }
        if len(scripts - {"APART"}) > 1:
            found |= {at for at, _, script in beyond if script not in {"", "LATIN", "APART"}}
        written = [(at, one) for at, one, _ in beyond if script_of(one)]
        if all(one in OF_OTHERS for _, one in written) and (
            self.address or not scripts & shown - {"LATIN"}
        ):
            found |= {at for at, _ in written}
        if len({one.isascii() for one in self.text if one.isdecimal()}) > 1:
            found |= {at for at, one, _ in beyond if one.isdecimal()}
        return {self.start + at for at in found}
