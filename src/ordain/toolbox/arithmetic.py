"""Exact arithmetic on an expression: a small parser over fractions, in which nothing can grow
without bound.

There is no ``eval`` and no Python syntax tree: the grammar below is all there is. Every
intermediate number is held to ``BITS_MAX`` bits before it is computed, so no expression can take
long. Only ``sqrt`` of a number that is no square leaves exactness, and the result then says so.

::

    sum     := term (("+" | "-") term)*
    term    := sign (("*" | "/" | "//" | "%") sign)*
    sign    := ("+" | "-") sign | power
    power   := atom ["**" sign]
    atom    := number | name "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

EXPRESSION_MAX = 1000
"""Longest expression, in characters."""

BITS_MAX = 10_000
"""Largest numerator and denominator, in bits (about 3,000 decimal digits)."""

DEPTH_MAX = 50
"""Deepest nesting of parentheses, signs and powers."""

DECIMAL_DIGITS = 30
"""Significant digits of the decimal form."""

ROOT_DIGITS = 60
"""Significant digits, or more, to which an irrational root is cut before it is used further."""

PLACES_MAX = 1000
"""Most places that round takes."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(?P<name>[a-z]+)|"
    r"(?P<sign>\*\*|//|[-+*/%(),]))"
)
_ROUNDING = decimal.Context(
    prec=DECIMAL_DIGITS,
    rounding=decimal.ROUND_HALF_EVEN,
    Emax=decimal.MAX_EMAX,
    Emin=decimal.MIN_EMIN,
)


class Uncomputable(Exception):
    """The expression has no result here; ``code`` says which kind of reason, the message where and
    why.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep the code for programs."""
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class Number:
    """A rational number; ``exact`` is false once an irrational root went into it."""

    value: Fraction
    exact: bool = True

    def text(self) -> str:
        """The number itself: whole, or as a reduced fraction; rounded to ``DECIMAL_DIGITS`` where
        it is not exact.
        """
        return str(self.value) if self.exact else self.decimal()

    def decimal(self) -> str:
        """Decimal form, rounded half to even to ``DECIMAL_DIGITS`` significant digits."""
        quotient = _ROUNDING.divide(
            decimal.Decimal(self.value.numerator), decimal.Decimal(self.value.denominator)
        )
        plain = quotient.normalize(_ROUNDING)
        return (
            format(plain, "f")
            if -DECIMAL_DIGITS <= plain.adjusted() < DECIMAL_DIGITS
            else str(plain)
        )


def evaluate(expression: str) -> Number:
    """Compute the expression.

    Raises:
        Uncomputable: codes ``syntax``, ``too_long``, ``too_deep``, ``too_large``,
            ``division_by_zero``, ``undefined``.
    """
    if len(expression) > EXPRESSION_MAX:
        raise Uncomputable("too_long", f"longer than {EXPRESSION_MAX} characters")
    return _Parser(expression).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(expression: str) -> list[_Token]:
    found: list[_Token] = []
    end = len(expression.rstrip())
    position = 0
    while position < end:
        match = _TOKEN.match(expression, position)
        if match is None or match.lastgroup is None:
            raise Uncomputable(
                "syntax", f"character {position + 1}: not a number, operator or function"
            )
        found.append(
            _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) + 1)
        )
        position = match.end()
    return [*found, _Token("end", "", end + 1)]


class _Parser:
    """Recursive descent that computes as it reads."""

    def __init__(self, expression: str) -> None:
        self._tokens = _tokens(expression)
        self._next = 0
        self._depth = 0

    def whole(self) -> Number:
        number = self._sum()
        if (token := self._peek()).kind != "end":
            raise _unexpected(token)
        return number

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> _Token | None:
        token = self._peek()
        if token.kind != "sign" or token.text not in texts:
            return None
        self._next += 1
        return token

    def _expect(self, text: str) -> None:
        if self._take(text) is None:
            raise _unexpected(self._peek(), f", expected {text!r}")

    def _sum(self) -> Number:
        number = self._term()
        while operator := self._take("+", "-"):
            number = _BINARY[operator.text](number, self._term())
        return number

    def _term(self) -> Number:
        number = self._signed()
        while operator := self._take("*", "/", "//", "%"):
            number = _BINARY[operator.text](number, self._signed())
        return number

    def _signed(self) -> Number:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise Uncomputable("too_deep", f"nested deeper than {DEPTH_MAX}")
        if operator := self._take("+", "-"):
            number = self._signed()
            number = number if operator.text == "+" else Number(-number.value, number.exact)
        else:
            number = self._power()
        self._depth -= 1
        return number

    def _power(self) -> Number:
        number = self._atom()
        return _power(number, self._signed()) if self._take("**") else number

    def _atom(self) -> Number:
        token = self._peek()
        if token.kind == "number":
            self._next += 1
            return _literal(token)
        if token.kind == "name":
            self._next += 1
            return self._call(token)
        if self._take("("):
            number = self._sum()
            self._expect(")")
            return number
        raise _unexpected(token)

    def _call(self, name: _Token) -> Number:
        function = _FUNCTIONS.get(name.text)
        if function is None:
            raise Uncomputable(
                "syntax", f"character {name.at}: functions are {', '.join(_FUNCTIONS)}"
            )
        self._expect("(")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        return function(arguments)


def _unexpected(token: _Token, more: str = "") -> Uncomputable:
    what = "it ends too early" if token.kind == "end" else f"unexpected {token.text[:20]!r}"
    return Uncomputable("syntax", f"character {token.at}: {what}{more}")


