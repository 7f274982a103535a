"""``ordain cards``: which agents there are, what of their verbs is here, a new one, and what is
wrong with a card as it is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from ordain.verbs.cards.folder import CARDS

Said = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON, else as
    text.
    """

    def run(*arguments: str, as_json: bool = True, of: str = "cards") -> tuple[int, Any]:
        code = main([of, *arguments, "--data-dir", str(tmp_path), *(["--json"] if as_json else [])])
        said = capsys.readouterr()
        return code, json.loads(said.out) if as_json and said.out else said.out + said.err

    return run


def written(home: Path, name: str, **fields: Any) -> Path:
    """The file of a card; JSON is YAML."""
    file = home / "cards" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps({"name": name, "domain": name, "description": "For tests.", **fields}, indent=1)
    )
    return file


def test_the_list_says_what_each_may_use_here(run: Said, tmp_path: Path) -> None:
    """What its lists leave of the verbs that are here and on, and what they name that is not."""
    written(tmp_path, "mailer", allow=["mail.*", "math.*", "no.such"], deny=["mail.d*"])
    code, found = run("list")
    assert code == 0
    told = {one["name"]: (one["uses"], one["missing"]) for one in found["cards"]}
    assert set(told) == {*CARDS.shipped(), "mailer"}
    assert told["mailer"] == (["math.evaluate"], ["no.such"])
    assert told["research_agent"] == (["research.search", "research.summarizer"], [])
    (tmp_path / "policy.toml").write_text(
        'version = 1\n[verbs.default]\ndeny = ["research.search"]\n'
    )
    told = {one["name"]: (one["uses"], one["missing"]) for one in run("list")[1]["cards"]}
    assert told["research_agent"] == (["research.summarizer"], ["research.search"])
    code, said = run("list", as_json=False)
    assert (code, "Finds factual, evidence-backed information." in said) == (0, True)


def test_a_card_is_shown(run: Said) -> None:
    """With the verb that hands work to it, which `verbs show` and `verbs explain` know too; of what
    there is not, that there is none.
    """
    code, found = run("show", "finance_agent")
    assert (code, found["verb_id"], found["tool_first"], found["uses"]) == (
        0,
        "agent.finance_agent",
        "enforced",
        ["finance.snapshot"],
    )
    code, said = run("show", "finance_agent", as_json=False)
    assert (code, "place taken by: enterprise_agent" in said) == (0, True)
    assert run("show", "agent.finance_agent", of="verbs")[1]["description"] == found["description"]
    assert (
        run("explain", "agent.finance_agent", of="verbs")[1]["written_in"]
        == "the card of that name"
    )
    code, said = run("show", "no_such", as_json=False)
    assert code != 0
    assert "there is no agent no_such" in said


def test_lint_tells_every_problem_with_its_line(run: Said, tmp_path: Path) -> None:
    """An error is a refusal at load, of one card or of some together; a warning is what comes to
    nothing here.
    """
    written(tmp_path, "owner", domain="finance", fallback_agent="nobody")
    written(
        tmp_path,
        "silent",
        description=" ",
        tool_preference=["math.evaluate", "no.such"],
        allow=["mail.*"],
        tool_first="enforced",
    )
    written(tmp_path, "empty", tool_first="enforced")
    (tmp_path / "cards" / "torn.yaml").write_text("name: torn\ndomain: torn\ndomain: more\n")
    (tmp_path / "cards" / "odd.yml").write_text("name: odd\n")
    code, found = run("lint")
    said = {
        (Path(one["file"]).stem, one["line"], one["severity"], one["message"])
        for one in found["findings"]
    }
    assert code == 1
    assert said == {
        ("owner", 3, "error", "finance belongs to finance_agent: one card owns a domain"),
        ("owner", 5, "error", "there is no card nobody"),
        ("silent", 4, "warning", "it says nothing of itself"),
        ("silent", 6, "warning", "it prefers math.evaluate, which its own lists do not let it use"),
        ("silent", 7, "warning", "no.such names no verb of this house"),
        ("empty", 5, "warning", "tools come first, and it has none: nothing that it says counts"),
        ("torn", 3, "error", "duplicate key 'domain'"),
        ("odd", 1, "error", "a card is named <name>.yaml"),
    }
    code, said = run("list", as_json=False)
    assert (
        code != 0,
        "owner.yaml:3: domain: finance belongs to finance_agent" in said or "odd.yml" in said,
    ) == (True, True)


