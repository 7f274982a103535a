"""The ways to read a text: each knows where its characters stand in the text itself."""

from __future__ import annotations

import json
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.runtime.seal import Seal
from ordain.runtime.text_layers import ends, is_coded, layers

SECRET = "s3cr3t/& key"
WRITTEN = {
    "as it is": SECRET,
    "json": json.dumps("ab\n" + SECRET)[1:-1],
    "percent": quote(SECRET, safe=""),
    "entities": "".join(f"&#{ord(sign)};" for sign in SECRET),
    "json in json": json.dumps(json.dumps("\u00e9" + SECRET))[1:-1],
    "percent of entities": quote(escape(SECRET), safe=""),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_one_of_the_readings_has_it_and_knows_where_it_stands(written: str) -> None:
    """However it is written, what a layer reads comes from where it says: struck there, no layer of
    what is left has it.
    """
    text = f"before {written} behind"
    found = [layer for layer in layers(text) if SECRET in layer.text]
    assert found
    layer = found[0]
    at = layer.text.index(SECRET)
    begin, end = layer.place(at), layer.place(at + len(SECRET))
    assert text[:begin].startswith("before ")
    assert text[end:].endswith(" behind")
    assert not [one for one in layers(text[:begin] + text[end:]) if SECRET in one.text]


@given(st.text(alphabet='ab&#;%\\"u0041x2 ', max_size=60))
def test_places_never_go_back_and_stay_within_the_text(text: str) -> None:
    """Of any text and any layer: its end is the text's, and what stands later comes from later."""
    for layer in layers(text):
        places = [layer.place(at) for at in range(len(layer.text) + 1)]
        assert places == sorted(places)
        assert places[-1] == len(text)


@given(st.text(max_size=40))
def test_a_text_without_a_sign_of_a_code_has_one_reading(text: str) -> None:
    """Nothing else is looked for then."""
    assert (len(layers(text)) == 1) or is_coded(text)
    assert layers(text)[0].text == text


@pytest.mark.parametrize(
    ("text", "whole"),
    [("abc", [3]), ("abc%", [4, 3]), ("abc%4", [5, 3]), ("abc\\u00", [7, 3]), ("abc&am", [6, 3])],
)
def test_a_text_also_ends_before_what_may_become_a_character_yet(
    text: str, whole: list[int]
) -> None:
    """A code that was cut off says nothing yet: the text is read without it as well."""
    assert list(ends(text)) == whole


@pytest.mark.parametrize("inner", ["&#{};", "&#x{:x};", "\\u{:04x}"])
def test_nothing_of_a_secret_in_two_codes_is_settled_wherever_it_is_cut(inner: str) -> None:
    """A text may end within both codes: what is begun of the outer one may become a part of what is
    begun of the inner one.
    """
    secret, front = "Zq7Tt9PlmK2wX4", "it is "
    coded = "".join(inner.format(ord(char)) for char in secret)
    said = front + "".join(f"%{ord(char):02x}" for char in coded)
    seal = Seal([secret])
    settled = [seal.settled(said[:end]) for end in range(len(front), len(said))]
    assert max(settled) <= len(front)
