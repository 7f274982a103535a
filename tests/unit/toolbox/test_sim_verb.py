"""The next theme: counts, exact probabilities, choices by seed."""

from __future__ import annotations

import asyncio
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.shipped_verbs import latest_themes
from ordain.toolbox.markov import Chain, Smoothing, choose
from ordain.toolbox.sim_verb import LISTED_MAX, sim_markov_next_theme
from ordain.verbs.builtin.names import no_library
from tests.shapes.leaf_calls import failure_of, output_of

VERB = sim_markov_next_theme(latest_themes(no_library))
TIDES = ["storm", "calm", "storm", "fog", "storm", "calm", "fog", "calm", "storm", "calm", "storm"]
histories = st.lists(st.sampled_from("abcd"), min_size=1, max_size=30)
smoothings: st.SearchStrategy[Smoothing] = st.sampled_from(["none", "add_one"])


@given(histories, st.integers(1, 2), smoothings)
def test_probabilities_are_the_counts_shares(
    history: list[str], order: int, smoothing: Smoothing
) -> None:
    """Probabilities add up to one, each is its count's share, and what never followed the state is
    there only with smoothing.
    """
    found = Chain(history, order, smoothing).following(history[-order:])
    assert sum(one.probability for one in found.chances) == 1
    state = history[len(history) - found.order :]
    seen = Counter(
        history[at + found.order]
        for at in range(len(history) - found.order)
        if history[at : at + found.order] == state
    )
    assert found.support == seen.total()
    assert {one.theme: one.count for one in found.chances if one.count} == dict(seen)
    more = smoothing == "add_one"
    total = seen.total() + more * len(set(history))
    assert all(one.probability == Fraction(one.count + more, total) for one in found.chances)
    assert more or all(one.count for one in found.chances)
    assert list(found.chances) == sorted(
        found.chances, key=lambda one: (-one.probability, one.theme)
    )


@given(histories, st.integers(1, 2))
def test_fewer_themes_are_looked_at_only_where_more_never_led_on(
    history: list[str], order: int
) -> None:
    """The order that is used is the longest whose state was ever followed by anything."""
    used = Chain(history, order, "none").following(history[-order:]).order
    for longer in range(used + 1, min(order, len(history)) + 1):
        state = history[len(history) - longer :]
        assert not any(history[at : at + longer] == state for at in range(len(history) - longer))


def test_choices_over_many_seeds_follow_the_distribution() -> None:
    """Of 3000 seeds each theme is chosen about as often as it is probable; the same seed chooses
    the same.
    """
    chances = Chain(TIDES, 1, "none").following(["storm"]).chances
    drawn = Counter(choose(chances, str(seed), 0).theme for seed in range(3000))
    assert all(abs(drawn[one.theme] / 3000 - float(one.probability)) < 0.04 for one in chances)
    assert [choose(chances, "s", step) for step in range(9)] == [
        choose(chances, "s", step) for step in range(9)
    ]


async def test_counting_keeps_nobody_waiting() -> None:
    """While a long history is counted the event loop goes on."""
    counted = asyncio.ensure_future(
        output_of(
            VERB,
            history=[f"theme {n}" for n in range(2000)],
            smoothing="add_one",
            horizon=10,
            seed="s",
        )
    )
    turns = 0
    while not counted.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert turns > 2
    assert len(counted.result()["path"]) == 10


async def test_themes_that_no_example_holds_are_counted() -> None:
    """VRB-09 "`sim.markov_next_theme`": after storm came calm three times and fog once, as exact
    fractions and decimals.
    """
    output = await output_of(VERB, history=TIDES, seed="harbour")
    assert [
        (one["theme"], one["count"], one["probability"], one["decimal"])
        for one in output["distribution"]
    ] == [
        ("calm", 3, "3/4", "0.750000"),
        ("fog", 1, "1/4", "0.250000"),
    ]
    assert (output["state"], output["support"], output["themes"], output["source"]) == (
        ["storm"],
        4,
        11,
        "given",
    )
    assert output["choice"] in {"calm", "fog"}
    assert output["notice"] == "few: something followed the latest themes 4 times only"


async def test_a_path_is_choices_in_a_row() -> None:
    """Each step's probability is that after the themes before it, and the path's is their
    product.
    """
    output = await output_of(VERB, history=TIDES * 3, seed="1", horizon=5, order=2)
    chain, said, together = Chain(TIDES * 3, 2, "none"), list(TIDES), Fraction(1)
    for step in output["path"]:
        likely = {one.theme: one.probability for one in chain.following(said[-2:]).chances}
        assert Fraction(step["probability"]) == likely[step["theme"]]
        together *= likely[step["theme"]]
        said.append(step["theme"])
    assert Fraction(output["path_probability"]) == together
    assert output["choice"] == output["path"][0]["theme"]
    assert output == await output_of(VERB, history=TIDES * 3, seed="1", horizon=5, order=2)


async def test_a_seed_of_the_calls_own_repeats_with_the_call() -> None:
    """Without a seed the call's key is it: a repeated attempt chooses the same, and says with
    what.
    """
    first, second = [await output_of(VERB, history=TIDES) for _ in range(2)]
    assert first == second
    assert first["seed"] == "k"


@pytest.mark.parametrize("history", [[], ["alone"], ["  ", "alone"]])
async def test_too_little_history_is_a_typed_failure(history: list[str]) -> None:
    """Below two themes there is nothing to count."""
    assert (await failure_of(VERB, history=history)).code == "too_little_history"


async def test_a_new_theme_says_that_nothing_ever_followed_it() -> None:
    """After a theme that stands at the end alone the distribution is how often each theme occurs,
    and the notice says so.
    """
    output = await output_of(VERB, history=["a", "b", "a", "new"], order=2)
    assert (output["order_used"], output["state"], output["support"]) == (0, [], 4)
    assert output["notice"].startswith("nothing ever followed")


async def test_more_themes_than_are_listed_are_counted() -> None:
    """Of very many themes the likeliest are listed, the others counted, and any of them may be
    chosen.
    """
    history: list[Any] = [part for number in range(300) for part in ("hub", f"θ{number:03}")]
    output = await output_of(VERB, history=[*history, "hub"])
    assert (len(output["distribution"]), output["others"]) == (LISTED_MAX, 300 - LISTED_MAX)


async def test_without_storage_a_call_without_history_fails_by_name() -> None:
    """Where nothing is remembered the verb says so."""
    assert (await failure_of(VERB)).code == "no_library"
