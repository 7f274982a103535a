"""What an approver is told: made by code of what the verb declares, no value of it can look like
more than a value, and nothing is left out unsaid.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain import verb
from ordain.contracts.approvals import TIERS, Subject, Tier
from ordain.contracts.verbs import ArgumentRole, VerbEffect
from ordain.contracts.visible import visible
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.rules.plain_reply import cleaned
from ordain.runtime.approval_words import (
    ARGS_TOLD,
    CALLS_TOLD,
    CUT,
    DOES,
    NAME_CHARS,
    NOT_TRACED,
    ROOM,
    ROOM_OF_ROLE,
    SURELY_DONE,
    TITLED,
    UNCONFIRMED_SAID,
    UNKNOWN,
    exact,
    titled,
    told,
)
from ordain.runtime.asking_run import AskedBefore, DoubtedCall
from ordain.testing import catalog_of
from tests.unit.rules.given import json_values


@verb(
    name="post.out",
    effect="send",
    arguments={"text": ArgumentRole.CONTENT, "to": ArgumentRole.RECIPIENT},
)
def post_out(text: str, to: str) -> str:
    """Send a text to somebody."""
    return to


CATALOG = catalog_of(verbs=[post_out.spec])
CALL = Call(verb="post.out", args={"text": "hello", "to": "ben@example.org"})


def asked(*calls: Call, subject: Subject = Subject.CALL, **detail: Any) -> ApprovalAsked:
    return ApprovalAsked(subject=subject, calls=calls, tier=Tier.WRITE, detail=detail)


def argument(value: Any, name: str = "text") -> list[str]:
    """The lines that tell of one argument of a call."""
    return told(asked(Call(verb="post.out", args={name: value})), CATALOG).splitlines()[1:-1]


def test_a_call_is_told_by_its_effect_and_then_its_arguments() -> None:
    """Whom it is about comes before what is said to them, and last that nothing is traced."""
    first, to, text, last = told(asked(CALL), CATALOG).splitlines()
    assert first == f"post.out {DOES[VerbEffect.SEND]}."
    assert (to, text) == ('  to (recipient): "ben@example.org"', '  text (content): "hello"')
    assert last == NOT_TRACED


@pytest.mark.parametrize("effect", list(VerbEffect))
def test_every_effect_has_its_words(effect: VerbEffect) -> None:
    """And what needs a yes says more than that it reads."""
    assert DOES[effect]
    assert (effect in TIERS) == (effect not in (VerbEffect.READ, VerbEffect.PRIVATE))


@given(st.text(max_size=ROOM.whole) | json_values)
def test_a_value_is_told_as_it_is(value: Any) -> None:
    """Read as JSON it is the value, and nothing stands behind it on its line."""
    shown = argument(value)
    if len(shown) == 1:
        assert json.loads(shown[0].removeprefix("  text (content): ")) == value


@pytest.mark.parametrize(
    "one", ["\n", "\u200b", "\u202e", "\x1b", '"', "\u3164", "\u115f", "\u2800", "\u00a0"]
)
def test_nothing_of_a_value_is_dropped_or_altered(one: str) -> None:
    """Two values that differ in one such sign are told otherwise, and each by what it holds."""
    with_it, without, blank = (argument(f"pay{between}ben")[0] for between in (one, "", " "))
    assert len({with_it, without, blank}) == 3
    assert json.loads(with_it.partition(": ")[2]) == f"pay{one}ben"


def test_what_settings_fix_of_a_call_is_told_with_it() -> None:
    """Behind its arguments, as a value, and no argument's name can pass for it."""
    catalog = CATALOG.changed(fixed={"post.out": {"from": "me\n@example.org"}, "other": {"x": "y"}})
    call = Call(verb="post.out", args={"from (as settings have it)": "eve"})
    assert told(asked(call), catalog).splitlines()[1:-1] == [
        '  "from (as settings have it)": "eve"',
        r'  from (as settings have it): "me\n@example.org"',
    ]


