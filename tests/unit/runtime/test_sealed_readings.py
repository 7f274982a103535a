"""What readers make of an answer is sealed as the answer is: a secret that only they put together
reaches nobody.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import ModelError, ModelReply
from ordain.runtime.model_answers import ANSWER_CHARS
from ordain.runtime.seal import SPLIT, Seal, SealedModel
from tests.lanes import is_full, size
from tests.unit.runtime.saying import Saying, asked

KEY = "sk-SECRETKEY-abcdef1234567890"
JWT = "sk.live.SECRETKEY.abcdef123456"


def sealed(text: str, *pieces: str) -> tuple[ModelReply | ModelError, str]:
    """What an endpoint's words become, and what of them is heard."""
    heard: list[str] = []
    model = SealedModel(Saying(list(pieces) or [text]), Seal([KEY, JWT]))
    return asyncio.run(model.attempt(asked(), heard.append)), "".join(heard)


FENCE = "```json\n{}\n```"


@pytest.mark.parametrize(
    "around", ["{}", FENCE, "Sure: {}"], ids=["bare", "fenced", "behind words"]
)
@pytest.mark.parametrize("coded", [str, json.dumps, lambda one: json.dumps(json.dumps(one))])
@pytest.mark.parametrize(
    "parted",
    [
        "<think>x</think>",
        "\n<think>x</think>\n",
        "<think>a<think>b</think>c</think>",
        "\\u003cthink>x</think>",
        "[THINK]x[/THINK]",
        "\x1b[0m",
        "\x1b]0;title\x07",
        "\x1b]0;t\x1b\\",
        "\x1b]0;x%07y\x07",
        "\x1b]0;x&#10;y\x07",
        "\x1b]8;;http://e/\\n\x07",
        "\x1b(B",
        "\x9b1m",
        "\x1b[0m\x1b[1m",
        "\\",
        "\t",
        "\r\n",
        "\\\n",
    ],
)
@pytest.mark.parametrize("at", [8, 12, 15] if is_full() else [12])
def test_what_a_reader_puts_together_fails_the_answer(
    at: int, parted: str, coded: Callable[[str], str], around: str
) -> None:
    """Thoughts, sequences of terminals and what stands in an address for nothing are taken away
    behind the place where secrets are struck: an answer that holds one then is none, in JSON, in
    JSON in JSON, and whatever stands around that. What is heard of it has no key either.
    """
    for key in (KEY, JWT):
        text = around.format(coded(f"see http://e.example/{key[:at]}{parted}{key[at:]} end"))
        given, heard = sealed(text, *text)
        assert isinstance(given, ModelError)
        assert (given.code, given.message) == (ModelErrorCode.MALFORMED, SPLIT)
        assert (given.input_tokens, given.output_tokens) == (1, 1)
        assert key not in heard


def test_a_character_by_its_number_in_a_style_sheet_is_that() -> None:
    """With the blank behind it."""
    style = (
        '<div style="background:url(http://e.example/sk\\2d SECRETKEY\\00002dabcdef1234567890)">'
    )
    assert isinstance(sealed(style)[0], ModelError)


def test_words_with_thoughts_and_addresses_stay_as_they_are() -> None:
    """What holds no secret is an answer, whatever is in it."""
    text = "<think>hm</think>See [the\\-page](http://e.example/a\\-b), <img src='http://e.example/c\td'>."
    given, _ = sealed(text)
    assert isinstance(given, ModelReply)
    assert given.text == text


@pytest.mark.parametrize(
    "piece",
    [
        *("&#92;", "\\", "%5c", "\\u005c", "&amp;", "\x1b[", "<think>", "</think>", "[](\\)"),
        *('"<a href=b\\\\>",', "<think>x</think>", "\\2d ", "\n", "<"),
    ],
)
def test_no_answer_stops_everybody(piece: str) -> None:
    """Of megabytes no more is looked at than is kept, in a stream as in one body."""
    text = piece * (size(4_000_000, 1_000_000) // len(piece))
    begun = time.process_time()
    given, heard = sealed(text, *[text[at : at + 4096] for at in range(0, len(text), 4096)])
    assert time.process_time() - begun < size(20, 5), "a second is usual"
    assert isinstance(given, ModelReply)
    assert len(given.text) == ANSWER_CHARS
    assert len(heard) <= ANSWER_CHARS
    assert given.notice is not None
    assert f"has {len(text)} characters" in given.notice