def _literal(token: _Token) -> Number:
    mantissa, _, exponent = token.text.lower().partition("e")
    # Held before it is built: 1e999999999 is short to write.
    if len(exponent) > 6 or abs(int(exponent or 0)) + len(mantissa) > BITS_MAX * 0.3:
        raise _too_large()
    return _held(Fraction(token.text), exact=True)


def _held(value: Fraction, *, exact: bool) -> Number:
    if not exact and value.denominator.bit_length() > ROOT_DIGITS * 4:
        value = _cut(value)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > BITS_MAX:
        raise _too_large()
    return Number(value, exact)


def _cut(value: Fraction) -> Fraction:
    """A number that is not exact, to ``ROOT_DIGITS`` significant digits or a few more: its digits
    beyond mean nothing.
    """
    digits = (value.numerator.bit_length() - value.denominator.bit_length()) * math.log10(2)
    scale = 10 ** max(0, ROOT_DIGITS - int(digits))
    return Fraction(value.numerator * scale // value.denominator, scale)


def _too_large() -> Uncomputable:
    return Uncomputable("too_large", f"a number needs more than {BITS_MAX} bits")


def _add(left: Number, right: Number) -> Number:
    return _held(left.value + right.value, exact=left.exact and right.exact)


def _subtract(left: Number, right: Number) -> Number:
    return _held(left.value - right.value, exact=left.exact and right.exact)


def _multiply(left: Number, right: Number) -> Number:
    return _held(left.value * right.value, exact=left.exact and right.exact)


def _divisor(number: Number) -> Fraction:
    if not number.value:
        raise Uncomputable("division_by_zero", "division by zero")
    return number.value


def _divide(left: Number, right: Number) -> Number:
    return _held(left.value / _divisor(right), exact=left.exact and right.exact)


def _floor_divide(left: Number, right: Number) -> Number:
    return _held(Fraction(left.value // _divisor(right)), exact=left.exact and right.exact)


def _modulo(left: Number, right: Number) -> Number:
    return _held(left.value % _divisor(right), exact=left.exact and right.exact)


def _power(base: Number, exponent: Number) -> Number:
    if exponent.value.denominator != 1:
        raise Uncomputable("undefined", "an exponent is a whole number; for a root there is sqrt")
    power = exponent.value.numerator
    if power < 0:
        _divisor(base)
    bits = max(abs(base.value.numerator), base.value.denominator).bit_length()
    # A number of n bits is at least 2**(n-1): its power needs at least (n-1)*power bits. 0, 1 and
    # -1 stay what they are.
    if (bits - 1) * abs(power) > BITS_MAX:
        raise _too_large()
    # the same sign and the same zeroth power
    small = power if bits > 1 else power % 2 + 2 * (power != 0)
    return _held(base.value**small, exact=base.exact and exponent.exact)


_BINARY: MappingProxyType[str, Callable[[Number, Number], Number]] = MappingProxyType(
    {"+": _add, "-": _subtract, "*": _multiply, "/": _divide, "//": _floor_divide, "%": _modulo}
)


def _one(name: str, arguments: list[Number]) -> Number:
    if len(arguments) != 1:
        raise Uncomputable("syntax", f"{name} takes one number")
    return arguments[0]


def _least(arguments: list[Number]) -> Number:
    return Number(
        min(number.value for number in arguments), all(number.exact for number in arguments)
    )


def _greatest(arguments: list[Number]) -> Number:
    return Number(
        max(number.value for number in arguments), all(number.exact for number in arguments)
    )


def _total(arguments: list[Number]) -> Number:
    total = arguments[0]
    for number in arguments[1:]:
        total = _add(total, number)
    return total


def _absolute(arguments: list[Number]) -> Number:
    number = _one("abs", arguments)
    return Number(abs(number.value), number.exact)


def _rounded(arguments: list[Number]) -> Number:
    if len(arguments) > 2:
        raise Uncomputable("syntax", "round takes a number and, if wanted, places")
    number, places = arguments[0], arguments[1].value if len(arguments) == 2 else Fraction(0)
    if places.denominator != 1 or abs(places) > PLACES_MAX:
        raise Uncomputable(
            "undefined", f"round takes a whole number of places, at most {PLACES_MAX}"
        )
    return _held(Fraction(round(number.value, int(places))), exact=number.exact)


def _root(arguments: list[Number]) -> Number:
    number = _one("sqrt", arguments)
    if number.value < 0:
        raise Uncomputable("undefined", "sqrt of a negative number")
    above, below = math.isqrt(number.value.numerator), math.isqrt(number.value.denominator)
    if above**2 == number.value.numerator and below**2 == number.value.denominator:
        return Number(Fraction(above, below), number.exact)
    digits = (
        number.value.numerator.bit_length() - number.value.denominator.bit_length()
    ) * math.log10(2)
    places = max(0, ROOT_DIGITS - int(digits / 2))
    return _held(
        Fraction(
            math.isqrt(number.value.numerator * 100**places // number.value.denominator), 10**places
        ),
        exact=False,
    )


_FUNCTIONS: MappingProxyType[str, Callable[[list[Number]], Number]] = MappingProxyType(
    {
        "abs": _absolute,
        "max": _greatest,
        "min": _least,
        "round": _rounded,
        "sqrt": _root,
        "sum": _total,
    }
)