def test_that_nobody_has_confirmed_what_the_words_are_made_of_is_told() -> None:
    """Beside the call, and once: the verb's own declaration says what it does."""
    lines = told(asked(CALL), CATALOG.changed(unconfirmed=["post.out"])).splitlines()
    assert lines[-2] == UNCONFIRMED_SAID
    assert UNCONFIRMED_SAID not in told(asked(CALL), CATALOG)


def test_a_look_alike_is_told_by_its_number() -> None:
    """In a word, in a domain, in a list, in an argument's name; whole words of another script
    stay.
    """
    assert argument("ben@ex\u0430mple.org", "to") == [r'  to (recipient): "ben@ex\u0430mple.org"']
    assert argument(["p\u0430y", "Привет"]) == [r'  text (content): ["p\u0430y","Привет"]']
    assert argument("x", "t\u043e") == [r'  "t\u043e": "x"']
    assert argument("x", "to (recipient)") == ['  "to (recipient)": "x"']


@given(st.text(max_size=400) | json_values, st.text(max_size=100))
def test_no_value_makes_a_line_of_its_own(value: Any, name: str) -> None:
    """Line ends, control signs and quotes in names and values stay inside the value's line, and no
    face has anything to change.
    """
    words = told(
        asked(
            Call(verb="post.out", args={"text": value, name: value}),
            Call(verb=f"no\n{name}", args={}),
        ),
        CATALOG,
    )
    lines = words.splitlines()
    assert words.split("\n") == lines
    assert [line for line in lines if line == NOT_TRACED] == [NOT_TRACED]
    assert lines[-2].endswith(UNKNOWN)
    assert all(line.startswith(("  ", "1. post.out ", "2. ", NOT_TRACED)) for line in lines)
    assert not any(ord(sign) < 32 for line in lines for sign in line)
    assert visible(words) == words == cleaned(words)


@pytest.mark.parametrize(("name", "room"), [("text", ROOM), ("to", ROOM_OF_ROLE)])
def test_of_a_long_value_its_length_and_both_ends_are_told(name: str, room: Any) -> None:
    """And where all of it stands; whom it is about has more room than what is said."""
    value = "a" * room.first + "b" * 5000 + "c" * (room.last - 1) + "\u202e"
    said, first, last = argument(value, name)
    assert f"{len(value)} characters, all of which exact call 1 has" in said
    assert json.loads(first) == "a" * room.first
    assert json.loads(last) == "c" * (room.last - 1) + "\u202e"
    assert len(argument("x" * room.whole, name)) == 1


def test_a_long_list_is_told_by_both_ends_too() -> None:
    """As JSON, with what could be taken for something else by its number."""
    said, first, last = argument(["\u202e", "b" * 5000, "ends"])
    assert "characters of JSON, all of which exact call 1 has" in said
    assert (first.startswith(r'    ["\u202e","bbb'), last.endswith('","ends"]')) == (True, True)


def test_more_than_a_few_are_counted() -> None:
    """Arguments, the characters of a name, and calls, each with the verbs that they are of."""
    many = told(
        asked(Call(verb="post.out", args={f"a{number}": 1 for number in range(ARGS_TOLD + 3)})),
        CATALOG,
    )
    assert many.splitlines()[-2] == "  and 3 arguments more, which exact call 1 has"
    assert (
        f'"{"n" * NAME_CHARS}" and 7 characters more of this name'
        in argument(1, "n" * (NAME_CHARS + 7))[0]
    )
    calls = [*[CALL] * (CALLS_TOLD + 2), Call(verb="other", args={})]
    assert (
        told(asked(*calls), CATALOG).splitlines()[-2]
        == f"and exact calls {CALLS_TOLD + 1} to {CALLS_TOLD + 3} besides: post.out (2), other (1)"
    )


