"""Currencies and units as people write them: one spelling for each, and what is none is none.

A word in brackets behind a column's name may be its unit (``amount (EUR)``), a scale
(``(thousands)``) or a remark (``(net)``). What is known here counts as that; any other word may be
a unit, and is kept as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

UNIT_MAX = 12
"""Longest unit, in characters."""
UNIT_TEXT_MAX = 140
"""Longest text of a figure's unit: the words of a column's name, a scale and a unit."""

PER_CENT = "%"
CURRENCY = "currency"
_ISO_4217 = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE
    CZK DJF DKK DOP DZD EGP ERN ETB ETH EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS
    KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB
    PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS
    UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
"""
_CODES = frozenset(_ISO_4217.split())
_KINDS = {
    "mass": "t kg g mg µg lb lbs oz",
    "length": "km m cm mm µm mi ft in yd",
    "area": "km² m² m2 cm² ha ft²",
    "volume": "m³ m3 hl l L cl ml mL gal",
    "time": "ms s sec min h hr hrs hours d days weeks months years Std Tage",
    "speed": "km/h m/s mph kn",
    "energy": "Wh kWh MWh GWh J kJ MJ kcal",
    "power": "W kW MW GW",
    "temperature": "° °C °F K",
    "data": "B kB KB MB GB TB",
    "count": "pcs pc pieces units Stk Stück",
}
_KIND_OF = {unit: kind for kind, units in _KINDS.items() for unit in units.split()}
_ANY_CASE = (
    "kg lb lbs oz km cm mi yd ha gal hr hrs hours days weeks months years kWh kcal km/h mph pcs "
    "pieces units Stk Stück Std Tage"
)
"""Units that are one whatever their case. Others are not: Mb is no MB, ML no ml, Ft (forint) no
ft.
"""
_SPELLINGS = (
    {
        "€": "EUR",
        "eur": "EUR",
        "euro": "EUR",
        "euros": "EUR",
        "usd": "USD",
        "gbp": "GBP",
        "chf": "CHF",
    }
    | dict.fromkeys(("%", "percent", "per cent", "prozent", "pct", "pct."), PER_CENT)
    | {unit.lower(): unit for unit in _ANY_CASE.split()}
)
_SCALE_WORDS = {
    "hundred": "hundred hundreds",
    "thousand": (
        "k thousand thousands ths thsd tsd tds tausend tausende milliers 000 '000 000s '000s 1000 "
        "1,000 1.000 x1000"
    ),
    "million": "million millions millionen mio mn mln mill millones milioni",
    "billion": "billion billions bn mrd mld milliarde milliarden milliard milliards",
    "trillion": "trillion trillions tn",
    "lakh": "lakh lakhs",
    "crore": "crore crores",
}
_SCALE_OF = {word: scale for scale, words in _SCALE_WORDS.items() for word in words.split()}
_REMARK_WORDS = """
    net gross total totals sum subtotal amount value balance price cost costs fee fees sales revenue income expense expenses profit loss turnover
    tax taxes vat gst excl excluding incl including ex inc before after without with plus minus less paid unpaid due open invoiced booked debit credit
    actual actuals budget budgeted plan planned forecast target estimate estimated est final provisional preliminary audited unaudited adjusted adj
    approx average avg mean median max maximum minimum each all only new old current previous ytd mtd qtd cumulative cum
    netto brutto gesamt summe betrag wert saldo preis kosten umsatz einnahmen ausgaben steuer mwst ust inkl exkl zzgl ohne mit vor nach soll ist haben
    bezahlt offen geplant durchschnitt schnitt
    brut montant prix solde ht ttc tva hors taxe neto bruto importe precio saldo iva sin con netta netti lordo importo prezzo totale
"""
_REMARKS = frozenset(_REMARK_WORDS.split())
_PERIOD = re.compile(r"(?:fy ?)?(?:19|20)[0-9]{2}|[qh][1-4]", re.IGNORECASE)
_FILLERS = frozenset({"in", "of", "de", "von", "and", "und", "&"})
_PARTS = re.compile(r"[,;]?\s+")
_NAMED_SIGNS = frozenset({"kr", "zł", "Kč", "Ft", "Fr.", "SFr.", "lei"})
_SIGN_OF = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK", "DKK"),
    "₹": ("INR",),
}
_SCALED = re.compile(
    r"(?:T|k|K|m|M|mn|bn|Mio\.?|Mrd\.?) ?(?P<after>[A-Z]{3}|€|\$|£|¥)"
    r"|(?P<before>[A-Z]{3}|€|\$|£|¥) ?(?:k|K|m|M|mn|bn|Mio\.?|Mrd\.?|'?000s?|thousands?|millions?|"
    r"billions?)"
)
"""Thousands or millions of a currency: another unit than the currency itself."""

