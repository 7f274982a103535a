"""What the HTTP face sends as JSON is spelled in one place."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from msgspec import Raw

from ordain import server
from ordain.server.sent_json import as_recorded, spelled, with_recorded
from ordain.server.shapes import JournalRecord

POISON = "a\x1b[2Jb\x00\x7f\u202e\u200b"
SERVER = Path(server.__file__).parent


def test_what_is_sent_is_shown() -> None:
    """Keys and texts are visible, also of what was encoded before; what nothing is wrong with is
    sent as it is.
    """
    told = {"said": [POISON, "ok", 1.50], POISON: Raw(b'{"deep": "\\u202e", "n": 1.10}')}
    assert spelled(told).decode() == (
        '{"said":["ab␀␡[U+202E][U+200B]","ok",1.5],"a␛[2Jb␀␡[U+202E][U+200B]":{"deep": '
        '"[U+202E]", "n": 1.10}}'
    )
    assert spelled({"über": "grüße\n"}) == '{"über":"grüße\\n"}'.encode()


def test_what_was_recorded_stays() -> None:
    """What is sent as it was recorded is the same value wherever it stands, with the numbers of
    what would be shown; all around it is shown.
    """
    sent = spelled(
        [
            POISON,
            as_recorded({POISON: [POISON]}),
            POISON,
            as_recorded(Raw(b'"\\u0000\x7f"')),
            "\x00",
        ]
    )
    shown = "ab␀␡[U+202E][U+200B]"
    assert json.loads(sent) == [shown, {POISON: [POISON]}, shown, "\x00\x7f", "␀"]
    assert sent.decode().isprintable()
    assert json.loads(spelled(with_recorded({"output": POISON, "header": POISON}, {"output"}))) == {
        "output": POISON,
        "header": shown,
    }


def test_a_record_is_sent_as_recorded() -> None:
    """A journal's record keeps its body; a value of another kind is no JSON and is refused
    aloud.
    """
    record = JournalRecord(
        seq=0,
        kind="note",
        name="",
        v=1,
        at="",
        digest="",
        chain="",
        body=as_recorded(Raw(b'{"a":"\xe2\x80\xae"}')),
    )
    assert json.loads(spelled(record))["body"] == {"a": "\u202e"}
    with pytest.raises(NotImplementedError):
        spelled(object())


def test_nothing_else_of_the_face_makes_json() -> None:
    """No module of the face encodes what it sends by itself (what ``bodies`` encodes was sent to
    it).
    """
    for module in SERVER.glob("*.py"):
        if module.name in ("sent_json.py", "bodies.py"):
            continue
        found = [
            f"{module.name}:{node.lineno}"
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("encode", "dumps")
                and ast.unparse(node.value) in ("json", "msgspec.json")
            )
            or (isinstance(node, ast.Name) and node.id in ("JSONResponse", "ORJSONResponse"))
        ]
        assert found == []
