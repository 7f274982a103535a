"""Which letter each sign is seen as: of all that are known to be seen as another one."""

from ordain.contracts.look_alikes import OF_LATIN, OF_OTHERS
from ordain.contracts.seen_letters import ALIKE, SEEN_AS, letter_shown


def test_each_letter_that_is_seen_as_another_one_is_seen_as_one() -> None:
    """No sign stands twice, and none is missing: a new one without what it is seen as fails."""
    assert set(SEEN_AS) == OF_LATIN | OF_OTHERS
    assert sum(map(len, ALIKE.values())) == len(SEEN_AS)
    assert all(len(seen) == 1 and seen.isascii() and seen.isalnum() for seen in ALIKE)


def test_framed_letters_and_small_capitals_show_theirs() -> None:
    """Any other sign is shown as it is."""
    shown = "".join(map(letter_shown, "\U0001f150\U0001f169\U0001f170\U0001f189\u1d00\u0299\ua731"))
    assert shown.upper() == "AZAZABS"
    assert [letter_shown(sign) for sign in ("a", "\u00df", "\u1d01", "\u0416")] == [
        "a",
        "\u00df",
        "\u1d01",
        "\u0416",
    ]
