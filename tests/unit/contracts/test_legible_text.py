"""Foreign text as an approver sees it: it reads back as exactly what it is, and nothing in it hides
or passes for something else.
"""

# ruff: noqa: RUF001 - ambiguous signs are what this is about
from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordain.cli.output import json_text
from ordain.contracts.legible_text import legible_json, legible_part, literal, name_text, pieces
from ordain.contracts.look_alikes import OF_LATIN, OF_OTHERS, SEEN_AS_SYNTAX, mistakable
from ordain.contracts.visible import visible
from ordain.rules.plain_reply import cleaned
from tests.unit.rules.given import json_values

TEXTS = st.text(
    st.characters(exclude_categories=())
    | st.sampled_from(
        'ab c.@/-:ı"\\\n'
        "\u200b\u202e\x1b\u3164\u115f\u2800\u0430\u0435о漢字ー。ノア\u0301\u0338\ufe0f\u200d❤👩א5৪ｐ"
    ),
    max_size=60,
)
READABLE = [
    "hello",
    "Grüße aus Köln, naïve café – “quoted”, don’t … 10 €, 3×4 m², nº 1, 10 µm",
    "Привет, как дела? а я и он, т.е. все",
    "Ελληνικά και α-Tocopherol",
    "東京タワーに行きたいです。iPhoneケースとノートを買う",
    "请发邮件到ada@example.org谢谢。",
    "한국어 문장입니다.",
    "नमस्ते दुनिया",
    "ภาษาไทย",
    "Tiếng Việt đẹp",
    "Fatih Kızıl",
    "שלום עולם 5",
    "خانه\u200cها",
    "USB-кабель, COVID-тест",
    "👩\u200d💻 ❤\ufe0f",
    "münchen.de",
    "müller@example.org",
    "ada@пример.рф",
    "https://example.com/привет",
]
"""What people write, which is shown as it is."""
SPELLED = {
    'a\nb\tc"d\\e': r"a\nb\tc\"d\\e",
    "x\u200by\u202ez\x1b[0m\x7f": r"x\u200by\u202ez\u001b[0m\u007f",
    "\u3164\u115f\u1160\uffa0\u2800\u034f": r"\u3164\u115f\u1160\uffa0\u2800\u034f",
    "a\u00a0b\u3000c\u2028d": r"a\u00a0b\u3000c\u2028d",
    "a   b": r"a \u0020\u0020b",
    "p\u0430ypal": r"p\u0430ypal",
    "\u0430pple.com": r"\u0430pple.com",
    "аррӏе.com": r"\u0430\u0440\u0440\u04cf\u0435.com",
    "сосо": r"\u0441\u043e\u0441\u043e",
    "сосо@example.org": r"\u0441\u043e\u0441\u043e@example.org",
    "paypaı.com": r"paypa\u0131.com",
    "paypal.com\u2215login": r"paypal.com\u2215login",
    "x\u2024com": r"x\u2024com",
    "example。com": r"example\u3002com",
    "exampleノlogin.com": r"example\u30celogin.com",
    "ｅxample.com": r"\uff45xample.com",
    "u\u0308ber": r"u\u0308ber",
    "b\u0338c": r"b\u0338c",
    "a\u0323.com": r"a\u0323.com",
    "\u212aelvin \u2126 𝐩𝐚𝐲 ﬁ ⅼ": (
        r"\u212aelvin \u2126 \ud835\udc29\ud835\udc1a\ud835\udc32 \ufb01 "
        r"\u217c"
    ),
    "ɡoogle": r"\u0261oogle",
    "paypaㅣ.com": r"paypa\u3163.com",
    "paypa丨 丨ogin a⼁b": r"paypa\u4e28 \u4e28ogin a\u2f01b",
    "1৪0": r"1\u09ea0",
    "＂ (approved)": r"\uff02 (approved)",
    "＼u0041": r"\uff3cu0041",
    "❤\u200da": r"❤\u200da",
    "a\ufe0f\U000e0100": r"a\ufe0f\udb40\udd00",
    "\ud800\ue000\u0378\ufffc\U000e0041": r"\ud800\ue000\u0378\ufffc\udb40\udc41",
    "\u0301a": r"\u0301a",
    "имя_file": r"\u0438\u043c\u044f_file",
}
"""What could be taken for something else, as it is shown."""