_BRACKETS = re.compile(r"\((?:in )?([^()]+)\)|\[(?:in )?([^\[\]]+)\]")
_TRAILING = re.compile(r"\b[Ii]n (.+)\Z")
_WORDS_TOO = frozenset(
    ["ALL", "BAM", "COP", "CUP", "GEL", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY"]
)
"""Currencies whose codes are words as well: without brackets they name none."""
_PER_CENT_NAME = re.compile(
    r"\s*%|.*(?:%|\b(?:percent|per cent|prozent|pct\.?))\s*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names: a known unit, a scale such as ``thousand``, or a word that is neither of
    them and no remark: it may be a unit.
    """

    unit: str = ""
    scale: str = ""
    word: str = ""


def unit_of(text: str) -> str:
    """A currency or unit in its one spelling (``€`` is ``EUR``); what is not known stays as it was
    written.
    """
    text = " ".join(text.split())
    return _SPELLINGS.get(text.lower(), text)


def kind_of(unit: str) -> str:
    """What a unit measures; "" where it is not known. A sign of money in it, or three capitals that
    are no known unit, make it a currency.
    """
    money = is_currency(unit) or any(map(_is_sign, unit)) or re.fullmatch(r"[A-Z]{3}", unit)
    return _KIND_OF.get(unit) or (CURRENCY if money else "")


def named_in(name: str) -> Named:
    """What a column's name gives: ``amount (EUR)``, ``catch [kg]``, ``sum in USD``, ``margin %``,
    ``sales (in thousands)``, ``output (bbl)``.

    Words after ``in`` count where a known unit or a scale is among them: ``sum in all`` names none.
    A currency counts at the end without any of that, a scale beside it: ``revenue TEUR``, ``sales
    EUR million``, ``amount_usd``. Beside a known unit, an unknown word is a remark.
    """
    name = name.replace("_", " ")
    if _PER_CENT_NAME.match(name):
        return Named(PER_CENT)
    texts = [one or other for one, other in _BRACKETS.findall(name)]
    plain = " ".join(_BRACKETS.sub(" ", name).split())
    trailing = _TRAILING.search(plain)
    if trailing and any(one.unit or one.scale for one in map(_named, _PARTS.split(trailing[1]))):
        texts.append(trailing[1])
    else:
        texts += _currency_at_the_end(plain.split())
    return _together([(text, named_by(text)) for text in texts])


def _currency_at_the_end(words: Sequence[str]) -> Sequence[str]:
    """The last word where it is a currency, with the scale beside it; none where there is no such
    word.
    """
    money = [is_currency(unit_of(word)) and word not in _WORDS_TOO for word in words[-2:]]
    scaled = [bool(_scale_of(word)) for word in words[-2:]]
    if money == scaled[::-1] == [True, False] or money == scaled[::-1] == [False, True]:
        return [" ".join(words[-2:])]
    return words[-1:] if money[-1:] == [True] else ()


def named_by(text: str) -> Named:
    """What a text names, as a whole or by its parts: ``EUR``, ``net, EUR``, ``thousands of euros``;
    a part that is unknown leaves it a word.
    """
    text = " ".join(text.split())
    whole = _named(text) if text else Named()
    if not whole.word:
        return whole
    parts = [part for part in _PARTS.split(text) if part.lower() not in _FILLERS]
    found = [_named(part) for part in parts]
    if any(one.word for one in found):
        return whole
    made = _together([(text, one) for one in found])
    return Named(word=text) if made.word else made


def unit_named(text: str) -> Named:
    """What stands beside a number, or in a column of units: a scale, or a unit whether it is known
    or not.
    """
    named = named_by(text)
    return named if named.unit or named.scale else Named(unit_of(text))


def in_full(scale: str, unit: str, word: str = "") -> str | None:
    """A figure's unit: ``thousand EUR``, ``bbl``, ``service, EUR``; None where it makes no sense:
    thousands of per cent, or of TEUR.
    """
    if scale and (unit == PER_CENT or _is_scaled(unit)):
        return None
    if unit == PER_CENT:
        return unit
    scaled = " ".join(filter(None, (scale, word or unit)))
    return f"{scaled}, {unit}" if word and unit else scaled


def agreed(one: str, other: str) -> str | None:
    """The unit that two places name together, "" being no unit; None where they contradict. The
    dollar sign beside CAD is CAD.
    """
    if not one or not other or one == other:
        return one or other
    if other in _SIGN_OF.get(one, ()):
        return other
    return one if one in _SIGN_OF.get(other, ()) else None


def is_currency(unit: str) -> bool:
    """Whether it is a known currency, a sign of one, or thousands or millions of one."""
    if (
        unit in _CODES
        or unit in _NAMED_SIGNS
        or (_is_sign(unit[-1:]) and re.fullmatch(r"[A-Z]{0,3}", unit[:-1]))
    ):
        return True
    return _is_scaled(unit)


def _is_scaled(unit: str) -> bool:
    scaled = _SCALED.fullmatch(unit)
    found = "" if scaled is None else scaled["after"] or scaled["before"]
    return found in _CODES or _is_sign(found)


def _named(text: str) -> Named:
    unit = unit_of(text)
    if unit == PER_CENT or unit in _KIND_OF or is_currency(unit):
        return Named(unit)
    if scale := _scale_of(text):
        return Named(scale=scale)
    return (
        Named()
        if text.lower().rstrip(".") in _REMARKS or _PERIOD.fullmatch(text)
        else Named(word=text)
    )


def _scale_of(text: str) -> str:
    return _SCALE_OF.get(text.lower().rstrip(".").replace("\u2019", "'"), "")


def _together(found: Sequence[tuple[str, Named]]) -> Named:
    """What several texts name together; where they contradict, all of them are a word."""
    units, scales = (
        _distinct(one.unit for _, one in found),
        _distinct(one.scale for _, one in found),
    )
    unit, scale = "".join(units[:1]), "".join(scales[:1])
    if len(units) > 1 or len(scales) > 1 or in_full(scale, unit) is None:
        return Named(word=", ".join(_distinct(text for text, one in found if one != Named())))
    words = _distinct(one.word for _, one in found if not unit or _has_scale(one.word))
    return Named(unit, scale, ", ".join(words))


def _has_scale(text: str) -> bool:
    return any(map(_scale_of, _PARTS.split(text)))


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, texts)))


def _is_sign(character: str) -> bool:
    return bool(character) and unicodedata.category(character) == "Sc"
