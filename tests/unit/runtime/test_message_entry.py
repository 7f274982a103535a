"""A message as its session keeps it: split into entry and body, and whole again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import ExecMode, Message
from ordain.flows.commission import MessageFacts, MessageIds, RecallAsked, WorkflowAsked
from ordain.journal.records import ENCODER
from ordain.ports.sessions import Entry, EntryKind
from ordain.runtime.message_entry import body_of, message_of, received
from tests.unit.flows.house import shipped

messages = st.builds(
    lambda text, user, reply, verbs: Message.model_validate(
        {
            "session_id": "s1",
            "user_id": user,
            "message": {"text": text},
            "message_id": "m1",
            "channel": "web",
            "timestamp_ms": 5,
            "context": {"reply_to": reply, "routing_hints": {"allowed_verbs": verbs}},
        }
    ),
    st.text(min_size=1, max_size=30).filter(str.strip),
    st.text("abc", min_size=1, max_size=5),
    st.none() | st.just("m0"),
    st.lists(st.just("math.evaluate"), max_size=1),
)


def entry(message: Message, body: bytes | None) -> Entry:
    return Entry(
        seq=1,
        kind=EntryKind.MESSAGE,
        at=0,
        thread=1,
        run="",
        channel=str(message.channel),
        message_id="m1",
        attached="",
        reason="",
        anchor="",
        size=0,
        through=0,
        timestamp_ms=5,
        digest=b"",
        chain=b"",
        body=body,
        decision=None,
    )


@given(messages)
def test_what_is_kept_is_what_was_received(message: Message) -> None:
    """Entry and body together are the message again, its wording read anew."""
    kept = entry(message, ENCODER.encode(body_of(message)))
    again = received(kept, "ada", shipped())
    assert again == message_of(message, "m1", "ada", shipped())


@given(messages)
def test_an_erased_message_says_nothing(message: Message) -> None:
    """Its place stands, its words and its sender do not."""
    found = received(entry(message, None), "ada", shipped())
    assert (found.facts.text, found.facts.user, found.facts.attachments) == ("", "", 0)


def test_what_the_sender_asks_for_becomes_the_message_s_facts() -> None:
    """Every hint, in the house's words: what is not said is the default, and memory that is not to
    be asked is not asked.
    """
    hints = {
        "mode": "agent",
        "verb": "agent_runtime",
        "allowed_verbs": ["math.evaluate"],
        "packs": ["executive_pack"],
        "supervised": True,
        "max_steps": 3,
        "budget_class": "large",
        "workflow": {"template": "send_email", "args": {"to": "ben"}},
        "delegates": ["research.summarizer"],
    }
    around = {
        "locale": "de-CH",
        "edits": "m0",
        "routing_hints": hints,
        "recall": {"time_window_days": 7},
    }
    said = {
        "session_id": "s1",
        "user_id": "ada",
        "message": {"text": "", "attachments": [{"name": "a.txt"}]},
        "context": around,
    }
    given = message_of(Message.model_validate(said), "m1", "token:7", shipped())
    assert given.facts == MessageFacts(
        text="",
        user="ada",
        channel="web",
        mode=ExecMode.AGENT,
        verb="agent_runtime",
        allowed_verbs=("math.evaluate",),
        packs=("executive_pack",),
        supervised=True,
        max_steps=3,
        budget_class="large",
        workflow=WorkflowAsked(template="send_email", args={"to": "ben"}),
        delegates=("research.summarizer",),
        attachments=1,
        locale="de-CH",
        recall=RecallAsked(days=7),
    )
    assert (given.ids, given.principal) == (MessageIds(message_id="m1", edits="m0"), "token:7")
    hints["workflow"] = {"template": "complete_task"}
    assert (
        message_of(Message.model_validate(said), "m1", "ada", shipped()).facts.workflow
        == "complete_task"
    )  # as messages had it before arguments counted
    around["recall"] = {"enabled": False}
    assert message_of(Message.model_validate(said), "m1", "ada", shipped()).facts.recall is None
