"""Which letter or figure of ASCII each sign is seen as that ``look_alikes`` lists, and those that
are letters in a frame. Pure.

After Unicode's data of confusable characters (UTS 39).
"""

# ruff: noqa: RUF001 - such letters are what this is about
from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

ALIKE: Mapping[str, str] = MappingProxyType(
    {
        "2": "ƧϨᒿꙄꛯꝚ",
        "3": "ƷȜЗӠⳌꝪꞫ𑣊𖼻",
        "4": "Ꮞ𑢯",
        "5": "Ƽ𑢻",
        "6": "бᏮⳒ𑣕",
        "7": "𐓒𑣆",
        "8": "Ȣȣ৪੪𐌚",
        "9": "৭੧୨൭ⳊꝮ𑢬𑣌𑣖",
        "a": "ɑΑαАаᎪᗅꓮ𐊠𖽀",
        "b": "ƄΒВЬᏏᏴᑲᖯᗷꓐꞴ𐊂𐊡𐌁",
        "c": "СсᏟᴄⲤⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲",
        "d": "ԁᎠᏧᑯᗞᗪꓒꓓ",
        "e": "ΕЕеҽᎬⴹꓰꬲ𐊆𑢦𑢮",
        "f": "ϜքᖴẝꓝꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂",
        "g": "ƍɡԌցᏀᏳᶃꓖ",
        "h": "ΗНһհᎻᏂᕼⲎꓧ𐋏",
        "i": "ıɩɪιіᎥꙇꭵ𑣃",
        "j": "ͿϳЈјᎫᒍꓙꞲ",
        "k": "ΚКᏦᛕⲔꓗ𐔘",
        "l": "ƖǀΙІӀ۱ᏞᒪᛁⲒⳐⵏꓡꓲ𐊊𐌉𐌠𐐛𐔦𑢣𑢲𖼖𖼨ӏ",
        "m": "ΜϺМᎷᗰᛖⲘꓟ𐊰𐌑",
        "n": "ΝոռⲚꓠ𐔓",
        "o": "ΟοσОоՕօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲞⲟⵔ〇ꓳꬽ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠",
        "p": "ΡρРрᏢᑭⲢⲣꓑ𐊕",
        "q": "ԛգզⵕ",
        "r": "ƦгᎡᏒᖇᴦⲅꓣꭇꭈꮁ𐒴𖼵",
        "s": "ƽЅѕՏᏕᏚꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺",
        "t": "ΤТᎢⲦꓔ𐊗𐊱𐌕𑢼𖼊",
        "u": "ʋυՍսሀᑌᴜꓴꞟꭎꭒ𐓎𐓶𑢸𑣘𖽂",
        "v": "νѴѵ۷Ꮩᐯᴠⴸꓦꛟꮩ𐔝𑜆𑢠𑣀𖼈",
        "w": "ɯѡԜԝաᎳᏔᴡꓪꮃ𑜊𑜎𑜏𑣦𑣯",
        "x": "ΧХхᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬",
        "y": "ɣʏΥγУуҮүყᎩᎽᶌỿⲨꓬꭚ𐊲𑢤𑣜𖽃",
        "z": "ΖᏃᴢꓜꮓ𐋵𑢩𑣄𑣥",
    }
)
"""By what they are seen as, in small letters."""
SEEN_AS: Mapping[str, str] = MappingProxyType(
    {sign: seen for seen, signs in ALIKE.items() for sign in signs}
)
_FRAMED: Final = (range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A))
"""A to Z in dark discs and squares, which Unicode calls no form of those letters."""
_SMALL_CAPITAL: Final = "LATIN LETTER SMALL CAPITAL "


@lru_cache(8192)
def letter_shown(sign: str) -> str:
    """The letter that a framed one or a small capital shows; any other sign as it is."""
    for framed in _FRAMED:
        if ord(sign) in framed:
            return chr(ord("A") + ord(sign) - framed.start)
    name = "" if sign.isascii() else unicodedata.name(sign, "")
    shown = name.removeprefix(_SMALL_CAPITAL)
    return shown if name != shown and len(shown) == 1 else sign
