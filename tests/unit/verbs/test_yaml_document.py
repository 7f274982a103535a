"""One hostile YAML text into one JSON value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import ConfigurationError
from ordain.verbs.yaml_document import DEPTH_MAX, parse_document

# the others YAML breaks lines at, or refuses
TEXT = st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cn", "Co", "Zl", "Zp"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(TEXT, max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(TEXT, min_size=1, max_size=8).filter(lambda key: key != "<<"), inner, max_size=4
        )
    ),
    max_leaves=20,
)

BOMB = "\n".join(
    [
        "a: &a [x, x, x, x, x, x, x, x, x]",
        *(
            f"{low}: &{low} [{', '.join(['*' + high] * 9)}]"
            for high, low in zip("abcdefgh", "bcdefghi", strict=True)
        ),
    ]
)

REFUSED = {
    "billion laughs": (BOMB, 1),
    "anchor alone": ("a: 1\nb: &x 2", 2),
    "alias to nothing": ("a: *nobody", 1),
    "alias as key": ("a: 1\n*a : 2", 2),
    "python tag": ("a: !!python/object/apply:os.system ['true']", 1),
    "binary tag": ("a: !!binary aGk=", 1),
    "own tag": ("\n\na: !mine 1", 3),
    "duplicate key": ("a: 1\nb: 2\na: 3", 3),
    "duplicate key below": ("x:\n  a: 1\n  'a': 3", 3),
    "merge key": ("<<: {a: 1}", 1),
    "number as key": ("1: a", 1),
    "null as key": ("~: a", 1),
    "list as key": ("? [a, b]\n: c", 1),
    "nested mapping keys": ("? " * 5000 + "a", 1),
    "two documents": ("a: 1\n---\nb: 2", 2),
    "infinite": ("a: 1e999", 1),
    "endless number": ("a: " + "9" * 5000, 1),
    "deep lists": ("[" * 100_000, 1),
    "deep mappings": ("{a: " * 50_000, 1),
    "not closed": ("a: [1, 2", 1),
    "tab": ("a:\n\t- b", 2),
    "control character": ("a: \x07", 1),
}


def outcome(text: str) -> object:
    try:
        return parse_document(text, "x").value
    except ConfigurationError as refusal:
        return refusal


@pytest.mark.parametrize("name", REFUSED)
def test_more_than_plain_data_is_refused(name: str) -> None:
    """Whatever is more than plain data is refused with the file and the line, in bounded work."""
    text, line = REFUSED[name]
    with pytest.raises(ConfigurationError) as refusal:
        parse_document(text, "verbs/x.yaml")
    assert refusal.value.code == "invalid_yaml"
    assert refusal.value.message.startswith("verbs/x.yaml:")
    if name not in {"control character", "not closed"}:
        assert refusal.value.details["line"] == line


@given(JSON)
def test_json_is_read_as_it_is(value: object) -> None:
    """JSON is YAML: every JSON text gives its own value."""
    assert outcome(json.dumps(value, ensure_ascii=False)) == value


@given(st.text(max_size=300))
def test_any_text_gives_a_value_or_a_typed_refusal(text: str) -> None:
    """No text gets past the parser as anything but a value or a ConfigurationError."""
    found = outcome(text)
    assert not isinstance(found, ConfigurationError) or found.message.startswith("x:")


def test_words_of_old_yaml_are_strings() -> None:
    """Plain `no`, `on`, octal-like and date-like words stay strings; true, null and numbers do
    not.
    """
    text = (
        "a: no\nb: on\nc: 012\nd: 2020-01-01\ne: true\nf: null\ng: -12\nh: 1.5e3\ni: 0x10\nj: .5\n"
        "k: 1:30\nl:\nm: .nan"
    )
    assert parse_document(text, "x").value == {
        "a": "no", "b": "on", "c": "012", "d": "2020-01-01", "e": True, "f": None, "g": -12,
            "h": 1500.0, "i": "0x10", "j": 0.5, "k": "1:30",
        "l": None, "m": ".nan",
    }  # fmt: skip


def test_a_place_has_its_line() -> None:
    """The line of a place is known, and of an absent one the line of what would hold it."""
    document = parse_document("a: 1\nplan:\n  - name: x\n    order: 2\n  - name: y\n", "x")
    assert document.line(("plan", 0, "order")) == 4
    assert document.line(("plan", 1)) == 5
    assert document.line(("plan", 1, "absent")) == 5
    assert document.line(("absent",)) == 1


def test_the_deepest_nesting_is_accepted() -> None:
    """Nesting up to the limit is read; one level more is refused."""
    parse_document("[" * DEPTH_MAX + "]" * DEPTH_MAX, "x")
    with pytest.raises(ConfigurationError, match="nested deeper"):
        parse_document("[" * (DEPTH_MAX + 2) + "]" * (DEPTH_MAX + 2), "x")
