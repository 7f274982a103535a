"""The folders of cards and of seats: one loader, whole or not at all, by file and line, whatever
somebody wrote into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.cards import AgentCard
from ordain.contracts.council import SEATS_MAX, seats_of, sitting
from ordain.errors import ConfigurationError
from ordain.verbs.cards.folder import CARDS, shipped_cards
from ordain.verbs.council.folder import SEATS
from ordain.verbs.folder import FILE_BYTES_MAX
from ordain.verbs.yaml_folder import YamlFolder
from tests.unit.verbs.test_yaml_document import REFUSED

TEXT = """\
name: legal_agent
description: Reads contracts.
domain: legal
tool_preference: [research.search]
fallback_agent: general_agent
deny: [mail.*]
"""
SEAT = "name: Skeptic\nrole_description: Asks what is not known.\ntemperature: 0.2\n"
FOLDERS: Mapping[str, tuple[YamlFolder[Any], str, str]] = {
    "cards": (CARDS, TEXT, "legal_agent.yaml"),
    "council": (SEATS, SEAT, "Skeptic.yaml"),
}


def written(home: Path, text: str = TEXT, name: str = "legal_agent.yaml") -> Path:
    (home / name).write_text(text)
    return home


def refusal(folder: Path, kind: YamlFolder[Any] = CARDS, beside: Mapping[str, Any] = {}) -> str:
    with pytest.raises(ConfigurationError) as error:
        kind.of(folder, beside)
    assert error.value.code == kind.code
    return error.value.message


@pytest.mark.parametrize("which", FOLDERS)
def test_a_file_is_one_more(tmp_path: Path, which: str) -> None:
    """Beside the shipped ones; without the folder those are all."""
    kind, text, name = FOLDERS[which]
    found = kind.of(written(tmp_path, text, name))
    assert set(found) == {*kind.shipped(), name.removesuffix(".yaml")}
    assert kind.of(tmp_path / "nowhere") == dict(kind.shipped())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "domain: legal",
            "domain: finance",
            "legal_agent.yaml:3: domain: finance belongs to finance_agent",
        ),
        ("general_agent", "nobody", "legal_agent.yaml:5: fallback_agent: there is no card nobody"),
        (
            "general_agent",
            "legal_agent",
            "legal_agent.yaml:5: fallback_agent: legal_agent cannot take its own place",
        ),
        (
            "name: legal_agent",
            "name: other",
            "legal_agent.yaml:1: name must be 'legal_agent', as the file is named",
        ),
        ("domain: legal\n", "", "domain is missing"),
        ("deny:", "scope:", "legal_agent.yaml:6: scope: there is no such key"),
        ("[mail.*]", "mail.*", "legal_agent.yaml:6: deny: should be a valid array"),
        ("[mail.*]", "[mail all]", "legal_agent.yaml:6: deny.0: String should match pattern"),
        (
            "domain: legal",
            "domain: legal\nconfidence_bias: 2",
            "legal_agent.yaml:4: confidence_bias: should be less than or equal to 1",
        ),
        (
            "domain: legal",
            "domain: legal\nconfidence_bias: .nan",
            "legal_agent.yaml:4: confidence_bias: should be a valid number",
        ),
        (
            "Reads contracts.",
            '"a\\u2028b"',
            "legal_agent.yaml:2: description: String should match pattern",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    """File, line and field: of one by itself, and of cards together."""
    assert says in refusal(written(tmp_path, TEXT.replace(old, new)))


@pytest.mark.parametrize("which", FOLDERS)
@pytest.mark.parametrize("name", REFUSED)
def test_hostile_yaml_is_none(tmp_path: Path, which: str, name: str) -> None:
    """Bombs, tags, anchors and the rest are refused by name and line, in bounded work."""
    kind, _, file = FOLDERS[which]
    assert f"{file}:" in refusal(written(tmp_path, REFUSED[name][0], file), kind)


@pytest.mark.parametrize("which", FOLDERS)
def test_names_with_line_ends_and_misspelt_ones_are_refused(tmp_path: Path, which: str) -> None:
    """A file whose name is none of these is none; one that ends otherwise is not overlooked, nor
    one that is no mapping or too large.
    """
    kind, text, file = FOLDERS[which]
    stem = file.removesuffix(".yaml")
    written(tmp_path, text.replace(f"name: {stem}", 'name: "a\\nb"'), "a\nb.yaml")
    assert "String should match pattern" in refusal(tmp_path, kind)
    (tmp_path / "a\nb.yaml").unlink()
    written(tmp_path, text, f"{stem}.yml")
    assert f"a {kind.noun} is named <name>.yaml" in refusal(tmp_path, kind)
    (tmp_path / f"{stem}.yml").unlink()
    for words, says in (
        ("[]", f"a {kind.noun} is a mapping"),
        ("# " + "x" * FILE_BYTES_MAX, "larger than"),
    ):
        assert says in refusal(written(tmp_path, words, file), kind)


@pytest.mark.parametrize("which", FOLDERS)
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, which: str) -> None:
    """It leads to what is not the operator's to declare here."""
    kind, text, file = FOLDERS[which]
    (tmp_path / "outside").write_text(text)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / file).symlink_to(tmp_path / "outside")
    assert "a link that leaves the folder is refused" in refusal(folder, kind)


