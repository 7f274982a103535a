"""Engine 9: what fills the slot that a question asks for, by its kind and by how the message says
it: plainly, negated, hedged, under a condition, or with a value that there is not.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.policy import Policy
from ordain.rules.answer import (
    SORTED,
    AnswerInputs,
    ExpectedType,
    Takes,
    YesOrNo,
    fits,
    partly,
    whole_answer,
)
from ordain.rules.attach import ThreadFact, decide_attach
from ordain.rules.attachment import AnswerPending, AttachFacts, Filler, NewRequest
from ordain.wording.cues import Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import Wording, compiled
from tests.labelled.judging import FILE, LANGUAGES, TRIED, rows
from tests.labelled.working import FILE as WORKING

WORDING, EIGHTH = compiled(shipped_table()), compiled(shipped_table(), 8)
OPTIONS = ("alpha plan", "beta plan", "gamma plan")
KINDS = (
    ExpectedType.YES_NO,
    ExpectedType.DATE_TIME,
    ExpectedType.LOCATION,
    ExpectedType.OPTION,
    ExpectedType.FREEFORM,
)
SAID = [row["text"] for file in (FILE, WORKING, TRIED, LANGUAGES) for row in rows(file)]


def asking(text: str, kind: ExpectedType, wording: Wording = WORDING) -> AttachFacts:
    """A session whose one thread asks for a value of this kind, and the message."""
    found = wording.cues(text)
    given_ = AnswerInputs(
        text=text, wording=wording, options=OPTIONS if kind is ExpectedType.OPTION else ()
    )
    fitting = (
        whole_answer(kind, given_, found) is not None
        if kind is ExpectedType.OPTION
        else fits(kind, found)
    )
    takes = Takes.UNCLEAR if kind in SORTED else Takes.NOTHING
    thread = ThreadFact(
        id=1,
        status="waiting_for_user",
        live=True,
        asks=kind,
        fits=fitting,
        takes=takes,
        partly=Partly.NO if fitting or not takes else partly(kind, found, given_),
    )
    return AttachFacts(
        cues=found,
        threads=(thread,),
        active=1,
        at_work=1,
        open=1,
        asks_back=True,
        addressed=True,
        last=1,
        newest=True,
        outspoken=True,
    )


def becomes(text: str, kind: ExpectedType, wording: Wording = WORDING) -> object:
    """What the message is to a question of this kind."""
    return decide_attach(asking(text, kind, wording), None, Policy(version=1)).outcome


def fills(text: str, kind: ExpectedType, wording: Wording = WORDING) -> bool:
    """Whether the message is an answer that fills the slot."""
    outcome = becomes(text, kind, wording)
    return isinstance(outcome, AnswerPending) and not outcome.partly


def consents(text: str) -> bool:
    """Whether a question of yes or no has its yes."""
    given_ = AnswerInputs(text=text, wording=WORDING)
    said = whole_answer(ExpectedType.YES_NO, given_, WORDING.cues(text))
    return said == YesOrNo(yes=True)


PLAIN = {
    ExpectedType.YES_NO: ("yes", "ja", "yes please", "ja bitte", "no", "nein"),
    ExpectedType.DATE_TIME: (
        *("tomorrow", "on Friday at 5", "the 5th of May", "31.12.2026", "2026-12-31", "18:30"),
        *("5pm please", "7", "next week", "half past 5", "tomorrow morning, please", "by Friday"),
        *("no later than Friday", "no problem, Friday", "tomorrow, if possible", "Friday works"),
        *("morgen", "am Freitag um 5", "am 5. Mai", "31.12.", "gegen 18 Uhr", "Freitag passt"),
        *("morgen früh bitte", "spätestens Freitag", "nicht später als Freitag", "halb fünf"),
        *("morgen, wenn möglich", "kein Problem, Freitag", "18.45 Uhr", "29.2.2028"),
        *("1730", "May 31", "31. März", "si, mañana", "oui, demain"),
    ),
    ExpectedType.LOCATION: ("Berlin", "in Köln", "near the station", "10115 Berlin", "Bad Homburg"),
    ExpectedType.OPTION: ("alpha", "the second one", "B", "das zweite", "beta plan please"),
    ExpectedType.FREEFORM: ("12", "twelve", "Meier", "zwölf Stück", "not before May"),
}
CONTRASTED = (
    *("not Monday, Tuesday", "Tuesday, not Monday", "no, Friday", "not Monday but Tuesday"),
    *("Monday is not good, Tuesday works", "Friday, but not before 5", "no, make it Friday"),
    *("nicht Montag, sondern Dienstag", "nicht Montag, Dienstag", "nein, Freitag"),
    *("Dienstag, nicht Montag", "Montag geht nicht, aber Dienstag passt", "nein, lieber Freitag"),
)
"""A day that is not to be, and one that is."""
NEGATED = {
    ExpectedType.DATE_TIME: (
        *("not tomorrow", "anything but Friday", "any day except Monday", "tomorrow? no"),
        *("no, not tomorrow", "not on Friday", "Friday is impossible", "Friday, no",
            "never on a Friday", "I can't on Friday", "Friday does not work", "not before Friday",
            "every day but Friday", "nothing on Friday", "Friday, I can't", "not today",
            "neither Monday nor Tuesday", "Friday? impossible", "Friday is out of the question",
            "anytime other than noon", "not at 5", "not the 5th of May", "I'm away on Friday"),
        *("Friday would be terrible", "Friday is taken", "Friday ain't good", "forget Friday",
            "every day save Sunday", "kaum Freitag", "Freitag fällt aus", "vergiss Freitag"),
        *("nicht morgen", "alles außer Freitag", "morgen? nein", "nein, nicht morgen",
            "Freitag geht nicht", "am Freitag kann ich nicht", "bloß nicht Montag",
            "keinen Montag", "weder Montag noch Dienstag", "Freitag ist unmöglich",
            "Freitag, geht nicht", "nie am Montag", "jeden Tag außer Montag", "nicht vor Freitag",
            "Freitag passt mir nicht", "heute nicht", "Freitag, nein", "nicht am 5. Mai",
            "Freitag bin ich verhindert", "Freitag ist schlecht", "um 5 auf keinen Fall"),
    ),
    ExpectedType.LOCATION: ("not Berlin", "anywhere but Berlin", "nicht in Köln", "außer Köln",
        "überall außer in Berlin", "no, not in Paris"),
    ExpectedType.OPTION: ("not alpha", "anything but alpha", "not the second", "nicht das zweite",
        "alles außer alpha", "none of them", "keins davon", "A? no", "nicht B"),
}  # fmt: skip
HEDGED = {
    ExpectedType.YES_NO: ("maybe", "perhaps", "vielleicht", "hm", "if possible", "I guess",
        "mal sehen", "kommt drauf an", "probably", "wahrscheinlich schon"),
    ExpectedType.DATE_TIME: ("maybe tomorrow", "tomorrow, perhaps", "probably Friday",
        "Friday I think", "possibly on the 5th", "not sure, Friday?", "vielleicht morgen",
        "morgen eventuell", "ich glaube Freitag", "wahrscheinlich am 5. Mai",
        "weiß nicht, Freitag", "Friday, but I am not sure", "it depends, maybe Friday", "notfalls Freitag"),
    ExpectedType.LOCATION: ("maybe Berlin", "vielleicht Köln", "Berlin I guess",
        "wahrscheinlich in Köln", "wohl Berlin"),
    ExpectedType.OPTION: ("maybe alpha", "vielleicht B", "alpha I guess", "probably the second"),
}  # fmt: skip
CONDITIONAL = {
    ExpectedType.YES_NO: ("yes, if she agrees", "if you want", "ja, wenn es billig ist",
        "nur wenn sie zustimmt", "yes but only the German ones"),
    ExpectedType.DATE_TIME: ("tomorrow if it doesn't rain", "Friday, unless Anna is away",
        "Friday provided the room is free", "if Anna can, on Friday", "morgen, wenn Anna kann",
        "Freitag, falls der Raum frei ist", "sofern es klappt am 5. Mai",
        "Freitag, es sei denn es regnet", "Friday, weather permitting",
        "Friday pending approval", "Freitag vorbehaltlich Zusage"),
    ExpectedType.LOCATION: ("Berlin if it is cheap", "Köln, falls frei"),
    ExpectedType.OPTION: ("alpha if it is cheap", "B, wenn Anna zustimmt", "alpha unless full"),
}  # fmt: skip
IMPOSSIBLE = {
    ExpectedType.DATE_TIME: ("12.13.2026", "31.2.", "31.02.2027", "30 February", "February 30",
        "32.5.2026", "2026-13-01", "2026-02-30", "13/13/2026", "25:70", "24:30", "32 May",
        "May 35", "35. Mai", "31. April", "29.2.2027", "at 25", "um 25 Uhr", "25 Uhr", "99",
        "0.5.2026", "tomorrow at 25:70", "am 31. Juni", "den 12.13.26"),
    ExpectedType.OPTION: ("the 7th option", "Z", "7", "die vierte"),
}  # fmt: skip
NOES = (
    *("no", "never", "never ever", "no way", "no chance", "not at all", "not possible"),
    *("impossible", "certainly not", "under no circumstances", "not today", "nope, sorry", "better not"),
    *("nein", "nie", "niemals", "geht nicht", "auf keinen Fall", "keinesfalls",
        "auf gar keinen Fall", "lieber nicht", "unmöglich", "nee", "nein danke", "kommt nicht in Frage"),
    *("over my dead body", "not on your life", "never again", "nowhere", "geht leider nicht"),
    *("nur über meine Leiche", "nie wieder", "bloß nicht", "nirgends"),
)  # fmt: skip


def cases(of: dict[ExpectedType, tuple[str, ...]]) -> list[tuple[ExpectedType, str]]:
    """The rows of one column of the table."""
    return [(kind, text) for kind, texts in of.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), cases(PLAIN))
def test_what_is_said_plainly_fills_the_slot(kind: ExpectedType, text: str) -> None:
    """A value of the kind that is asked for, with courtesies and what makes it no less plain."""
    assert fills(text, kind)


@pytest.mark.parametrize("text", CONTRASTED)
def test_a_day_that_is_to_be_fills_beside_one_that_is_not(text: str) -> None:
    """What is negated is another day than the one that is named."""
    assert fills(text, ExpectedType.DATE_TIME)


@pytest.mark.parametrize(
    ("kind", "text"),
    [*cases(NEGATED), *cases(HEDGED), *cases(CONDITIONAL), *cases(IMPOSSIBLE)],
)
def test_what_is_negated_hedged_conditional_or_impossible_fills_none(
    kind: ExpectedType, text: str
) -> None:
    """The question stays open, whichever kind of value it asks for."""
    assert not fills(text, kind)


@pytest.mark.parametrize("text", [text for _, text in [*cases(HEDGED), *cases(CONDITIONAL)]])
def test_a_hedge_or_a_condition_is_no_consent(text: str) -> None:
    """Whatever else is said in it."""
    assert not consents(text)


@pytest.mark.parametrize("text", NOES)
@pytest.mark.parametrize(
    "kind", [ExpectedType.DATE_TIME, ExpectedType.LOCATION, ExpectedType.OPTION]
)
def test_a_no_is_one_to_any_question(text: str, kind: ExpectedType) -> None:
    """It becomes what a plain *no* becomes there: it fills nothing, begins nothing, and leaves the
    question open. To yes or no it is a no.
    """
    assert becomes(text, kind) == becomes("no", kind) == Filler()
    assert not fills(text, kind)
    assert WORDING.cues(text).no
    assert not WORDING.cues(text).yes


def test_a_no_that_answers_nothing_is_what_it_was() -> None:
    """Where nothing is asked *geht nicht* is a matter of its own, and so it is beside work."""
    for threads in ((), (ThreadFact(id=1, status="in_progress", live=True),)):
        facts = AttachFacts(cues=WORDING.cues("geht nicht"), threads=threads, addressed=True)
        assert decide_attach(facts, None, Policy(version=1)).outcome == NewRequest()


def test_what_engines_before_decided_is_decided_so_again() -> None:
    """Their cues do not say that a no is one to any question, so that what is recorded replays."""
    assert becomes("never", ExpectedType.DATE_TIME, EIGHTH) == NewRequest()
    assert fills("not tomorrow", ExpectedType.DATE_TIME, EIGHTH)


@given(
    st.sampled_from(SAID) | st.text(max_size=60),
    st.sampled_from(["", "not ", "maybe ", "no, ", "yes, ", "nicht "]),
)
def test_engine_9_takes_values_back_and_makes_none(text: str, before: str) -> None:
    """Whatever is said: no yes, no choice, no date and no place comes that engine 8 does not read,
    and no yes, no, stop or wait of its goes.
    """
    now, then = WORDING.cues(before + text), EIGHTH.cues(before + text)
    assert now.date_time <= then.date_time
    assert now.location <= then.location
    assert (now.yes, now.no, now.choice) == (then.yes, then.no, then.choice)
    assert now.refuses is now.no
    assert not (now.no and (now.date_time or now.location))
    same = structs.replace(
        then,
        date_time=now.date_time,
        location=now.location,
        refuses=now.refuses,
        stop=now.stop,
        hold=now.hold,
        steer=now.steer,
        nudge=now.nudge,
        go_on=now.go_on,
        reasoned=now.reasoned,
        partly=now.partly,
        filler=now.filler,
    )
    assert now == same
    if then.stop == 2 or then.hold:
        assert now.stop == 2 or now.hold
    if now.yes or now.no:
        assert (now.stop, now.steer, now.hold) == (then.stop, then.steer, then.hold)


@given(
    st.sampled_from(
        [text for _, text in cases({ExpectedType.DATE_TIME: NEGATED[ExpectedType.DATE_TIME]})]
    ),
    st.sampled_from(KINDS),
)
def test_a_date_that_is_not_to_be_is_no_yes_and_no_choice(text: str, kind: ExpectedType) -> None:
    """It fills a slot only where any words do."""
    assert fills(text, kind) <= (kind is ExpectedType.FREEFORM or WORDING.cues(text).no)
