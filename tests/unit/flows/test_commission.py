"""What a run is commissioned with: a message's facts, said once, are in its input as they were
received; older inputs are read as they were.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.conversation import ExecMode
from ordain.contracts.packs import pack_verbs
from ordain.contracts.roster import ROSTER_VERB
from ordain.flows.commission import Commission, MessageFacts, MessageIds, RecallAsked
from ordain.flows.kind import Kind, commissioned
from ordain.flows.steps.chain import pack_tools
from ordain.flows.triage.flat_input import FlatTriageInput
from ordain.flows.triage.kind import TRIAGE, TRIAGE_3
from ordain.flows.turn import kind
from ordain.flows.turn.delegation import handing
from ordain.flows.turn.flat_input import FlatTurnInput
from ordain.flows.turn.kind import TURN, TURN_3, TURN_6
from ordain.flows.turn.router import router_prompt
from ordain.journal.records import Label, Raw, raw
from ordain.rules.entry import ENTRY_OF
from tests.unit.flows.house import shipped

names = st.lists(
    st.sampled_from(["math.evaluate", "extract_facts", "no_such_verb"]), max_size=2
).map(tuple)
facts = st.builds(
    MessageFacts,
    text=st.text(max_size=30),
    user=st.sampled_from(["ada", "ünal"]),
    channel=st.sampled_from(["web", "slack"]),
    mode=st.sampled_from(ExecMode),
    verb=st.sampled_from(["", "extract_facts", "no_such_verb", ROSTER_VERB]),
    allowed_verbs=names,
    packs=st.sampled_from([(), ("executive_pack",), ("no_such_pack",)]),
    supervised=st.booleans(),
    max_steps=st.integers(0, 100),
    budget_class=st.sampled_from(["", "large"]),
    workflow=st.sampled_from(["", "send_email"]),
    delegates=st.lists(st.sampled_from(["finance_agent", "no_such_agent"]), max_size=2).map(tuple),
    attachments=st.integers(0, 20),
    locale=st.sampled_from(["", "de-CH"]),
    recall=st.none() | st.builds(RecallAsked, required=st.booleans(), days=st.integers(0, 99)),
)
commissions = st.builds(
    Commission,
    session=st.sampled_from(["s", "telegram:chat:4711"]),
    seq=st.integers(1, 10**6),
    message=facts,
    ids=st.builds(
        MessageIds,
        message_id=st.just("m7"),
        reply_to=st.sampled_from(["", "m1"]),
        edits=st.sampled_from(["", "m2"]),
    ),
    after=st.sampled_from(["", "r1"]),
)


def flat(one: Commission) -> FlatTurnInput:
    """The turn's input as versions up to 3 were given it: field beside field, and the text that
    stands for attachments alone.
    """
    fields = {**msgspec.structs.asdict(one.message), "text": one.message.words}
    for later in ("source", "trace_verb", "forgoes", "documents", "images", "form"):
        del fields[later]
    return FlatTurnInput(session=one.session, seq=one.seq, after=one.after, **fields)


@given(commissions)
def test_a_run_is_given_the_message_as_it_was_received(one: Commission) -> None:
    """Turn and triage read back the very facts, whatever the message says."""
    turn, triage = (
        TURN.decode_input(commissioned(TURN, one)),
        TRIAGE.decode_input(commissioned(TRIAGE, one)),
    )
    assert (turn.message, turn.seq, turn.after) == (one.message, one.seq, one.after)
    assert (triage.message, triage.ids, triage.seq, triage.text) == (
        one.message,
        one.ids,
        one.seq,
        one.message.text,
    )


@given(commissions)
def test_a_turns_input_is_shorter_than_field_beside_field(one: Commission) -> None:
    """The session stands in the run's first record already, and its id is longer than what encloses
    the message.
    """
    assert len(bytes(commissioned(TURN, one))) < len(bytes(raw(flat(one))))


@given(commissions)
def test_older_turns_are_labelled_and_granted_by_the_same_facts(one: Commission) -> None:
    """Of one message every version says the same to its router; whom a turn works for is the verb's
    name in older ones, and the mode's entry since.
    """
    old, new = TURN_3.decode_input(raw(flat(one))), TURN.decode_input(commissioned(TURN, one))
    assert old == flat(one)
    assert TURN_3.label(old) == Label(
        agent=one.message.verb or ENTRY_OF[one.message.mode], after=one.after
    )
    assert TURN.label(new) == Label(agent=ENTRY_OF[one.message.mode], after=one.after)
    # a workflow that the message names brings its verbs since version 6
    named = one.message.template if one.message.mode is ExecMode.BRAIN else ""
    verbs = (
        shipped().workflows[named].verbs if named and TURN_3.grant(old, shipped()).allowed else ()
    )
    tools = [
        verb for verb in verbs if not one.message.allowed_verbs or verb in one.message.allowed_verbs
    ]
    assert TURN_6.grant(new, shipped()).allowed == tuple(
        sorted({*TURN_3.grant(old, shipped()).allowed, *tools})
    )
    assert router_prompt(old, "verb") == router_prompt(new, "verb")


@given(commissions, st.booleans())
def test_what_is_granted_once_for_all_words_is_what_each_message_would_be(
    one: Commission, alone: bool
) -> None:
    """Whatever else the message holds: of what it names nothing is left out of what is granted."""
    given = TURN.decode_input(commissioned(TURN, one))
    if alone:  # as most messages
        said = msgspec.structs.replace(
            given.message,
            mode=ExecMode.BRAIN,
            **dict.fromkeys(("verb", "workflow"), ""),
            **dict.fromkeys(("allowed_verbs", "packs", "delegates"), ()),
            supervised=False,
            recall=None,
        )
        given = msgspec.structs.replace(given, message=said)
    assert TURN.grant(given, shipped()) == kind._granted(given, shipped())


@given(commissions)
def test_an_agent_chain_is_granted_where_a_model_plans(one: Commission) -> None:
    """With the verbs that the message names, or those of policy's packs; a plain chat turn has
    neither, and beside it only agents who may be handed the turn are granted anything. A council is
    convened whatever verb is named.

    ACH-03 "Agent chain is entered only through a validated path"
    """
    given, message = TURN.decode_input(commissioned(TURN, one)), one.message
    before, now = (
        set(TURN_6.grant(given, shipped()).allowed),
        set(TURN.grant(given, shipped()).allowed),
    )
    plans = message.mode is not ExecMode.BRAIN or message.supervised
    assert (CHAIN_VERB in now) == bool(before and plans)
    named = bool(message.allowed_verbs or message.packs or message.verb)
    chain = (
        {CHAIN_VERB, *(() if named else pack_tools(shipped()))} if CHAIN_VERB in now else set[str]()
    )
    handed = (
        set(handing(message, shipped()))
        if before and message.mode is ExecMode.BRAIN
        else set[str]()
    )
    to_agents = (
        message.template or message.verb == ROSTER_VERB or (message.delegates and not message.verb)
    )
    assert bool(handed) == bool(before and message.mode is ExecMode.BRAIN and to_agents)
    own = shipped().lendable(before) if message.mode is not ExecMode.BRAIN else before
    council = {ENTRY_OF[message.mode]} if message.mode is ExecMode.COUNCIL and chain else set[str]()
    assert now == own | chain | handed | council


@given(commissions)
def test_agents_who_are_handed_a_turn_are_lent_no_more_than_its_message_allows(
    one: Commission,
) -> None:
    """Of tools: those that it names, and those of its packs; whoever is handed it, by name or by a
    plan.

    HND-04 "Least privilege by default; requested `forward_skills` are untrusted and clamped by
    server policy."
    """
    message, catalog = msgspec.structs.replace(one.message, mode=ExecMode.BRAIN), shipped()
    lent = {
        verb
        for verb in handing(message, catalog)
        if verb != ROSTER_VERB and catalog.card_of(verb) is None
    }
    if message.allowed_verbs:
        assert lent <= set(message.allowed_verbs)
    if message.packs:
        assert lent <= set(pack_verbs(message.packs, catalog, catalog.policy))


RECORDED: dict[str, tuple[Kind[Any, Any], Any, bytes]] = {
    "turn": (
        TURN_3,
        FlatTurnInput(
            session="s1",
            seq=1,
            user="ada",
            channel="web",
            text="hello",
            mode=ExecMode.AGENT,
            allowed_verbs=("math.evaluate",),
            recall=RecallAsked(days=0),
        ),
        b'{"session":"s1","seq":1,"user":"ada","channel":"web","text":"hello","mode":"agent","allowed_verbs":["math.evaluate"],"recall":{"days":0}}',
    ),
    "triage": (
        TRIAGE_3,
        FlatTriageInput(
            session="s1",
            seq=97,
            text="right so",
            channel="web",
            message_id="m7",
            reply_to="m1",
            author="ada",
        ),
        (
            b'{"session":"s1","seq":97,"text":"right '
            b'so","channel":"web","message_id":"m7","reply_to":"m1","author":"ada"}'
        ),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_input_is_read_as_it_was(name: str) -> None:
    """Bytes of runs that began as version 3."""
    kind, read, recorded = RECORDED[name]
    assert kind.decode_input(Raw(recorded)) == read
    assert bytes(raw(read)) == recorded


@pytest.mark.parametrize(
    ("new", "old"), [(TURN, TURN_3), (TRIAGE, TRIAGE_3)], ids=["turn", "triage"]
)
def test_no_version_reads_anothers_input(new: Kind[Any, Any], old: Kind[Any, Any]) -> None:
    """What is not of it is refused, on both sides."""
    one = Commission(
        session="s1",
        seq=1,
        message=MessageFacts(text="a", user="ada", channel="web"),
        ids=MessageIds(message_id="m"),
    )
    with pytest.raises(msgspec.ValidationError):
        old.decode_input(commissioned(new, one))
    with pytest.raises(msgspec.ValidationError):
        new.decode_input(Raw(RECORDED[old.name][2]))


def test_attachments_without_a_word_have_a_text_that_says_so() -> None:
    """What a turn works on is never empty; what was said stays as it was."""
    said = MessageFacts(text=" ", user="ada", channel="web", attachments=2)
    assert (said.words, said.text) == ("(2 attachments, without a word)", " ")
    assert (
        MessageFacts(text="see there", user="ada", channel="web", attachments=2).words
        == "see there"
    )
