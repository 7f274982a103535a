"""``sim.markov_next_theme``: which theme tends to follow the latest ones, by counting, and one
choice by seed.

Themes are those of stored entries, or a history that the call gives. Nothing here is a model: the
same history and seed give the same answer, and how little it rests on is said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from ordain import FunctionVerb, VerbContext, VerbError, verb
from ordain.toolbox.markov import Chain, Chance, Chances, Smoothing, choose

THEME_MAX = 80
HISTORY_MAX = 2000
LISTED_MAX = 50
HORIZON_MAX = 10
ENOUGH = 5
"""Transitions from the latest themes that a distribution rests on, below which it says that they
are few.
"""

ThemeText = Annotated[str, Field(min_length=1, max_length=THEME_MAX)]
Share = Annotated[str, Field(max_length=2000, description="An exact fraction such as 3/7.")]


Themes = Callable[[VerbContext, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class NextTheme:
    """One theme that may come next."""

    theme: Annotated[str, Field(max_length=THEME_MAX)]
    count: Annotated[int, Field(ge=0, description="How often it followed.")]
    probability: Share
    decimal: Annotated[
        str, Field(max_length=20, description="The probability rounded half-even to 6 places.")
    ]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What followed the latest themes so far, and what the seed chooses."""

    state: Annotated[
        list[ThemeText],
        Field(
            max_length=2,
            description="The latest themes that the distribution was counted after, oldest first.",
        ),
    ]
    order_used: Annotated[
        int,
        Field(
            ge=0,
            le=2,
            description=(
                "How many latest themes were looked at; 0: how often each theme occurs, as "
                "nothing ever followed them."
            ),
        ),
    ]
    distribution: Annotated[
        list[NextTheme], Field(max_length=LISTED_MAX, description="The likeliest first.")
    ]
    others: Annotated[int, Field(ge=0, description="Themes that are possible and not listed.")]
    choice: Annotated[
        str,
        Field(
            max_length=THEME_MAX,
            description="The theme that the seed chooses, in proportion to the distribution.",
        ),
    ]
    path: Annotated[
        list[NextTheme],
        Field(
            max_length=HORIZON_MAX,
            description="The choices of horizon steps in a row; the first is choice.",
        ),
    ]
    path_probability: Share
    seed: Annotated[
        str, Field(max_length=200, description="Give it again to get the same choices.")
    ]
    themes: Annotated[int, Field(ge=0, description="Themes in the history.")]
    support: Annotated[
        int,
        Field(
            ge=0,
            description="How often something followed the state: what the distribution rests on.",
        ),
    ]
    smoothing: Annotated[
        Smoothing,
        Field(
            description=(
                "none: probabilities are counts. add_one: every known theme counts once more."
            )
        ),
    ]
    source: Annotated[Literal["given", "stored"], Field(description="Where the history is from.")]
    notice: Annotated[
        str | None,
        Field(
            max_length=300, description="What there is too little of; null where there is enough."
        ),
    ]


EXAMPLE: dict[str, Any] = {
    "input": {
        "history": ["work", "family", "work", "sleep", "work", "family", "work"],
        "seed": "7",
    },
    "output": {
        "state": ["work"],
        "order_used": 1,
        "distribution": [
            {"theme": "family", "count": 2, "probability": "2/3", "decimal": "0.666667"},
            {"theme": "sleep", "count": 1, "probability": "1/3", "decimal": "0.333333"},
        ],
        "others": 0,
        "choice": "family",
        "path": [{"theme": "family", "count": 2, "probability": "2/3", "decimal": "0.666667"}],
        "path_probability": "2/3",
        "seed": "7",
        "themes": 7,
        "support": 3,
        "smoothing": "none",
        "source": "given",
        "notice": "few: something followed the latest themes 3 times only",
    },
}


