"""Currencies and units as people write them: one spelling for each, and what is none is none.

A word in brackets behind a column's name may be its unit (``amount (EUR)``) or a remark (``amount (net)``); only what is known here counts.
"""

from __future__ import annotations

import re
import unicodedata

UNIT_MAX = 12
"""Longest unit, in characters."""

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
    "count": "pcs pc PCS pieces units Stk STK Stück",
}
_KIND_OF = {unit: kind for kind, units in _KINDS.items() for unit in units.split()}
_SPELLINGS = {"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF"} | dict.fromkeys(
    ("%", "percent", "per cent", "prozent", "pct", "pct."), PER_CENT
)
_NAMED_SIGNS = frozenset({"kr", "zł", "Kč", "Ft", "Fr.", "SFr.", "lei"})
_SIGN_OF = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK", "DKK"),
    "₹": ("INR",),
}
_SCALED = re.compile(
    r"(?:T|k|K|M|mn|bn|Mio\.?|Mrd\.?) ?(?P<after>[A-Z]{3}|€|\$|£|¥)"
    r"|(?P<before>[A-Z]{3}|€|\$|£|¥) ?(?:k|K|m|M|mn|bn|Mio\.?|Mrd\.?|thousands?|millions?|billions?)"
)
"""Thousands or millions of a currency: another unit than the currency itself."""

_BRACKETS = re.compile(r"\((?:in )?([^()]{1,20})\)|\[(?:in )?([^\[\]]{1,20})\]")
_TRAILING = re.compile(r"\bin (?P<unit>[A-Z]{3}|[€$£¥%])\s*\Z")
_PER_CENT_NAME = re.compile(r"\s*%|.*(?:%|\b(?:percent|per cent|prozent|pct\.?))\s*\Z", re.IGNORECASE)


def unit_of(text: str) -> str:
    """A currency or unit in its one spelling (``€`` is ``EUR``); what is not known stays as it was written."""
    text = " ".join(text.split())
    return _SPELLINGS.get(text.lower(), text)


def kind_of(unit: str) -> str:
    """What a unit measures; "" where it is not known. A sign of money in it, or three capitals that are no known unit, make it a currency."""
    money = is_currency(unit) or any(map(_is_sign, unit)) or re.fullmatch(r"[A-Z]{3}", unit)
    return _KIND_OF.get(unit) or (CURRENCY if money else "")


def named_in(name: str) -> str:
    """The unit that a column's name gives: ``amount (EUR)``, ``catch [kg]``, ``sum in USD``, ``margin %``; "" where it gives none."""
    if _PER_CENT_NAME.match(name):
        return PER_CENT
    units = [unit_of(one or other) for one, other in _BRACKETS.findall(name)]
    if trailing := _TRAILING.search(name):
        units.append(unit_of(trailing["unit"]))
    known = {unit for unit in units if _is_known(unit)}
    return known.pop() if len(known) == 1 else ""


def agreed(one: str, other: str) -> str | None:
    """The unit that two places name together, "" being no unit; None where they contradict. The dollar sign beside CAD is CAD."""
    if not one or not other or one == other:
        return one or other
    if other in _SIGN_OF.get(one, ()):
        return other
    return one if one in _SIGN_OF.get(other, ()) else None


def is_currency(unit: str) -> bool:
    """Whether it is a known currency, a sign of one, or thousands or millions of one."""
    if unit in _CODES or unit in _NAMED_SIGNS or (_is_sign(unit[-1:]) and re.fullmatch(r"[A-Z]{0,3}", unit[:-1])):
        return True
    scaled = _SCALED.fullmatch(unit)
    found = "" if scaled is None else scaled["after"] or scaled["before"]
    return found in _CODES or _is_sign(found)


def _is_known(unit: str) -> bool:
    return unit == PER_CENT or unit in _KIND_OF or is_currency(unit)


def _is_sign(character: str) -> bool:
    return bool(character) and unicodedata.category(character) == "Sc"
