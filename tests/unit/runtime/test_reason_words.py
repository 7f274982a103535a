"""What a reason's code means: of every rule there is, and so that code and words can be told
apart.
"""

from ordain.rules.fallback import FallbackReason
from ordain.runtime.brief import reasons_as_codes, reasons_in_words
from ordain.runtime.reason_words import meanings


def test_every_reason_has_words() -> None:
    """The words of a code are its own rule's."""
    assert meanings()[FallbackReason.RETRY] == FallbackReason.RETRY.meaning
    assert all(meaning.strip() for meaning in meanings().values())


def test_the_words_of_every_reason_can_be_taken_away_again() -> None:
    """A line with any reason reads in words, its code beside them, and is the line that it was once
    they are taken away. Codes of one word, which stand beside other words, stay as they are.
    """
    for code, meaning in meanings().items():
        if "." not in code:
            continue
        line = f"  · fallback · {code} · more"
        told = reasons_in_words(line, meanings())
        assert meaning.rstrip(".") in told
        assert code in told
        assert reasons_as_codes(told) == line