@pytest.mark.parametrize("which", FOLDERS)
def test_there_are_so_many_at_most(tmp_path: Path, which: str) -> None:
    """A planner's prompt has a row for each."""
    kind = FOLDERS[which][0]
    for number in range(kind.most + 1):
        (tmp_path / f"t{number}.yaml").write_text("")
    assert f"more than {kind.most} {kind.noun}s" in refusal(tmp_path, kind)


def test_a_name_that_is_taken_is_nobodys_to_change(tmp_path: Path) -> None:
    """Neither a shipped card's nor an embedder's, who may not have a shipped one either."""
    assert "finance_agent is a shipped card: give it another name" in refusal(
        written(tmp_path, TEXT.replace("legal_agent", "finance_agent"), "finance_agent.yaml")
    )
    (tmp_path / "finance_agent.yaml").unlink()
    own = {"legal_agent": AgentCard(name="legal_agent", domain="law")}
    assert "legal_agent is an embedded card: give it another name" in refusal(
        written(tmp_path), beside=own
    )
    (tmp_path / "legal_agent.yaml").unlink()
    assert CARDS.of(tmp_path, own) == {**shipped_cards(), **own}
    assert "finance_agent is a shipped card" in refusal(
        tmp_path, beside={"finance_agent": own["legal_agent"]}
    )
    assert "card legal_agent: domain: finance belongs to finance_agent" in refusal(
        tmp_path, beside={"legal_agent": AgentCard(name="legal_agent", domain="finance")}
    )


@pytest.mark.parametrize("which", FOLDERS)
def test_what_cannot_be_used_is_left_out_where_the_rest_is_wanted(
    tmp_path: Path, which: str
) -> None:
    """Each file of its own, and told; of more than there may be none is taken."""
    kind, text, file = FOLDERS[which]
    written(tmp_path, text, file)
    written(tmp_path, "nonsense: [", "broken.yaml")
    left_out: list[ConfigurationError] = []
    assert set(kind.of(tmp_path, left_out=left_out)) == {
        *kind.shipped(),
        file.removesuffix(".yaml"),
    }
    assert [Path(str(error.details["file"])).name for error in left_out] == ["broken.yaml"]
    for number in range(kind.most):
        written(tmp_path, "", f"t{number}.yaml")
    left_out.clear()
    assert kind.of(tmp_path, left_out=left_out) == dict(kind.shipped())
    assert [error.details["file"] for error in left_out] == [str(tmp_path.resolve())]


def test_who_needs_a_card_that_is_left_out_is_left_out_too(tmp_path: Path) -> None:
    """What is left goes together: one whose place another was to take that cannot be used, one
    whose domain is owned, and a name that is taken.
    """
    written(tmp_path, TEXT.replace("general_agent", "broken"))
    written(tmp_path, "nonsense: [", "broken.yaml")
    written(tmp_path, "name: second\ndomain: finance\n", "second.yaml")
    written(tmp_path, "name: finance_agent\ndomain: money\n", "finance_agent.yaml")
    left_out: list[ConfigurationError] = []
    assert CARDS.of(tmp_path, left_out=left_out) == dict(shipped_cards())
    assert {Path(str(error.details["file"])).stem for error in left_out} == {
        "legal_agent",
        "broken",
        "second",
        "finance_agent",
    }


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("primary", "who hands work on first"),
        ("finance_agent_2", "what finance_agent is called"),
        ("legal_agent_13", "what legal_agent is called"),
    ],
)
def test_a_name_that_code_makes_is_no_cards(tmp_path: Path, name: str, says: str) -> None:
    """So that a line of a header says whom work was handed to; another number behind a name is a
    name like any.

    HND-06 "Temporary sub-agents allowed for bounded parallel work, explicitly traced."
    """
    written(tmp_path)
    written(tmp_path, "name: other_2\ndomain: other\n", "other_2.yaml")
    written(tmp_path, "name: finance_agent_1\ndomain: one\n", "finance_agent_1.yaml")
    assert {"other_2", "finance_agent_1"} <= set(CARDS.of(tmp_path))
    written(tmp_path, f"name: {name}\ndomain: more\n", f"{name}.yaml")
    assert f"{name}.yaml:1: name: " in refusal(tmp_path)
    assert says in refusal(tmp_path)
    with pytest.raises(ConfigurationError, match="name"):
        CARDS.of(
            tmp_path / "nowhere",
            {
                "legal_agent": AgentCard(name="legal_agent", domain="law"),
                name: AgentCard(name=name, domain="more"),
            },
        )


def test_no_more_seats_are_taken_up_than_one_round_asks(tmp_path: Path) -> None:
    """Shipped and own together: the last own one by name is refused with its file and place, and
    left out where the rest is wanted.
    """
    room = SEATS_MAX - len(sitting(SEATS.shipped()))
    for number in range(room):
        written(tmp_path, f"name: A{number:02}\n", f"A{number:02}.yaml")
    whole = SEATS.of(tmp_path)
    assert len(seats_of(whole, "everything")) == len(sitting(whole)) == SEATS_MAX
    written(tmp_path, "# one too many\nname: B1\n", "B1.yaml")
    written(tmp_path, "name: B2\n", "B2.yaml")
    assert "B1.yaml:2: name: with it there are more than 50 seats" in refusal(tmp_path, SEATS)
    left_out: list[ConfigurationError] = []
    assert SEATS.of(tmp_path, left_out=left_out) == whole
    assert {Path(str(error.details["file"])).name for error in left_out} == {"B1.yaml", "B2.yaml"}