def sim_markov_next_theme(themes: Themes) -> FunctionVerb[Any, Any]:
    """The verb ``sim.markov_next_theme``; ``themes`` gives the latest of what a call may see
    (oldest first, at most so many), where it brings no history.
    """

    @verb(
        name="sim.markov_next_theme",
        label="Next theme",
        effect="read",
        category="MetaCognition",
        scopes=["memory"],
        tags=["memory", "simulation"],
        timeout_ms=10_000,
        idempotent=True,
        example=EXAMPLE,
    )
    async def next_theme(
        context: VerbContext,
        history: Annotated[list[ThemeText], Field(max_length=HISTORY_MAX)] | None = None,
        order: Annotated[int, Field(ge=1, le=2)] = 1,
        horizon: Annotated[int, Field(ge=1, le=HORIZON_MAX)] = 1,
        seed: Annotated[str, Field(min_length=1, max_length=200)] | None = None,
        smoothing: Smoothing = "none",
    ) -> Forecast:
        """Say which theme tends to follow the latest ones, counted over the themes of stored
        entries, and choose one by seed.

        Use it to vary what comes next in proportion to what came before, for example in journaling;
        it predicts nothing else. Returns the distribution as exact fractions, the choice, and how
        many cases it rests on. Fails with too_little_history below 2 themes.

        Args:
            context: the call: its workspace, and its key.
            history: themes, oldest first, in place of the stored ones (those of
                collapse.write_entry).
            order: how many of the latest themes are looked at; where nothing ever followed them,
                fewer.
            horizon: how many choices in a row.
            seed: the same seed gives the same choices; without one it is derived from the call.
            smoothing: none, or add_one, which lets every known theme come next.
        """
        told = await themes(context, HISTORY_MAX) if history is None else history
        options = SimOptions(order, horizon, seed or context.key, smoothing)
        # exact fractions take their time
        return await asyncio.to_thread(
            forecast, told, options, "stored" if history is None else "given"
        )

    return next_theme


@dataclass(frozen=True, slots=True)
class SimOptions:
    """How to count and choose; see the verb's arguments."""

    order: int
    horizon: int
    seed: str
    smoothing: Smoothing


def forecast(
    history: Sequence[str], options: SimOptions, source: Literal["given", "stored"]
) -> Forecast:
    """Count, distribute and choose; blanks around and between words do not count.

    Raises:
        VerbError: fewer than two themes are known (``too_little_history``).
    """
    themes = [theme for theme in (" ".join(theme.split()) for theme in history) if theme]
    order, seed = options.order, options.seed
    if len(themes) < 2:
        raise VerbError(
            "too_little_history",
            f"{len(themes)} themes are known; what follows what takes 2 at least",
        )
    chain = Chain(themes, order, options.smoothing)
    first = chain.following(themes[-order:])
    path: list[Chance] = []
    for step in range(options.horizon):
        path.append(
            choose(
                chain.following([*themes, *(one.theme for one in path)][-order:]).chances,
                seed,
                step,
            )
        )
    together = Fraction(1)
    for one in path:
        together *= one.probability
    return Forecast(
        state=list(themes[len(themes) - first.order :]),
        order_used=first.order,
        distribution=[_shown(one) for one in first.chances[:LISTED_MAX]],
        others=max(0, len(first.chances) - LISTED_MAX),
        choice=path[0].theme,
        path=[_shown(one) for one in path],
        path_probability=str(together),
        seed=seed,
        themes=len(themes),
        support=first.support,
        smoothing=options.smoothing,
        source=source,
        notice=_notice(first, order),
    )


def _notice(first: Chances, order: int) -> str | None:
    if first.order == 0:
        return (
            "nothing ever followed the latest theme: the distribution says how often each theme "
            "occurs"
        )
    back = (
        f"nothing ever followed the latest {order} themes together, {first.order} was looked at; "
        if first.order < order
        else ""
    )
    few = (
        f"few: something followed the latest themes {first.support} times only"
        if first.support < ENOUGH
        else ""
    )
    return (back + few).removesuffix("; ") or None


def _shown(one: Chance) -> NextTheme:
    with localcontext() as exact:
        exact.prec = 50
        rounded = (Decimal(one.probability.numerator) / one.probability.denominator).quantize(
            Decimal("0.000001"), ROUND_HALF_EVEN
        )
    return NextTheme(
        theme=one.theme, count=one.count, probability=str(one.probability), decimal=str(rounded)
    )
