"""TOML within bounds."""

import pytest

from ordain.contracts.toml_text import KEY_PARTS, TEXT_CHARS, toml_values

LONG = KEY_PARTS + 1


@pytest.mark.parametrize(
    "key",
    [
        ".".join("a" * 100_000),
        " . ".join("a" * LONG),
        "\t.".join("a" * LONG),
        ".".join(['"\\""'] * LONG),
        ".".join(["'a.b'"] * LONG),
        ".".join(["a", "'b'", '"c"'] * LONG),
    ],
)
@pytest.mark.parametrize("text", ["{}=1", "[{}]", "[[{}]]", "x={{y=1,{}=1}}", "a=1\n{}=1"])
def test_a_key_of_many_parts_is_not_read(text: str, key: str) -> None:
    """Every beginning of a key is kept by whoever reads it, so 200 KB of text would take 40 GB: it
    is refused before, with its line, however it is written.
    """
    written = text.format(key)
    with pytest.raises(ValueError, match=rf"more than {KEY_PARTS} parts \(at line \d\)"):
        toml_values(written)


@pytest.mark.parametrize("sign", ["a", " ", '"', "'", '"\\', "a.", "'.", "[", "=", "\n", "a ."])
def test_every_text_is_read_or_refused(sign: str) -> None:
    """Whatever a text is full of is looked at once: of a text of the largest size it ends."""
    with pytest.raises(ValueError, match=r"\w"):
        toml_values("x" + sign * (TEXT_CHARS // len(sign) - 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#" * (TEXT_CHARS + 1), "it has more than 1,048,576 characters"),
        ("a=" + "9" * 10_000, "a number has more digits than can be read"),
        ("a=" + "[" * 100_000, "it nests too deep"),
        ("a=", "Invalid value"),
    ],
)
def test_what_is_not_read_is_said(text: str, said: str) -> None:
    """Python's own bounds are told in words, too."""
    with pytest.raises(ValueError, match=said):
        toml_values(text)


def test_what_people_write_is_read() -> None:
    """Dots in values, in quotes and in comments are none of a key's."""
    dots = ".".join("a" * (KEY_PARTS - 1))
    text = f'# 1.2.3\n[a."b.c".d]\nx = "{dots}"\ny = [1.5, 2.5]\nz = """\n{dots}, {dots}"""\n'
    assert toml_values(text)["a"]["b.c"]["d"]["y"] == [1.5, 2.5]
