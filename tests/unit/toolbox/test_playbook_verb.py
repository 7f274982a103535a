"""Playbooks: found by words, given back word for word, read again when they change, never a
crash.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.library import COMMON_WORDS
from ordain.errors import ConfigurationError
from ordain.shipped_verbs import playbook_aids
from ordain.toolbox.playbook_verb import SHIPPED, enterprise_playbook
from ordain.toolbox.playbooks import (
    FILE_BYTES_MAX,
    STEPS_MAX,
    PlaybookFolder,
    find_playbooks,
    parse_playbook,
)
from ordain.verbs.yaml_document import parse_document
from tests.shapes.leaf_calls import failure_of, output_of

PLAYBOOK_AIDS = playbook_aids()

FLOOD = """\
---
title: Flooded cellar
when: there is water in the cellar or the archive
keywords: [flood, burst pipe]
---
# Before anything else

Nobody enters while the power is on.

1. Switch off the power of the cellar at the main board.
2. Shut the main valve.
   It is behind the red door:

       left of the meter
3) Carry up the boxes with a blue label first.

Afterwards call the insurer.

1. Not a step of this list.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "playbooks"
    folder.mkdir()
    (folder / "flood.md").write_text(FLOOD, encoding="utf-8")
    return folder


async def test_a_playbook_of_the_house_is_found_and_given_word_for_word(folder: Path) -> None:
    """VRB-09 "`enterprise.playbook`": the steps of the operator's own file come back as they stand,
    each with its line.
    """
    output = await output_of(
        enterprise_playbook(PLAYBOOK_AIDS, folder),
        situation="A pipe burst, there is WATER in the archive!",
    )
    assert (output["name"], output["source"], output["left_out"], output["problems"]) == (
        "flood",
        "own",
        0,
        [],
    )
    assert [(one["number"], one["line"], one["text"]) for one in output["steps"]] == [
        (1, 10, "Switch off the power of the cellar at the main board."),
        (2, 11, "Shut the main valve.\nIt is behind the red door:\n\n    left of the meter"),
        (3, 15, "Carry up the boxes with a blue label first."),
    ]
    lines = FLOOD.splitlines()
    assert all(one["text"].splitlines()[0] in lines[one["line"] - 1] for one in output["steps"])


async def test_the_shipped_examples_stand_in_for_an_empty_folder(tmp_path: Path) -> None:
    """Without a file of one's own the examples are used, and marked as shipped; each is found by
    its situation, cut as asked.
    """
    verb = enterprise_playbook(PLAYBOOK_AIDS, tmp_path / "none")
    for situation, name in [
        ("Payments have been unavailable for ten minutes", "incident"),
        ("website was defaced by hackers", "incident"),
        ("an intruder got into our admin account", "incident"),
        ("somebody broke into the web shop last night", "incident"),
        ("our domain was hijacked", "incident"),
        ("the site has been vandalised", "incident"),
        ("somebody stole our laptops, there was a theft", "incident"),
        ("This client wants a refund and threatens legal steps", "customer_escalation"),
        ("Could the new colleague get access to the wiki?", "access_request"),
    ]:
        output = await output_of(verb, situation=situation, max_steps=3)
        assert (output["name"], output["source"], len(output["steps"])) == (name, "shipped", 3)
        assert output["left_out"] > 0
    again = await output_of(verb, name="incident")
    assert again["title"] == "Service incident"
    assert again["matched"] == []


async def test_files_are_read_again_when_they_change(folder: Path) -> None:
    """What is written while the process runs counts at the next call: a changed step, a new file, a
    file that is gone.
    """
    verb = enterprise_playbook(PLAYBOOK_AIDS, folder)
    assert len((await output_of(verb, name="flood"))["steps"]) == 3
    (folder / "flood.md").write_text(
        FLOOD.replace("2. Shut the main valve.", "2. Shut both valves."), encoding="utf-8"
    )
    (folder / "fire.md").write_text(
        "---\ntitle: Fire\nwhen: it burns\n---\n- Leave.\n- Call 112.\n", encoding="utf-8"
    )
    assert (await output_of(verb, name="flood"))["steps"][1]["text"].startswith("Shut both valves.")
    assert [one["text"] for one in (await output_of(verb, situation="it burns"))["steps"]] == [
        "Leave.",
        "Call 112.",
    ]
    (folder / "fire.md").unlink()
    assert (await failure_of(verb, name="fire")).code == "no_playbook"


