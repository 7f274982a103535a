"""Engine 8: an order to work that runs is read by what stands around the word that orders; answers
are what they were.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.policy import Policy
from ordain.rules.attach import ThreadFact, decide_attach
from ordain.rules.attachment import AttachFacts, AttachReason, Filler, NewRequest, Override
from ordain.wording.cues import Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled
from tests.labelled.judging import FILE as MESSAGES
from tests.labelled.judging import LANGUAGES, TRIED, Row, rows
from tests.labelled.working import FILE, WRONG, judged

WORDING = compiled(shipped_table())
EIGHTH, SEVENTH = compiled(shipped_table(), 8), compiled(shipped_table(), 7)
CERTAIN = 2
AT_MOST = dict(zip(WRONG, (1, 0, 2, 8), strict=True))
"""Of 136 messages that stop nothing, 84 that order nothing, 62 stops and waits, and 40 corrections.
Before engine 8: 2, 4, 17 and 24.
"""
BEFORE = dict(zip(WRONG, (2, 4, 17, 24), strict=True))
EVERY = [row for file in (FILE, MESSAGES, TRIED, LANGUAGES) for row in rows(file)]
SAID = [
    message["text"]
    for message in json.loads(
        (Path(__file__).parent / "cue_messages.json").read_text(encoding="utf-8")
    )
]
HALTED = [
    row["text"] for row in EVERY if row["label"] in ("stop", "hold") and row["state"] == "working"
]


def ends(text: str) -> bool:
    """Whether work that runs goes on no further."""
    found = WORDING.cues(text)
    return found.stop == CERTAIN or found.hold


def orders(text: str) -> bool:
    """Whether it stops, holds or corrects."""
    return ends(text) or WORDING.cues(text).steer == CERTAIN


def test_work_is_neither_stopped_nor_corrected_by_what_is_said_beside() -> None:
    """Of the set that was written before the tables were read, few messages are misread, and fewer
    than the engine before misreads.
    """
    found = {what: len(texts) for what, texts in judged(rows(FILE), WORDING).items()}
    assert all(found[what] <= AT_MOST[what] < BEFORE[what] for what in WRONG), judged(
        rows(FILE), WORDING
    )


@pytest.mark.parametrize(
    "text",
    [
        *("Halt mich auf dem Laufenden", "halt das so", "dann halt", "drop it off",
            "skip to the end"),
        *("make it quick", "make it snappy!", "please make it fast", "make it work",
            "make it happen", "lieber langsam", "lieber gründlich als schnell"),
        *("I meant what I said", "I meant it", "I meant that seriously", "ich meinte es gut",
            "ich meinte das ernst", "ich meinte es nur gut"),
        *("reicht das?", "reicht das so?", "reicht dir das?", "enough?", "genug?", "ça suffit ?",
            "¿basta?"),
        *("maybe stop", "stop, maybe", "I think you can stop", "vielleicht abbrechen",
            "perhaps we should cancel this"),
    ],
)  # fmt: skip
def test_what_only_sounds_like_an_order_is_none(text: str) -> None:
    """An idiom, haste, earnest, a question whether it is enough, a thought: each of them ordered
    something, and is a message.
    """
    before = SEVENTH.cues(text)
    assert before.stop == CERTAIN or before.hold or before.steer == CERTAIN
    assert not orders(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Stop! The numbers are wrong.", "stopp, der Kunde hat abgesagt",
            "STOP. This is the live system", "halt, das ist die falsche Datei!"),
        *("Cancel. The customer changed his mind.", "Lass es, Manfred hat den Plan",
            "der Kunde hat abgesagt, brich ab", "we don't need this any more, you can stop"),
        *("ich möchte, dass du aufhörst", "ich will dass du das abbrichst",
            "es wäre gut, wenn du aufhörst", "I'd rather you stopped", "I want this to stop"),
        *("ich will nicht mehr, hör auf", "abort mission", "cancel the whole mission",
            "abort the script", "also stopp", "also gut, dann brich ab"),
        *("you needn't continue", "you don't have to continue", "don't keep going",
            "no need to keep going", "du brauchst nicht weiterzumachen", "you don't need to go on"),
        *("Ordain, stop", "Hey Ordain, stop!", "Schatz, hör auf", "darling, stop it"),
        *("wait a moment, I have to check something", "Moment, ich muss erst was nachsehen",
            "ich möchte, dass du wartest"),
        *("don't send anything yet", "noch nicht abschicken bitte", "do not publish that",
            "die Mail noch nicht abschicken", "nichts löschen!"),
    ],
)  # fmt: skip
def test_a_plain_stop_is_one_whatever_stands_beside(text: str) -> None:
    """A reason, a wish, a name of the work, an address, a negated order to go on, an act that is
    not to be: none of them stopped anything before.
    """
    before = SEVENTH.cues(text)
    assert before.stop < CERTAIN
    assert ends(text)


@pytest.mark.parametrize(("text", "is_so"), [("halt mal kurz", True), ("mach Schluss", True),
    ("Kommando zurück", True), ("blas das ab", True), ("nicht so schnell", False), ("not so fast",
    False)])  # fmt: skip
def test_words_of_the_lists_end_work_and_end_none(text: str, is_so: bool) -> None:
    """What the lists of before lacked, and what they had for a wait that is none."""
    assert ends(text) is is_so


@pytest.mark.parametrize(
    "text",
    [
        *("stop when you reach 10", "when you're done, stop", "if it costs more than 100, stop",
            "sobald du fertig bist, hör auf", "stop, and then translate this"),
        *("she told me, stop", "Er hat gesagt, hör auf", "the doctor said, stop smoking",
            "stop, what's the weather like?", "abort() vs exit() in C"),
        *("ich will, dass du nicht aufhörst", "ich will nicht, dass du aufhörst",
            "I'd rather you didn't stop", "du brauchst nicht aufzuhören"),
        *("I can't go on", "it won't continue", "don't go on holiday", "you can't go on like this",
            "also cancel the hotel", "make sure you stop at the bakery"),
        *("wait, the client is Brandl", "Moment, ich suche ein Hotel in Köln", "noch nicht gebucht",
            "it did not send", "don't order pizza"),
    ],
)  # fmt: skip
def test_what_puts_off_tells_or_orders_something_else_ends_nothing(text: str) -> None:
    """A condition, words of others, a negated stop, a matter of its own."""
    assert not ends(text)


@pytest.mark.parametrize(
    "text",
    [
        *("use 20 percent, not 7.5", "use 20% not 7.5%", "the price is 1300, not 1200",
            "nimm 1300, nicht 1200", "I said 8.5 percent, not 7.5"),
        *("es sind 12 Personen und nicht 10", "um 17 Uhr, nicht um 16 Uhr",
            "on the 5th, not the 6th", "it is on Tuesday, not Wednesday"),
        *("change 1200 to 1300", "change the rate from 7 to 8 percent", "ersetze 1200 durch 1300",
            "bitte 1200 durch 1300 ersetzen"),
        *("can you change 1200 to 1300?", "that should be dollars, not euros",
            "his name is Meyer, not Meier", "der Kunde heißt Brandl, nicht Brandt"),
    ],
)  # fmt: skip
def test_two_figures_or_names_correct(text: str) -> None:
    """The one that was and the one that is to be, whatever stands before; none of them corrected
    anything before.
    """
    assert SEVENTH.cues(text).steer < CERTAIN
    assert WORDING.cues(text).steer == CERTAIN


@pytest.mark.parametrize(
    "text",
    [
        *("Book 3 rooms, not 4", "write 3 poems, not 4", "find me a recipe with honey, not sugar",
            "convert 1200 to 1300", "raise 2 to 3"),
        *("increase 100 by 20 percent", "change my flight from the 3rd to the 5th",
            "what is 12, not 10", "life is short, not long", "it was fun, not work"),
        *("20 minutes, not bad", "it's 100% not funny", "2 things, not too long",
            "replace 3 with 4?", "set the oven to 180 degrees"),
    ],
)  # fmt: skip
def test_what_has_figures_of_its_own_corrects_nothing(text: str) -> None:
    """A task of its own, a calculation, a remark, a question."""
    assert WORDING.cues(text).steer < CERTAIN


@given(
    st.integers(3, 9_999),
    st.integers(3, 9_999),
    st.sampled_from(
        [
            "use {} percent, not {}",
            "the price is {}, not {}",
            "nimm {}, nicht {}",
            "es sind {} Euro, nicht {}",
        ]
    ),
)
def test_any_two_figures_correct_and_asked_they_do_not(to: int, was: int, form: str) -> None:
    """Whichever they are; with a question mark it is a question."""
    said = form.format(to, was)
    assert WORDING.cues(said).steer == CERTAIN
    assert WORDING.cues(f"{said}?").steer < CERTAIN


@given(
    st.sampled_from([row["text"] for row in EVERY] + SAID) | st.text(max_size=80),
    st.sampled_from(["", "yes, ", "no. ", "stop, ", "maybe "]),
)
def test_engine_8_answers_what_engine_7_does(text: str, before: str) -> None:
    """Whatever is said: no yes, no and no choice comes or goes, and nothing that asks, waits or
    wants nothing is read otherwise.
    """
    now, then = EIGHTH.cues(before + text), SEVENTH.cues(before + text)
    ordered = structs.replace(
        then,
        stop=now.stop,
        steer=now.steer,
        hold=now.hold,
        go_on=now.go_on,
        reasoned=now.reasoned,
        partly=now.partly,
    )
    assert now == ordered
    assert now.partly is then.partly or (then.partly, now.partly) == (Partly.MAYBE, Partly.LEANS)
    if then.yes or then.no:
        assert (now.stop, now.steer, now.hold) <= (then.stop, then.steer, then.hold)


@pytest.mark.parametrize(
    "text", [*HALTED, *(text for text in SAID if SEVENTH.cues(text).stop == CERTAIN)]
)
def test_what_stopped_before_stops(text: str) -> None:
    """Every stop and wait of the sets that engine 7 reads is still one."""
    before = SEVENTH.cues(text)
    if before.stop == CERTAIN or before.hold:
        assert orders(text)


def test_a_stop_that_says_more_is_a_message_where_nothing_works() -> None:
    """There it stops nothing and is answered; a bare one is told that there is nothing to stop.
    Beside work both stop it.
    """

    def decided(text: str, *threads: ThreadFact) -> tuple[object, object]:
        facts = AttachFacts(
            cues=WORDING.cues(text),
            threads=threads,
            active=len(threads),
            at_work=len(threads),
            open=len(threads),
        )
        decision = decide_attach(facts, None, Policy(version=1))
        return decision.outcome, decision.reason

    works = ThreadFact(id=1, status="in_progress", live=True)
    for text in ("Stop! The numbers are wrong.", "wait, I have to think", "don't delete it"):
        assert decided(text)[0] == NewRequest()
        assert decided(text, works)[0] == Override(thread=1, stop=True)
    assert decided("stop") == (Filler(), AttachReason.NOTHING_TO_STOP)


def row_of(text: str, label: str) -> Row:
    """A message to work that runs."""
    return {"id": 0, "lang": "en", "state": "working", "text": text, "label": label}


@pytest.mark.parametrize(
    ("text", "label", "wrong"),
    [("stop", "chatter", "false stop"), ("use 10 percent", "chatter", "false correction"),
        ("lovely", "stop", "missed stop"), ("lovely", "correct", "missed correction")],
)  # fmt: skip
def test_the_judge_names_what_is_wrong(text: str, label: str, wrong: str) -> None:
    """Each kind of misreading is counted as itself."""
    assert judged([row_of(text, label)], WORDING)[wrong] == [text]
