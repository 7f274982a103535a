"""What readers make of an answer is sealed as the answer is: a secret that only they put together
reaches nobody.
"""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import ModelError, ModelReply
from ordain.runtime.model_answers import ANSWER_CHARS
from ordain.runtime.seal import SPLIT, STRUCK, Seal, SealedModel
from tests.unit.runtime.saying import Saying, asked

KEY = "sk-SECRETKEY-abcdef1234567890"
JWT = "sk.live.SECRETKEY.abcdef123456"


def sealed(text: str, *pieces: str) -> tuple[ModelReply | ModelError, str]:
    """What an endpoint's words become, and what of them is heard."""
    heard: list[str] = []
    model = SealedModel(Saying(list(pieces) or [text]), Seal([KEY, JWT]))
    return asyncio.run(model.attempt(asked(), heard.append)), "".join(heard)


@pytest.mark.parametrize(
    "text",
    [
        f"{JWT[:8]}<think>x</think>{JWT[8:]} end",
        f"{JWT[:8]}\n<think>x</think>{JWT[8:]} end",
        "[a](http://e.example/sk\\-SECRETKEY\\-abcdef1234567890)",
        '<img src="http://e.example/sk-SEC\tRETKEY-abcdef1234567890">',
        '<img src="http://e.example/sk-SEC\nRETKEY-abcdef1234567890">',
        '<div style="background:url(http://e.example/sk\\2d SECRETKEY\\2d abcdef1234567890)">',
        '<style>@import "http://e.example/sk-SEC\\\nRETKEY-abcdef1234567890";</style>',
    ],
)
def test_what_a_reader_puts_together_fails_the_answer(text: str) -> None:
    """Thoughts are cut out of words, and escapes out of addresses, behind the place where secrets
    are struck: where one stands only then, the answer is none. In JSON as well.
    """
    for said in (text, json.dumps({"content": text})):
        given, _ = sealed(said)
        if isinstance(given, ModelError):
            assert (given.code, given.message) == (ModelErrorCode.MALFORMED, SPLIT)
            assert (given.input_tokens, given.output_tokens) == (1, 1)
        else:  # a thought within a text of JSON is a word of it, and what stands around a line's end
            assert KEY not in given.text
            assert JWT not in given.text
            assert "think" in given.text


@pytest.mark.parametrize(
    "sequence",
    ["\x1b[0m", "\x1b]0;title\x07", "\x1b(B", "\x9b1m", "\x1b[0m\x1b[1m", "\\u001b[0m"],
)
def test_a_sequence_of_a_terminal_parts_no_secret(sequence: str) -> None:
    """A face leaves it out: the whole stretch is struck, and heard in any pieces nothing of it."""
    text = f"it is {KEY[:9]}{sequence}{KEY[9:]} end"
    for pieces in ([text], list(text), [text[:17], text[17:19], text[19:]]):
        given, heard = sealed(text, *pieces)
        assert isinstance(given, ModelReply)
        assert given.text == f"it is {STRUCK} end"
        assert KEY not in heard
        assert heard == f"it is {STRUCK} end"


def test_words_with_thoughts_and_addresses_stay_as_they_are() -> None:
    """What holds no secret is an answer, whatever is in it."""
    text = "<think>hm</think>See [the\\-page](http://e.example/a\\-b), <img src='http://e.example/c\td'>."
    given, _ = sealed(text)
    assert isinstance(given, ModelReply)
    assert given.text == text


@pytest.mark.parametrize("piece", ["&#92;", "\\", "%5c", "\\u005c", "&amp;", "\x1b["])
def test_no_answer_stops_everybody(piece: str) -> None:
    """Of megabytes no more is looked at than is kept, in a stream as in one body."""
    text = piece * (4_000_000 // len(piece))
    begun = time.process_time()
    given, heard = sealed(text, *[text[at : at + 4096] for at in range(0, len(text), 4096)])
    assert time.process_time() - begun < 20, "a second is usual"
    assert isinstance(given, ModelReply)
    assert len(given.text) == ANSWER_CHARS
    assert len(heard) <= ANSWER_CHARS
    assert given.notice is not None
    assert f"has {len(text)} characters" in given.notice
