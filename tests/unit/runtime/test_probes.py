"""Routing probes: the shipped policy holds its own, and a policy that does not is told so by
name.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.catalogs import build_catalog, build_registry
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.contracts.probes import Probe, ProbeExpectation
from ordain.errors import ConfigurationError
from ordain.flows.kind import Routing, Serves
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import shipped_kinds
from ordain.prompts.packaged import packaged_templates
from ordain.rules.route import Path
from ordain.runtime.probes import Missed, outcome_of, run_probes
from ordain.settings import load_settings, read_policy
from tests.shapes.survey import SURVEY, Survey

SHIPPED = load_settings({}, FilePath("/nonexistent"))
KINDS = shipped_kinds()
CATALOG = build_catalog(SHIPPED, build_registry(SHIPPED), shipped_kinds())


def asking(policy: str = "") -> Catalog:
    """The shipped catalog under a policy that asks a router model, with more of it as TOML."""
    given = {
        "version": 1,
        "router": {"ask": "worker"},
        "lanes": CATALOG.policy.lanes.model_dump(),
        "profile": CATALOG.policy.profile.model_dump(),
        **tomllib.loads(policy),
    }
    parsed = Policy.model_validate(
        {**given, "probes": [probe.model_dump() for probe in CATALOG.policy.probes]}, strict=False
    )
    return CATALOG.changed(policy=parsed)


def suggesting(suggests: Any, mode: str = "agent") -> Probe:
    """A probe with what a router model is supposed to answer."""
    return Probe.model_validate(
        {
            "message": {"text": "hi", "mode": mode},
            "suggests": suggests,
            "expect": {"path": "direct"},
        },
        strict=False,
    )


CHAIN = {"path": "agent_chain", "confidence": 0.9, "budget_class": "small"}


def probed(policy: str, **probe: Any) -> tuple[Missed, ...]:
    """What one probe misses under a policy given as TOML beside its version."""
    parsed = Policy.model_validate(
        {"version": 1, **tomllib.loads(policy), "probes": [probe]}, strict=False
    )
    return run_probes(KINDS, CATALOG.changed(policy=parsed))[0].missed


def test_the_shipped_policy_holds_its_probes() -> None:
    """Every probe that ships with the policy comes out as it says, under the shipped verbs; each of
    the paths is expected of one.
    """
    found = run_probes(KINDS, CATALOG)
    assert {probe.expect.path for probe in CATALOG.policy.probes} == {None, *Path}
    assert [probe.line() for probe in found if not probe.holds] == []


@pytest.mark.parametrize(
    ("policy", "probe", "missed"),
    [
        ("", {"message": {"text": "hi"}, "expect": {"path": "direct", "verb": "chat_general"}}, []),
        (
            "",
            {"message": {"text": "hi"}, "expect": {"path": "council"}},
            [("path", "council", "direct")],
        ),
        (
            "",
            {
                "message": {"text": "hi", "mode": "agent"},
                "expect": {"budget_class": "standard", "attached": "new_request"},
            },
            [],
        ),
        (
            '[router]\ndefault_class = "small"',
            {"message": {"text": "hi"}, "expect": {"budget_class": "small"}},
            [],
        ),
        (
            '[verbs.default]\ndeny = ["chat_*"]',
            {"message": {"text": "hi"}, "expect": {"refused": "inactive_verb:chat_general"}},
            [],
        ),
        (
            '[verbs.default]\ndeny = ["chat_*"]',
            {"message": {"text": "hi"}, "expect": {"path": "direct"}},
            [("path", "direct", "nothing")],
        ),
        (
            "",
            {"message": {"text": "thanks!"}, "expect": {"attached": "filler", "verb": "x"}},
            [("verb", "x", "nothing")],
        ),
        (
            "",
            {
                "message": {"text": "hi", "mode": "council"},
                "expect": {"path": "council", "outcome": "direct"},
            },
            [],
        ),
        (
            "",
            {
                "message": {"text": "hi", "mode": "council"},
                "expect": {"refused": "path_unavailable"},
            },
            [("refused", "path_unavailable", "nothing")],
        ),
        (
            '[lanes.profiles]\nworker = ["default"]',
            {
                "message": {"text": "hi", "mode": "agent"},
                "suggests": CHAIN,
                "asked": True,
                "expect": {"path": "agent_chain"},
            },
            [],
        ),
        (
            "",
            {
                "message": {"text": "hi", "mode": "agent"},
                "suggests": CHAIN,
                "expect": {"path": "react_lite"},
            },
            [],
        ),
        (
            "",
            {
                "message": {"text": "hi"},
                "suggests": CHAIN,
                "asked": True,
                "expect": {"path": "direct"},
            },
            [],
        ),
        ("", {"message": {"text": "hi", "supervised": True}, "expect": {"path": "react_lite"}}, []),
        (
            "",
            {
                "message": {"text": "hi", "delegates": ["a", "b"]},
                "expect": {"refused": "unknown_agent"},
            },
            [],
        ),
        (
            "",
            {
                "message": {"text": "hi", "delegates": ["finance_agent"]},
                "expect": {"refused": "handoff_target_not_allowed"},
            },
            [],
        ),
        (
            '[profile]\nallowed_handoff_targets = ["finance_agent", "general_agent"]',
            {
                "message": {"text": "hi", "delegates": ["finance_agent", "general_agent"]},
                "expect": {"outcome": "fan_out"},
            },
            [],
        ),
    ],
)
def test_what_a_probe_finds(
    policy: str, probe: dict[str, Any], missed: list[tuple[str, str, str]]
) -> None:
    """Each named expectation is compared with what the rules make of the message, and nothing else
    is.
    """
    assert [(one.name, one.expected, one.found) for one in probed(policy, **probe)] == missed


@pytest.mark.parametrize(
    ("suggests", "found"),
    [
        (CHAIN, ("agent_chain", "small")),
        (
            'Sure: {"path": "agent_chain", "confidence": 1, "budget_class": "large"}',
            ("agent_chain", "standard"),
        ),
        (
            {"path": "agent_chain", "confidence": 0.1, "budget_class": "small"},
            ("react_lite", "standard"),
        ),
        (
            {"path": "direct", "confidence": 1.0, "budget_class": "small"},
            ("react_lite", "standard"),
        ),
        ("prose", ("react_lite", "standard")),
        ({"path": "agent_chain"}, ("react_lite", "standard")),
        (
            {"path": "agent_chain", "confidence": float("nan"), "budget_class": "small"},
            ("react_lite", "standard"),
        ),
    ],
)
def test_a_suggestion_is_judged_like_a_models_answer(suggests: Any, found: tuple[str, str]) -> None:
    """B-10 "the model may only lower, never raise": what a router model would say counts only
    within the mode's paths, confident enough and well formed; it lowers and never raises.
    """
    came = outcome_of(KINDS, suggesting(suggests), asking())
    assert (came["path"], came["budget_class"]) == found


@given(
    st.one_of(
        st.text(max_size=60),
        st.dictionaries(
            st.sampled_from(["path", "confidence", "budget_class", "x"]), st.text(max_size=5)
        ),
    )
)
def test_no_suggestion_breaks_out_of_its_mode(suggests: Any) -> None:
    """Whatever a router model says, a brain turn stays direct."""
    assert outcome_of(KINDS, suggesting(suggests, "brain"), asking())["path"] == "direct"


@pytest.mark.parametrize(
    "catalog",
    [
        CATALOG,
        asking("[budget]\nrun_tokens = 1"),
        asking("[lanes.profiles]\nbrain = ['default']"),
    ],
)
def test_a_suggestion_counts_where_the_turn_would_hear_it(catalog: Catalog) -> None:
    """A turn that asks no router, cannot afford to or finds none goes by its mode, and so does its
    probe, whatever is suggested.
    """
    came = outcome_of(KINDS, suggesting(CHAIN), catalog)
    assert (came["path"], came["budget_class"]) == ("react_lite", "standard")


@pytest.mark.parametrize(
    "retrying", ["", '[fallback]\nattempts_total = 9\non_error = { rejected = "retry" }']
)
def test_a_policy_that_asks_a_router_is_probed_without_one(retrying: str) -> None:
    """A probe that suggests nothing is as if no router model answered; every shipped one holds all
    the same.
    """
    assert [probe.line() for probe in run_probes(KINDS, asking(retrying)) if not probe.holds] == []


class Ways(StrEnum):
    """What the other kind comes to."""

    WORTHY = "worthy"
    UNWORTHY = "unworthy"


@pytest.mark.parametrize(
    ("worth", "path", "refused"), [(9, "worthy", None), (0, "unworthy", "unworthy")]
)
def test_another_kind_says_what_its_routing_is(worth: int, path: str, refused: str | None) -> None:
    """Whatever answers requests in a build is probed by its own rules, and what a probe may expect
    of it are its own words.
    """
    routing = Routing(
        until="worth",
        found=lambda made: {"path": type(made["worth"]).__name__.lower()},
        closed={"path": Ways},
    )
    given = Survey(topic="", expression="")
    kind = replace(SURVEY, serves=Serves.REQUEST, commissioned=lambda _: given, routing=routing)
    prompts = {**CATALOG.data.prompts, **packaged_templates({"survey_step": "tests.shapes"})}
    catalog = CATALOG.changed(prompts=prompts)
    came = outcome_of(Kinds((kind,)), suggesting({"worth": worth}), catalog)
    assert (came["path"], came.get("refused")) == (path, refused)
    misspelt = catalog.policy.model_copy(
        update={
            "probes": [
                suggesting({}).model_copy(update={"expect": ProbeExpectation(path="direct")})
            ]
        }
    )
    with pytest.raises(ConfigurationError, match="'direct' is none of worthy, unworthy"):
        run_probes(Kinds((kind,)), catalog.changed(policy=misspelt))


def test_a_turn_that_its_day_cannot_cover_is_refused() -> None:
    """What ends a turn before its path is found under the code that it ends with."""
    came = outcome_of(KINDS, suggesting(CHAIN), asking("[budget]\nday_tokens = 1"))
    assert came == {"attached": "new_request", "refused": "budget_exceeded"}
    assert "refused" not in outcome_of(
        KINDS, suggesting("prose"), asking("[budget]\nday_tokens = 100000000")
    )


@pytest.mark.parametrize(
    ("expect", "place"),
    [
        ({"path": "derict"}, "probes.0.expect.path"),
        ({"attached": "new"}, "probes.0.expect.attached"),
        ({}, "probes.0.expect"),
    ],
)
def test_a_probe_that_can_never_fail_or_hold_is_an_error(
    expect: dict[str, str], place: str
) -> None:
    """A misspelt or missing expectation is a mistake in the file, and said with its key."""
    with pytest.raises(ConfigurationError, match=place):
        probed("", message={"text": "hi"}, expect=expect)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (
            'message = { text = "hi", mode = "cortex" }\nexpect = { path = "direct" }',
            "probes.0.message.mode",
        ),
        ('message = { text = "" }\nexpect = { path = "direct" }', "probes.0.message.text"),
        ('message = { text = "hi" }\nexpect = { way = "direct" }', "probes.0.expect.way"),
        ('message = { text = "hi" }', "probes.0.expect"),
    ],
)
def test_a_malformed_probe_names_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    """What is no probe is refused when the policy is read, with the file and the key."""
    file = tmp_path / "mine.toml"
    file.write_text(f"version = 1\n[[probes]]\n{text}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as refused:
        read_policy(file)
    assert str(file) in str(refused.value)
    assert key in str(refused.value)


def test_a_policy_without_probes_has_nothing_to_hold() -> None:
    """No probe is no failure."""
    assert run_probes(KINDS, Catalog(CatalogData(policy=Policy(version=1)))) == []
