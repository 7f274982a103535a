"""``math.evaluate``: exact arithmetic for a planner that cannot be trusted to calculate.

No output field is declared trusted, so all are foreign: the model wrote the expression, and a
number must not become one of the system's by having been calculated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ordain import FunctionVerb, VerbError, verb
from ordain.toolbox.arithmetic import EXPRESSION_MAX, Uncomputable, evaluate


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The value of an expression, twice."""

    result: Annotated[
        str,
        Field(
            max_length=7000,
            description="The exact value: a whole number or a reduced fraction such as 1/3.",
        ),
    ]
    decimal: Annotated[
        str,
        Field(
            max_length=100,
            description="The value in decimal form, rounded to 30 significant digits.",
        ),
    ]
    exact: Annotated[
        bool,
        Field(
            description=(
                "False where the root of a number that is no square went in; result is then "
                "rounded too."
            )
        ),
    ]


def math_evaluate() -> FunctionVerb[Any, Any]:
    """The verb ``math.evaluate``."""
    return _evaluate


@verb(
    name="math.evaluate",
    label="Calculate",
    effect="read",
    category="Transform",
    tags=["math"],
    timeout_ms=5_000,
    idempotent=True,
    example={
        "input": {"expression": "0.1 + 0.2 - 1/3"},
        "output": {
            "result": "-1/30",
            "decimal": "-0.0333333333333333333333333333333",
            "exact": True,
        },
    },
)
async def _evaluate(
    expression: Annotated[str, Field(min_length=1, max_length=EXPRESSION_MAX)],
) -> Evaluated:
    """Calculate an arithmetic expression exactly, without rounding.

    Knows + - * / // % ** and parentheses, and the functions abs, max, min, round, sqrt, sum.
    Decimals such as 0.1 are exact.

    Args:
        expression: for example 1200 * (1 - 0.075), sum(1, 2, 3) / 3 or round(2/3, 2).
    """
    try:
        number = evaluate(expression)
    except Uncomputable as error:
        raise VerbError(error.code, error.message, happened=False) from error
    return Evaluated(number.text(), number.decimal(), number.exact)