def test_lint_says_what_helps(run: Said, tmp_path: Path) -> None:
    """A name that is taken wants another name, a card that would take its own place another card;
    one that denies all that it is for has nothing left.
    """
    written(tmp_path, "primary")
    written(tmp_path, "own", fallback_agent="own")
    written(tmp_path, "bare", allow=["*"], deny=["*"])
    found = {
        Path(one["file"]).stem: (one["line"], one["message"], one["hint"])
        for one in run("lint")[1]["findings"]
    }
    assert found.keys() == {"primary", "own", "bare"}
    assert found["primary"][2] == "give it another name, and its file"
    assert found["own"][2].startswith("name another, or take it out; known are bare, ")
    assert found["bare"][:2] == (8, "it denies all that it is for: nothing is left that it may use")


@pytest.mark.parametrize("name", sorted(CARDS.shipped()))
def test_no_shipped_card_has_a_finding(run: Said, name: str) -> None:
    """Whatever they name is in the build."""
    assert run("lint", name) == (0, {"files": 1, "errors": 0, "warnings": 0, "findings": []})


def test_a_new_card_is_whole(run: Said, tmp_path: Path) -> None:
    """It is right as it is written, in use at once, and nothing that is there is written over."""
    code, done = run("new", "legal_agent")
    assert (code, done["files"]) == (0, [str(tmp_path / "cards" / "legal_agent.yaml")])
    assert run("lint", "--strict")[0] == 0
    found = run("show", "legal_agent")[1]
    assert (found["domain"], found["uses"]) == ("legal", ["extract_facts", "summarize_facts"])
    for again, says in (
        (("legal_agent",), "is there already; nothing was written"),
        (("finance_agent",), "finance_agent is a shipped card"),
        (("Legal",), "is no agent's name"),
        (("legal\n",), "is no agent's name"),
        (("../x",), "is no agent's name"),
        (("law", "--domain", "a b"), "is no domain"),
    ):
        code, said = run("new", *again, as_json=False)
        assert (code != 0, says in said) == (True, True), said
    assert [file.name for file in (tmp_path / "cards").iterdir()] == ["legal_agent.yaml"]
    assert run("new", "law", "--domain", "statutes", as_json=False)[0] == 0
    assert run("show", "law")[1]["domain"] == "statutes"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("primary",), "primary is who hands work on first"),
        (("creative_agent_2",), "is what creative_agent is called where it is at work more"),
        (("clerk_2",), "is what clerk is called where it is at work more"),
        (("finance",), "finance belongs to finance_agent"),
        (("law", "--domain", "notes"), "notes belongs to clerk"),
        (("scribe",), "scribe_2 is what scribe is called"),
    ],
)
def test_a_new_card_is_none_that_lint_refuses(
    run: Said, tmp_path: Path, asked: tuple[str, ...], says: str
) -> None:
    """A name that code gives, a domain that another card owns and a name that makes another card's
    name one of code's are refused before anything is written, so that the folder stays in use.
    """
    written(tmp_path, "clerk", domain="notes")
    written(tmp_path, "scribe_2", domain="copies")
    before = sorted(file.name for file in (tmp_path / "cards").iterdir())
    code, said = run("new", *asked, as_json=False)
    assert (code != 0, says in said) == (True, True), said
    assert sorted(file.name for file in (tmp_path / "cards").iterdir()) == before
    assert run("lint")[1]["errors"] == 0


def test_a_workflow_may_hand_work_on(run: Said, tmp_path: Path) -> None:
    """Its lint knows the verbs of cards, those of the folder too."""
    written(tmp_path, "mailer")
    args = {"task": "t", "intent": "i", "reason": "domain", "payload": {}}
    steps = [{"verb": f"agent.{name}", "args": args} for name in ("finance_agent", "mailer")]
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    (tmp_path / "workflows").mkdir()
    text = {
        "id": "hand_on",
        "version": 1,
        "description": "Hand on.",
        "schema": schema,
        "steps": steps,
    }
    (tmp_path / "workflows" / "hand_on.yaml").write_text(json.dumps(text))
    assert run("lint", of="workflows")[1]["findings"] == []


def test_lint_refuses_what_the_loader_refuses(run: Said, tmp_path: Path) -> None:
    """A folder of more cards than there may be is an error, though each of them is right by
    itself.
    """
    for number in range(CARDS.most):
        written(tmp_path, f"card_{chr(97 + number % 26)}{chr(97 + number // 26)}")
    assert run("lint")[0] == 0
    written(tmp_path, "card_more")
    code, found = run("lint")
    (one,) = found["findings"]
    assert (code, one["file"], one["severity"]) == (1, str(tmp_path / "cards"), "error")
    assert one["message"] == f"more than {CARDS.most} cards: none of them is taken up"