async def test_a_bad_file_is_told_and_spoils_no_other(folder: Path) -> None:
    """A file that is no playbook is named with its line beside what was found, and by name it is
    the failure.
    """
    (folder / "broken.md").write_text(
        "---\ntitle: Broken\nkeywords: [a\n---\n1. x\n", encoding="utf-8"
    )
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "pipe.md").mkdir()
    output = await output_of(enterprise_playbook(PLAYBOOK_AIDS, folder), situation="flood")
    assert output["name"] == "flood"
    assert [one.partition(": ")[0] for one in output["problems"]] == [
        "broken.md:4",
        "link.md",
        "pipe.md",
    ]
    failed = await failure_of(enterprise_playbook(PLAYBOOK_AIDS, folder), name="broken")
    assert (failed.code, failed.message.partition(": ")[0]) == ("bad_playbook", "broken.md:4")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "begins with a line ---"),
        ("title: x\n", 1, "begins with a line ---"),
        ("---\ntitle: x\n", 1, "no closing line"),
        ("---\n- a\n---\n", 2, "a mapping"),
        ("---\ntitle: x\nowner: me\n---\n", 3, "unknown key owner"),
        ("---\nwhen: x\n---\n1. a\n", 2, "title is missing"),
        ("---\ntitle: x\n---\n1. a\n", 2, "when or keywords"),
        ("---\ntitle: x\nwhen: y\nkeywords: z\n---\n1. a\n", 4, "a list"),
        ("---\ntitle: [x]\nwhen: y\n---\n1. a\n", 2, "a text of at most"),
        ("---\ntitle: x\nwhen: y\n---\nno steps\n", 5, "there is no list"),
        ("---\ntitle: x\nwhen: y\n---\n1. a\n2.\n", 6, "an empty step"),
        ("---\ntitle: x\nwhen: y\n---\n" + "- a\n" * (STEPS_MAX + 1), STEPS_MAX + 5, "more than"),
        ("---\ntitle: x\nwhen: y\n---\n- " + "a" * 2001 + "\n", 5, "longer than"),
        ("---\ntitle: &a x\nwhen: *a\n---\n- a\n", 2, "anchor"),
    ],
)
def test_what_is_no_playbook_is_told_with_its_line(text: str, line: int, said: str) -> None:
    """Each thing that can be wrong names the line where it is."""
    with pytest.raises(ConfigurationError) as refused:
        parse_playbook("p", text, "p.md", parse_document)
    assert refused.value.message.startswith(f"p.md:{line}: ")
    assert said in refused.value.message


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_file_is_a_playbook_or_a_refusal(front: str, body: str) -> None:
    """Whatever stands in a file, its steps are its own words or there is a message with a line."""
    text = f"---\ntitle: t\nwhen: w\n{front}\n---\n{body}"
    refused = ""
    try:
        book = parse_playbook("p", text, "p.md", parse_document)
    except ConfigurationError as error:
        book, refused = None, error.message
    lines = text.splitlines()
    assert refused.startswith("p.md:") or book is not None
    assert book is None or all(
        step.text.splitlines()[0].strip() in lines[step.line - 1] for step in book.steps
    )


async def test_sizes_are_bounded(folder: Path) -> None:
    """A file that is too large, and one that is not UTF-8, are problems like any other."""
    (folder / "large.md").write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    (folder / "latin.md").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    (folder / "Bad Name.md").write_text(FLOOD, encoding="utf-8")
    said = [one.message for one in PlaybookFolder(PLAYBOOK_AIDS, folder, SHIPPED).look().problems]
    assert said == [
        "Bad Name.md: a playbook's file is named with a to z, 0 to 9, - and _",
        f"large.md: larger than {FILE_BYTES_MAX} bytes",
        "latin.md:2: not UTF-8",
    ]


async def test_a_situation_without_a_playbook_names_those_there_are(folder: Path) -> None:
    """Nothing is returned for a situation that shares no word, and both or neither argument is a
    mistake of the caller.
    """
    verb = enterprise_playbook(PLAYBOOK_AIDS, folder)
    failed = await failure_of(verb, situation="Who won the cup?")
    assert (failed.code, failed.message) == ("no_playbook", "no playbook fits; there are flood")
    assert (await failure_of(verb)).code == "bad_input"
    assert (await failure_of(verb, situation="flood", name="flood")).code == "bad_input"


async def test_two_that_fit_alike_are_said_to(folder: Path) -> None:
    """Where another playbook fits just as well the answer says so and names it."""
    (folder / "drought.md").write_text(
        "---\ntitle: Dry wells\nkeywords: [well, flood]\n---\n- Wait.\n", encoding="utf-8"
    )
    output = await output_of(enterprise_playbook(PLAYBOOK_AIDS, folder), situation="a flood")
    assert output["ambiguous"] is True
    assert {output["name"], output["others"][0]["name"]} == {"flood", "drought"}


@given(st.lists(st.sampled_from(["flood", "access", "refund", "down", "the", "and"]), max_size=6))
def test_order_and_case_of_words_do_not_matter(words: list[str]) -> None:
    """The same words find the same playbooks, in whatever order and case."""
    books = PlaybookFolder(PLAYBOOK_AIDS, None, SHIPPED).look().playbooks
    found = [match.playbook.name for match in find_playbooks(books, " ".join(words), COMMON_WORDS)]
    assert found == [
        match.playbook.name
        for match in find_playbooks(books, " ".join(reversed(words)).upper(), COMMON_WORDS)
    ]
