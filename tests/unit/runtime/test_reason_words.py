"""What a reason's code means: of every rule there is, and so that code and words can be told
apart.
"""

from typing import Any, get_args

from ordain.contracts.failures import CATEGORY
from ordain.effects.results import ModelResult, VerbResult
from ordain.rules.fallback import FallbackReason
from ordain.runtime.brief import reasons_as_codes, reasons_in_words
from ordain.runtime.reason_words import failure_meanings, meanings


def test_every_reason_has_words() -> None:
    """The words of a code are its own rule's."""
    assert meanings()[FallbackReason.RETRY] == FallbackReason.RETRY.meaning
    assert all(meaning.strip() for meaning in meanings().values())


def test_the_words_of_every_reason_can_be_taken_away_again() -> None:
    """A line with any reason reads in words, its code beside them, and is the line that it was once
    they are taken away. A reason of one word is one where it stands last, but for what is quoted.
    """
    for code, meaning in meanings().items():
        line = f"  · fallback · {code}" + (" · more" if "." in code else ' · "more"')
        told = reasons_in_words(line, meanings())
        assert meaning.rstrip(".") in told
        assert code in told
        assert reasons_as_codes(told) == line


def test_every_code_by_which_a_call_fails_has_words() -> None:
    """Of each code that this build gives a failed call, of each end that a result may have which is
    no success, and of each error of a model; and no words are kept for a code that there is not.
    """
    results: tuple[Any, ...] = (*get_args(VerbResult), *get_args(ModelResult))
    ends = {result.__struct_config__.tag for result in results}
    ends -= {"returned", "answer", "model_failed", "verb_failed"}
    assert ends >= {"outcome_unknown", "timed_out", "withdrawn"}
    codes = {*CATEGORY, *ends, "abandoned"}
    assert codes - set(meanings()) == set()
    assert set(failure_meanings()) - codes == set()
    for code, meaning in failure_meanings().items():
        assert " " in meaning, code
        assert meaning.endswith("."), code
