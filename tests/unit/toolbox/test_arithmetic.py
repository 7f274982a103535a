"""Exact arithmetic against Python's own fractions, and against input that wants to grow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.toolbox.arithmetic import (
    BITS_MAX,
    DEPTH_MAX,
    EXPRESSION_MAX,
    Number,
    Uncomputable,
    evaluate,
)

Tree = tuple[str, Fraction | None]
"""An expression as text, and its value by Python's fractions; None where it has none."""


def outcome(expression: str) -> Number | str:
    """The number, or the code of the refusal."""
    try:
        return evaluate(expression)
    except Uncomputable as error:
        return error.code


def _leaf(value: Fraction, digits: int) -> Tree:
    return (
        f"{value.numerator / 10**digits:.{digits}f}",
        Fraction(f"{value.numerator / 10**digits:.{digits}f}"),
    )


def _joined(left: Tree, operator: str, right: Tree) -> Tree:
    text = f"({left[0]}) {operator} ({right[0]})"
    if left[1] is None or right[1] is None:
        return text, None
    a, b = left[1], right[1]
    if operator in {"/", "//", "%"} and not b:
        return text, None
    return text, {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "/": a / (b or 1),
        "//": Fraction(a // (b or 1)),
        "%": a % (b or 1),
    }[operator]


def _called(name: str, arguments: list[Tree]) -> Tree:
    text = f"{name}({', '.join(text for text, _ in arguments)})"
    values = [value for _, value in arguments if value is not None]
    if len(values) < len(arguments):
        return text, None
    match name:
        case "sum":
            return text, Fraction(sum(values))
        case "min":
            return text, min(values)
        case _:
            return text, max(values)


def _signed(operator: str, tree: Tree) -> Tree:
    return f"{operator}({tree[0]})", None if tree[1] is None else abs(
        tree[1]
    ) if operator == "abs" else -tree[1]


TREES = st.recursive(
    st.builds(_leaf, st.integers(-9999, 9999).map(Fraction), st.integers(0, 3)),
    lambda inner: (
        st.builds(_joined, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner)
        | st.builds(
            _called, st.sampled_from(["sum", "min", "max"]), st.lists(inner, min_size=1, max_size=3)
        )
        | st.builds(_signed, st.sampled_from(["-", "abs"]), inner)
    ),
    max_leaves=12,
)


@given(TREES)
def test_it_computes_what_fractions_compute(tree: Tree) -> None:
    """Every expression over fractions has exactly their value, and a division by zero is typed."""
    text, value = tree
    if len(text) > EXPRESSION_MAX:
        return
    found = outcome(text)
    if isinstance(found, str):
        assert (found, value) == ("division_by_zero", None) or found == "too_deep"
    else:
        assert found.exact
        assert found.value == value
        assert Fraction(found.text()) == found.value


@given(st.text(alphabet="0123456789.eE+-*/%(), sqrtabminxoundl", max_size=60))
def test_any_text_has_a_value_or_a_typed_refusal(text: str) -> None:
    """Nothing but Uncomputable comes out, and every number stays within its bound."""
    number = outcome(text)
    if isinstance(number, str):
        assert number in {
            "syntax",
            "too_long",
            "too_deep",
            "too_large",
            "division_by_zero",
            "undefined",
        }
    else:
        assert number.value.numerator.bit_length() <= BITS_MAX
        assert len(number.text()) < 7000
        assert len(number.decimal()) < 100


@given(st.integers(-50, 50), st.integers(-20, 20))
def test_powers_are_exact(base: int, exponent: int) -> None:
    """A whole power, negative ones included, is the exact fraction; Python's precedence of sign and
    power holds.
    """
    if base or exponent >= 0:
        assert evaluate(f"({base}) ** {exponent}").value == Fraction(base) ** exponent
    assert evaluate("-2 ** 2").value == -4
    assert evaluate("2 ** -1 ** 2").value == Fraction(1, 2)
    assert evaluate("2 ** 3 ** 2").value == 512


@given(st.fractions(min_value=0, max_value=10**9, max_denominator=10**6))
def test_a_root_is_exact_or_says_that_it_is_not(value: Fraction) -> None:
    """The root of a square is exact; any other is right to 50 digits and declared approximate."""
    assert evaluate(f"sqrt(({value}) ** 2)").value == value
    assert evaluate(f"sqrt(({value}) ** 2)").exact
    root = evaluate(f"sqrt({value})")
    if root.exact:
        assert root.value**2 == value
    else:
        assert abs(root.value**2 - value) < value / 10**50
        assert not evaluate(f"sqrt({value}) - sqrt({value})").exact


@pytest.mark.parametrize(
    ("expression", "result", "decimal"),
    [
        ("0.1 + 0.2", "3/10", "0.3"),
        ("1/3", "1/3", "0.333333333333333333333333333333"),
        ("2/3", "2/3", "0.666666666666666666666666666667"),
        ("10 // 3", "3", "3"),
        ("-7 // 2", "-4", "-4"),
        ("-7 % 3", "2", "2"),
        ("7.5 % 2", "3/2", "1.5"),
        ("1e3 + .5 + 2.", "2005/2", "1002.5"),
        ("round(2.5)", "2", "2"),
        ("round(2/3, 2)", "67/100", "0.67"),
        ("round(12345, -2)", "12300", "12300"),
        ("2 ** 100", "1267650600228229401496703205376", "1.26765060022822940149670320538E+30"),
        ("sqrt(2)", "1.41421356237309504880168872421", "1.41421356237309504880168872421"),
        ("sqrt(1e-300)", "1/1" + "0" * 150, "1E-150"),
        (
            "sqrt(2e-300) * 1e150",
            "1.41421356237309504880168872421",
            "1.41421356237309504880168872421",
        ),
        ("0 ** 0", "1", "1"),
        ("(-1) ** 1e2", "1", "1"),
        (" ( 1 ) ", "1", "1"),
        ("min(3, 1/2, 2)", "1/2", "0.5"),
    ],
)
def test_results_read_as_promised(expression: str, result: str, decimal: str) -> None:
    """Exact value as whole number or reduced fraction, decimal form to 30 digits."""
    number = evaluate(expression)
    assert (number.text(), number.decimal()) == (result, decimal)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("", "syntax"),
        ("1 +", "syntax"),
        ("(1", "syntax"),
        ("1)", "syntax"),
        ("1 2", "syntax"),
        ("1.2.3", "syntax"),
        ("1_000", "syntax"),
        ("0x10", "syntax"),
        ("1j", "syntax"),
        ("x", "syntax"),
        ("__import__('os')", "syntax"),
        ("sqrt.real", "syntax"),
        ("sqrt()", "syntax"),
        ("sqrt(1, 2)", "syntax"),
        ("round(1, 2, 3)", "syntax"),
        ("pow(2, 3)", "syntax"),
        ("1 < 2", "syntax"),
        ("1 if 1 else 2", "syntax"),
        ("\u0661 + 1", "syntax"),
        ("nan", "syntax"),
        ("1 / 0", "division_by_zero"),
        ("1 // (1 - 1)", "division_by_zero"),
        ("1 % 0.0", "division_by_zero"),
        ("0 ** -1", "division_by_zero"),
        ("2 ** 0.5", "undefined"),
        ("sqrt(-1)", "undefined"),
        ("round(1, 0.5)", "undefined"),
        ("round(1, 9999)", "undefined"),
        ("1e99999999999", "too_large"),
        ("1e-4000", "too_large"),
        ("9" * 999, None),
        ("2 ** 10000", "too_large"),
        ("2 ** 1e3000", "too_large"),
        ("10 ** 10 ** 10", "too_large"),
        ("(1/3) ** -1e9", "too_large"),
        ("9 ** 9 ** 9 ** 9 ** 9", "too_large"),
        ("1e2900 * 1e2900", "too_large"),
        ("1 ** 1e2900", None),
        ("(" * 400 + "1" + ")" * 400, "too_deep"),
        ("-" * 900 + "1", "too_deep"),
        ("2" + " ** 1" * 190, "too_deep"),
        ("(" * (DEPTH_MAX - 1) + "1" + ")" * (DEPTH_MAX - 1), None),
        ("1" * (EXPRESSION_MAX + 1), "too_long"),
        ("9" * 100_000 + " ** " + "9" * 100_000, "too_long"),
    ],
)
def test_what_has_no_value_is_typed(expression: str, code: str | None) -> None:
    """Bad syntax, undefined operations and growth each have their code; the largest permitted
    inputs have none.
    """
    if code is None:
        assert evaluate(expression).exact
        return
    with pytest.raises(Uncomputable) as error:
        evaluate(expression)
    assert error.value.code == code
    assert len(error.value.message) < 200


@pytest.mark.parametrize(
    ("expression", "told"),
    [("1+", "character 3: it ends too early"), ("1 + )", "character 5: unexpected ')'")],
)
def test_where_an_expression_is_none_is_said(expression: str, told: str) -> None:
    """By the place and what stands there, or that there is nothing."""
    with pytest.raises(Uncomputable, match=r"character") as refused:
        evaluate(expression)
    assert refused.value.message.startswith(told)