def test_a_workflow_is_told_in_its_order_with_what_undoes_it() -> None:
    """The template first, each call with its number, and one that only undoes says so."""
    lines = told(
        asked(CALL, CALL, subject=Subject.WORKFLOW, template="announce\nx", version=2, undo=[1]),
        CATALOG,
    ).splitlines()
    assert lines[0] == r'Workflow "announce\nx"@2, in this order:'
    assert [
        number for number, line in enumerate(lines) if line.startswith("Where a later step fails")
    ] == [4]
    assert [line[:11] for line in lines if re.match(r"\d", line)] == ["1. post.out", "2. post.out"]


def test_in_a_list_it_is_one_line() -> None:
    """The verbs, of a workflow with its name; what would only undo is left out, and more than a few
    are counted.
    """
    assert titled(asked(CALL)) == "post.out"
    steps = asked(
        CALL, CALL, CALL, subject=Subject.WORKFLOW, template="two\nlines", version=3, undo=[1]
    )
    assert titled(steps) == r'"two\nlines"@3: post.out, post.out'
    many = asked(*(Call(verb=f"verb{number}", args={}) for number in range(TITLED + 3)))
    assert titled(many) == "verb0, verb1, verb2, verb3, verb4 and 3 more"


@given(st.dictionaries(st.text(max_size=9), json_values, max_size=3))
def test_the_exact_arguments_are_shown_whole(args: dict[str, Any]) -> None:
    """On one line of JSON, which is the same value."""
    shown = exact(Call(verb="post.out", args=args))
    assert json.loads(shown) == json.loads(json.dumps(args))
    assert shown == cleaned(shown) == visible(shown)


@pytest.mark.parametrize(
    ("call", "cut"),
    [
        (CALL, False),
        (Call(verb="post.out", args={"text": "x" * (ROOM.whole + 1), "to": "ben"}), True),
        (Call(verb="post.out", args={"text": "x", "to": "x" * (ROOM_OF_ROLE.whole + 1)}), True),
        (Call(verb="post.out", args={"n" * (NAME_CHARS + 1): 1}), True),
        (Call(verb="post.out", args={f"a{number}": 1 for number in range(ARGS_TOLD + 1)}), True),
        (Call(verb="gone", args={"text": "x"}), True),
    ],
)
def test_where_something_is_cut_and_the_exact_calls_do_not_stand_beside_it_that_is_said(
    call: Call, *, cut: bool
) -> None:
    """With where all of it is to be seen, in a line of its own that no value can be; where
    everything is told nothing is said.
    """
    lines = told(asked(call), CATALOG, approval="7c").split("\n")
    assert (CUT.format("7c") in lines) == cut
    assert told(asked(call), CATALOG).split("\n") == [
        line for line in lines if line != CUT.format("7c")
    ]


def test_many_calls_are_cut_too() -> None:
    """Those that are told by their verbs alone."""
    assert CUT.format("7c") in told(asked(*[CALL] * (CALLS_TOLD + 1)), CATALOG, approval="7c")


def test_a_call_that_has_happened_is_told_as_that() -> None:
    """Of another one of its verb there is no more to say than of any that was made."""
    before = AskedBefore(elsewhere=(DoubtedCall(place="r:1:0!", call=CALL, sure=True),))
    other = Call(verb="post.out", args={"to": "ben@example.org", "text": "1"})
    assert SURELY_DONE in told(asked(CALL), CATALOG, before)
    assert "went out before" not in told(asked(other), CATALOG, before)


@pytest.mark.parametrize("name", ["unknown", "elsewhere"])
def test_a_call_that_may_have_happened_is_told_however_it_is_spelled(name: str) -> None:
    """The very call is one that amounts to the same; another of its verb is told as that."""
    spelled = Call(verb="post.out", args={"to": "caf\u00e9@example.org", "text": "1"})
    other = Call(verb="post.out", args={"to": "ben@example.org", "text": "1"})
    again = Call(verb="post.out", args={"text": "1", "to": "cafe\u0301@example.org"})
    before = AskedBefore(**{name: (DoubtedCall(place="r:1:0", call=spelled),)})
    assert "This very call went out before" in told(asked(again), CATALOG, before)
    assert "Another call of this verb went out before" in told(asked(other), CATALOG, before)