@pytest.mark.parametrize("text", READABLE)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    """Letters with marks, whole words of any script, typography, emoji, addresses in one script."""
    assert literal(text) == f'"{text}"'


@pytest.mark.parametrize("text", SPELLED)
def test_what_could_be_taken_for_something_else_is_shown_by_its_number(text: str) -> None:
    """Line ends, controls, what is blank, what joins, look-alikes within a word or a domain, and
    what would close the quotation.
    """
    assert literal(text) == f'"{SPELLED[text]}"'


@given(TEXTS)
@example("\ud83d")
@example("\\u0430")
def test_it_reads_back_as_the_text(text: str) -> None:
    """As JSON; so two texts are never shown alike, and each character has its own piece."""
    assert json.loads(literal(text)) == text
    assert len(pieces(text)) == len(text)
    assert (
        json.loads(name_text(text)) == text
        if name_text(text).startswith('"')
        else name_text(text) == text
    )


@example("\u0f52")  # the double of two signs
@given(TEXTS)
def test_what_is_shown_is_seen(text: str) -> None:
    """On one line: no control, no separator, nothing of what shows nothing, and only where a
    picture or a letter needs it a joiner or a way of drawing.
    """
    shown = literal(text)
    for at, one in enumerate(shown):
        if one in "\u200c\u200d\ufe0e\ufe0f":
            assert not shown[at - 1].isascii()
        else:
            assert one.isprintable(), hex(ord(one))
            assert one not in SEEN_AS_SYNTAX | OF_LATIN - {"ı"}
    assert "  " not in shown
    assert unicodedata.normalize("NFC", shown) == shown


@given(TEXTS)
def test_no_face_changes_what_is_shown(text: str) -> None:
    """What a terminal and a stream do with foreign text leaves it as it is: there is nothing left
    for them to do.
    """
    shown = literal(text)
    assert visible(shown) == shown
    assert cleaned(shown) == shown


@given(
    st.sampled_from(sorted(OF_OTHERS)),
    st.sampled_from(["{}", "pay{}al", "{}.com", "a{}@example.org", "x {}"]),
)
def test_no_look_alike_of_another_script_stands_in_a_latin_word(letter: str, around: str) -> None:
    """Nor alone, nor in a domain; where the text shows that script beyond doubt a whole word of
    such letters stays.
    """
    assert letter not in literal(around.format(letter))


@given(TEXTS)
def test_only_what_is_beyond_ascii_is_mistaken(text: str) -> None:
    """A sign of ASCII is what it is."""
    assert all(not text[at].isascii() for at in mistakable(text))


@given(json_values | TEXTS | st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_json_stays_the_same_value(value: object) -> None:
    """However it was written, with its strings as they are shown alone."""
    for indent in (None, 2):
        encoded = json.dumps(value, ensure_ascii=False, indent=indent)
        assert json.loads(legible_json(encoded)) == value
    assert json.loads(json_text(value)) == value
    assert isinstance(value, str) is (legible_json(json.dumps(value, ensure_ascii=False))[0] == '"')


@given(TEXTS, st.integers(0, 60))
def test_a_part_of_json_is_spelled_too(text: str, at: int) -> None:
    """Cut anywhere; what of it is JSON's own stays."""
    part = json.dumps([text], ensure_ascii=False)[:at]
    shown = legible_part(part)
    assert len(shown) >= len(part)
    assert all(one.isprintable() or one in "\u200c\u200d\ufe0e\ufe0f" for one in shown)


@pytest.mark.parametrize(
    "text",
    [
        "Это длинный текст. ",
        "東京タワーに。",
        "Grüße aus Köln ",
        "a@сосо.com ",
        "\u202e",
        "e\u0301",
        "\u200d❤",
    ],
)
def test_it_takes_time_in_proportion(text: str) -> None:
    """Ten times the text, some ten times the looks at a character."""
    looked = [len(pieces(text * times)) for times in (10, 100)]
    assert looked[1] == 10 * looked[0]
