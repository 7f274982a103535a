"""The adapters between the sources' chat shapes and the canonical message: pure, and the same for
WebSocket and HTTP.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ordain.contracts.conversation import Message, MessageAnswer, Question, Reply
from ordain.contracts.cortex import TRACE_VERBS, CortexChatRequest, CortexClientRequest, HubChat
from ordain.errors import InvalidRequest
from ordain.flows.turn.execution_plan import execution_plan
from ordain.server.bodies import validated
from ordain.server.translation import (
    HUB_HTTP,
    HUB_WS,
    canonical,
    chat_of_hub,
    client_request,
    client_result,
    hub_reply,
)

NAMES = st.text("abc.", min_size=1, max_size=5)
HUBS = st.fixed_dictionaries(
    {
        "text_input": st.text(min_size=1, max_size=20).filter(str.strip),
        "mode": st.sampled_from(["brain", "agent", "council"]),
    },
    optional={
        "session_id": st.just("web:1"),
        "user_id": NAMES,
        "message_id": NAMES,
        "reply_to": NAMES,
        "verbs": st.lists(NAMES, max_size=3),
        "options": st.fixed_dictionaries(
            {}, optional={"supervised": st.booleans(), "max_steps": st.integers(1, 100)}
        ),
    },
)


def message_of(payload: dict[str, Any], source: str) -> Message:
    hub = HubChat.model_validate(payload)
    client = client_request(chat_of_hub(hub, source))
    return canonical(
        client, hub.session_id or "web:fresh", message_id=hub.message_id, reply_to=hub.reply_to
    )


@given(HUBS)
def test_a_payload_is_the_same_message_on_every_way(payload: dict[str, Any]) -> None:
    """Whatever the hub sends becomes one canonical message, the same by WebSocket and by HTTP, and
    a second time the same again.

    B-33 "same on WS and HTTP"
    """
    assert (
        message_of(payload, HUB_WS)
        == message_of(payload, HUB_HTTP)
        == message_of(payload, HUB_HTTP)
    )


@given(HUBS)
def test_nothing_names_a_verb_but_the_caller(payload: dict[str, Any]) -> None:
    """The verb of the message is the one that was picked, and unset where none or several were.

    GW-01 "applies only to `mode=brain` with verb absent"
    HUB-07 "`verb` stays unset unless the user picks exactly one custom verb in the UI"
    """
    hints = message_of(payload, HUB_HTTP).context.routing_hints
    picked = list(dict.fromkeys(payload.get("verbs", [])))
    assert hints.verb == (picked[0] if len(picked) == 1 else None)
    assert hints.allowed_verbs == (picked if len(picked) > 1 else [])
    assert str(hints.mode) == payload["mode"]


def test_the_chat_handler_forwards_one_request() -> None:
    """Over HTTP a payload without a mode is brain's, a single picked verb overrides, and what goes
    on is the gateway's request.

    HUB-07 "HTTP chat handler: `mode` default `brain`"
    HUB-07 ", then that verb is the override; forwards `CortexChatRequest{prompt, mode, verb, …}`"
    """
    given = {"text_input": "hi", "session_id": "s1"}
    plain, picked = (
        chat_of_hub(HubChat.model_validate({**given, **more}), HUB_HTTP)
        for more in ({}, {"verbs": ["brain.chat"]})
    )
    assert isinstance(picked, CortexChatRequest)
    assert (plain.prompt, str(plain.mode), plain.verb) == ("hi", "brain", None)
    assert (picked.prompt, str(picked.mode), picked.verb) == ("hi", "brain", "brain.chat")
    assert canonical(client_request(picked), "s1").context.routing_hints.verb == "brain.chat"


@pytest.mark.parametrize(
    ("mode", "label"),
    [("brain", "chat_general"), ("agent", "task_execution"), ("council", "council_deliberation")],
)
def test_the_trace_verb_is_a_label(mode: str, label: str) -> None:
    """Each mode has its label, it stands in the metadata, and no place that selects anything holds
    it.

    HUB-04 "brain→`chat_general`, agent→`task_execution`, council→`council_deliberation`"
    HUB-08 "Brain/agent/council requests differ primarily by `mode`; `verb` is normally unset"
    HUB-06 “WS request to gateway = `CortexChatRequest{prompt, mode, …, metadata:{source:"hub_ws",
    trace_verb}}`”
    """
    chat = chat_of_hub(
        HubChat.model_validate({"text_input": "hi", "mode": mode, "session_id": "s1"}), HUB_WS
    )
    assert isinstance(chat, CortexChatRequest)
    assert chat.metadata == {"source": "hub_ws", "trace_verb": label}
    assert (chat.verb, chat.prompt, str(chat.mode)) == (None, "hi", mode)
    plain = chat_of_hub(HubChat.model_validate({"text_input": "hi", "session_id": "s1"}), HUB_WS)
    assert chat.model_copy(update={"mode": plain.mode, "metadata": plain.metadata}) == plain
    message = canonical(client_request(chat), "s1")
    assert message.message.metadata == {"trace_verb": label}
    assert (message.context.routing_hints.verb, message.context.routing_hints.allowed_verbs) == (
        None,
        [],
    )
    if mode != "brain":
        assert (
            "chat_general"
            not in message.model_dump_json()
            + execution_plan(chat.mode, f"{mode}_runtime").model_dump_json()
        )


def test_a_verb_that_is_named_twice_differently_is_refused() -> None:
    """`verb` and the one of `verbs` must agree; beside several, `verb` is the override and they are
    the restriction.
    """
    twice = {"text_input": "hi", "verb": "a", "verbs": ["b", "b"]}
    with pytest.raises(InvalidRequest) as refused:
        message_of(twice, HUB_HTTP)
    assert refused.value.code == "conflicting_verbs"
    assert message_of({**twice, "verbs": ["a"]}, HUB_HTTP).context.routing_hints.verb == "a"
    hints = message_of({**twice, "verbs": ["b", "c"]}, HUB_HTTP).context.routing_hints
    assert (hints.verb, hints.allowed_verbs) == ("a", ["b", "c"])


def test_a_client_request_refuses_what_it_does_not_know() -> None:
    """The orchestrator's shape takes no field that it has not.

    ORC-01 "Orch entry validates the payload as `CortexClientRequest`"
    """
    client = client_request(CortexChatRequest(prompt="hi", trace_id="t-1"))
    assert (client.verb, client.packs, client.context.user_message, client.context.trace_id) == (
        None,
        ["executive_pack"],
        "hi",
        "t-1",
    )
    given_back = client.model_dump(mode="json")
    assert CortexClientRequest.model_validate(given_back) == client
    for extra in (
        {**given_back, "verb_name": "x"},
        {**given_back, "context": {**given_back["context"], "extra": 1}},
    ):
        with pytest.raises(ValidationError):
            CortexClientRequest.model_validate(extra)


def test_what_has_no_place_in_the_message_stays_beside_it() -> None:
    """Packs, recall and trace id that were asked for are kept with the message."""
    asked = CortexChatRequest.model_validate(
        {
            "prompt": "hi",
            "packs": ["memory_pack"],
            "recall": {"enabled": False},
            "trace_id": "t",
            "metadata": {"x": [1]},
        }
    )
    kept = canonical(client_request(asked), "s").message.metadata
    assert (kept["packs"], kept["trace_id"], kept["x"], kept["trace_verb"]) == (
        ["memory_pack"],
        "t",
        [1],
        "chat_general",
    )
    recall: Any = kept["recall"]
    assert recall["enabled"] is False


def test_packs_count_only_where_somebody_named_them() -> None:
    """The gateway's default pack is a label; a pack that was named, be it that one, is a hint of
    the message, from the hub too.
    """
    asked = CortexChatRequest(prompt="hi", packs=["executive_pack"])
    assert canonical(client_request(asked), "s").context.routing_hints.packs == ["executive_pack"]
    assert (
        canonical(client_request(CortexChatRequest(prompt="hi")), "s").context.routing_hints.packs
        == []
    )
    assert message_of(
        {"text_input": "hi", "packs": ["memory_pack"]}, HUB_HTTP
    ).context.routing_hints.packs == ["memory_pack"]


def test_a_text_of_blanks_is_refused_by_its_place() -> None:
    """A payload that is no message is refused before it is one."""
    with pytest.raises(InvalidRequest) as refused:
        validated(HubChat, b'{"text_input": "  \\n"}')
    assert refused.value.code == "invalid_request"
    assert refused.value.details["errors"] == [
        {
            "place": "/text_input",
            "code": "value_error",
            "message": "nothing is said: there is only white space, and no attachment",
        }
    ]


ANSWER = MessageAnswer(
    session_id="s",
    message_id="m",
    session_seq=1,
    attached="new_request",
    reason="r",
    thread_id="1",
    run_id="f" * 32,
    duplicate=False,
)
REPLY = Reply(header="✓ the header", narrative="All of it was done!", ok=False)
QUESTION = Question(
    key="city", expected_type="location", text="Which city?", message_id="q", expires_at_ms=1
)


@pytest.mark.parametrize(
    ("answer", "produced", "status", "code"),
    [
        (
            {"reply": REPLY.model_copy(update={"ok": True})},
            {"verb": "v", "error": None},
            "success",
            None,
        ),
        (
            {"reply": REPLY},
            {"verb": "v", "error": {"code": "partial", "message": "failed: x"}},
            "partial",
            "partial",
        ),
        (
            {"reply": REPLY},
            {"verb": "v", "error": {"code": "path_unavailable", "message": "no"}},
            "fail",
            "path_unavailable",
        ),
        ({"reply": REPLY}, None, "fail", "no_result"),
        ({"question": QUESTION}, None, "partial", None),
        ({"run_id": None, "attached": "filler"}, None, "success", None),
    ],
)
def test_a_result_is_what_the_run_says(
    answer: dict[str, Any], produced: dict[str, Any] | None, status: str, code: str | None
) -> None:
    """Status and error come from the turn, never from its text; the header stands beside them."""
    client = client_request(chat_of_hub(HubChat(text_input="hi"), HUB_HTTP))
    given_answer = ANSWER.model_copy(update=answer)
    result = client_result(client, given_answer, produced)
    assert (result.status, result.error and result.error.code) == (status, code)
    assert result.ok == (status == "success")
    assert result.metadata["trace_verb"] == TRACE_VERBS[client.mode]
    assert result.header == (given_answer.reply.header if given_answer.reply else "")
    shown = hub_reply(given_answer, result)
    assert shown.text == (
        given_answer.reply.narrative
        if given_answer.reply
        else "Which city?"
        if given_answer.question
        else ""
    )
    assert (shown.question is None) == (given_answer.question is None)


def test_steps_and_memory_are_the_turns_own() -> None:
    """Steps, executed verbs and whether memory was used are read off the turn's output."""
    produced = {
        "verb": "agent_runtime",
        "executed": ["a"],
        "whole": 2,
        "error": {"code": "partial", "message": ""},
        "steps": [
            {"step_name": "a", "order": 0, "ok": True},
            {"step_name": "b", "order": 1, "ok": False, "error": "denied"},
        ],
    }
    result = client_result(
        client_request(CortexChatRequest(prompt="x")),
        ANSWER.model_copy(update={"reply": REPLY}),
        produced,
    )
    assert [(step["step_name"], step["status"], step["error"]) for step in result.steps] == [
        ("a", "success", None),
        ("b", "fail", "denied"),
    ]
    assert (result.memory_used, result.metadata["executed_verbs"], result.verb) == (
        True,
        ["a"],
        "agent_runtime",
    )
