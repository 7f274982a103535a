"""The adapters between the sources' chat shapes and the one canonical message (ING-05): hub →
cortex chat → cortex client → message.

Pure: nothing here decides. A verb stays unset unless somebody named one (HUB-07, GW-01): what an
absent verb means is rule ``entry``'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from ordain.contracts.conversation import Channel, Message, MessageAnswer
from ordain.contracts.cortex import (
    DEFAULT_PACKS,
    TRACE_VERBS,
    ChatOptions,
    CortexChatRequest,
    CortexClientRequest,
    CortexClientResult,
    HubChat,
    HubReply,
    RecallDirective,
)
from ordain.contracts.failures import categorised, failure_category
from ordain.contracts.verbs import CallErrorBody
from ordain.errors import InvalidRequest
from ordain.server.bodies import places

_CANONICAL_FILES = re.compile(r"^/message/attachments(?:/(?P<at>\d+))?(?=/|$)")
M = TypeVar("M", bound=BaseModel)
HUB_HTTP, HUB_WS = "hub_http", "hub_ws"
DEFAULT_USER = "local"
TRACE_VERB = "trace_verb"
SOURCE = "source"
SKIPPED = "skipped"
PARTIAL = frozenset({"partial", "outcome_unknown"})
"""The codes of a turn of which something was done, or may have been."""


def chat_of_hub(hub: HubChat, source: str) -> CortexChatRequest:
    """The hub's payload as the gateway gets it (HUB-06, HUB-07), from WebSocket and HTTP alike
    (B-33).

    Raises:
        InvalidRequest: ``verb`` and the one of ``verbs`` are not the same (``conflicting_verbs``).
    """
    picked = list(dict.fromkeys(hub.verbs))
    verb, allowed = hub.verb, list[str]()
    if len(picked) == 1:
        if verb is not None and verb != picked[0]:
            raise InvalidRequest(
                "verb names one verb and verbs another; one of them is enough",
                code="conflicting_verbs",
            )
        verb = picked[0]
    elif picked:
        allowed = picked
    options = hub.options
    if allowed:
        options = (options or ChatOptions()).model_copy(update={"allowed_verbs": allowed})
    return shaped(
        CortexChatRequest,
        {
            "prompt": hub.text_input,
            "mode": hub.mode,
            "attachments": hub.attachments,
            "verb": verb,
            "packs": hub.packs,
            "options": None if options is None else options.model_dump(),
            "session_id": hub.session_id,
            "user_id": hub.user_id,
            "metadata": {SOURCE: source, TRACE_VERB: TRACE_VERBS[hub.mode]},
        },
    )


def client_request(chat: CortexChatRequest) -> CortexClientRequest:
    """What the gateway hands on (ORC-01): the shape that refuses what it does not know."""
    return shaped(
        CortexClientRequest,
        {
            "mode": chat.mode,
            "verb": chat.verb,
            **({} if chat.packs is None else {"packs": chat.packs}),
            "options": {} if chat.options is None else chat.options.model_dump(),
            "recall": {} if chat.recall is None else chat.recall.model_dump(exclude_unset=True),
            "context": {
                "messages": [{"role": "user", "content": chat.prompt}],
                "raw_user_text": chat.prompt,
                "user_message": chat.prompt,
                "session_id": chat.session_id,
                "user_id": chat.user_id,
                "trace_id": chat.trace_id,
                "metadata": {TRACE_VERB: TRACE_VERBS[chat.mode], **chat.metadata},
                "attachments": chat.attachments,
            },
        },
    )


def canonical(
    client: CortexClientRequest,
    session: str,
    *,
    message_id: str | None = None,
    reply_to: str | None = None,
) -> Message:
    """The canonical message of a client request.

    Packs count where somebody named them: the gateway's default is what a request is labelled with,
    policy's toolset is what it gets. The transport's own label ``source`` goes beside it
    (``source_of``): a message that comes by WebSocket and again by HTTP is one message.
    """
    said, options = client.context, client.options
    context: dict[str, Any] = {
        "routing_hints": {
            "mode": client.mode,
            "verb": client.verb,
            "allowed_verbs": options.allowed_verbs,
            "packs": client.packs if "packs" in client.model_fields_set else [],
            "supervised": options.supervised,
            "max_steps": options.max_steps,
        },
        "reply_to": reply_to,
        "recall": client.recall.model_dump() if client.recall.model_fields_set else None,
    }
    return shaped(
        Message,
        {
            "session_id": session,
            "user_id": said.user_id or DEFAULT_USER,
            "channel": Channel.WEB,
            "message": {
                "text": said.user_message or "",
                "attachments": said.attachments,
                "metadata": _kept(client),
            },
            "context": context,
            "message_id": message_id,
        },
    )


def source_of(client: CortexClientRequest) -> str:
    """The way by which a request came, as its transport or its sender labels it; "" where nobody
    did.
    """
    source = client.context.metadata.get(SOURCE)
    return source if isinstance(source, str) else ""


def placed_in_client(
    details: Mapping[str, Any], files: str = "/attachments", each: Sequence[str] = ()
) -> dict[str, Any]:
    """Details of a refusal with its places as the client's shape has them: what is
    ``/message/attachments`` of the canonical message is ``files``.

    ``each`` is where each file stands, in their order; where it is not given, below ``files`` by
    its number.
    """

    def placed(found: re.Match[str]) -> str:
        at = -1 if found["at"] is None else int(found["at"])
        return files if at < 0 else each[at] if at < len(each) else f"{files}/{at}"

    errors = [
        {**one, "place": _CANONICAL_FILES.sub(placed, one["place"])}
        for one in details.get("errors", ())
    ]
    return {**details, **({"errors": errors} if errors else {})}


def _kept(client: CortexClientRequest) -> dict[str, JsonValue]:
    """What stays beside the text: the caller's labels, and what has no place in the canonical
    message.
    """
    kept: dict[str, JsonValue] = {
        name: value for name, value in client.context.metadata.items() if name != SOURCE
    }
    if client.packs != DEFAULT_PACKS:
        kept["packs"] = list(client.packs)
    if client.recall != RecallDirective():
        kept["recall"] = client.recall.model_dump(mode="json")
    if client.context.trace_id is not None:
        kept["trace_id"] = client.context.trace_id
    return kept


def client_result(
    client: CortexClientRequest, answer: MessageAnswer, produced: Mapping[str, Any] | None
) -> CortexClientResult:
    """What became of a client request (C1). ``produced`` is the turn's output, None where its run
    gave none.
    """
    turn = produced or {}
    reply, question, approval = answer.reply, answer.question, answer.approval
    error = (
        None
        if turn.get("error") is None
        else CallErrorBody.model_validate(categorised(turn["error"]), strict=False)
    )
    if reply is not None and not reply.ok and error is None:
        error = CallErrorBody(
            code="no_result",
            message="the turn stopped without a result; its header says where it stands",
        )
    asked = question or approval
    text = reply.narrative if reply is not None else asked.text if asked is not None else ""
    verb = turn.get("verb") or client.verb or ""
    labels: dict[str, Any] = {
        TRACE_VERB: client.context.metadata.get(TRACE_VERB),
        "executed_verbs": list(turn.get("executed", ())),
        "attached": answer.attached,
        "session_id": answer.session_id,
        "message_id": answer.message_id,
    }
    if question is not None:
        labels["question"] = question.model_dump(mode="json")
    if approval is not None:
        labels["approval"] = approval.model_dump(mode="json")
    return CortexClientResult(
        ok=reply.ok if reply is not None else asked is None,
        mode=str(client.mode),
        verb=verb,
        status=_status(answer, error),
        final_text=text,
        memory_used=int(turn.get("whole", 0)) > 0
        or int(turn.get("recall", {}).get("given", 0)) > 0,
        recall_debug=dict(turn.get("recall", {})),
        steps=[*(_step(verb, step) for step in turn.get("steps", ())), *_skipped(verb, turn)],
        error=error,
        correlation_id=client.context.trace_id or answer.message_id,
        metadata=labels,
        run_id=answer.run_id,
        header="" if reply is None else reply.header,
        verdict=None if reply is None else reply.verdict,
        remedies=[] if reply is None else reply.remedies,
    )


def _status(
    answer: MessageAnswer, error: CallErrorBody | None
) -> Literal["success", "partial", "fail"]:
    if answer.reply is None:
        return "success" if answer.question is None and answer.approval is None else "partial"
    if answer.reply.ok:
        return "success"
    return "partial" if error is not None and error.code in PARTIAL else "fail"


def _step(verb: str, step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of the turn in the sources' form (``StepExecutionResult``)."""
    error = step.get("error") or None
    return {
        "status": "success"
        if step["ok"]
        else SKIPPED
        if step.get("skipped") and not error
        else "fail",
        "verb_name": verb,
        "step_name": step["step_name"],
        "order": step["order"],
        "error": error,
        "category": None if error is None else failure_category(error),
    }


def _skipped(verb: str, turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of the turn's plan that did not run, behind those that did."""
    first = len(turn.get("steps", ()))
    return [
        _step(
            verb,
            {
                "step_name": name.partition("/")[0],
                "order": first + at,
                "ok": False,
                "skipped": True,
            },
        )
        for at, name in enumerate(turn.get("skipped", ()))
    ]


def hub_reply(answer: MessageAnswer, result: CortexClientResult) -> HubReply:
    """What the hub shows: the header, then the text."""
    return HubReply(
        session_id=answer.session_id,
        message_id=answer.message_id,
        session_seq=answer.session_seq,
        duplicate=answer.duplicate,
        run_id=answer.run_id,
        attached=answer.attached,
        text=result.final_text or "",
        reply=answer.reply,
        question=None if answer.question is None else answer.question.model_dump(mode="json"),
        approval=None if answer.approval is None else answer.approval.model_dump(mode="json"),
        cortex_result=result,
    )


def shaped(model: type[M], value: Mapping[str, Any]) -> M:
    """A value as its contract's.

    Raises:
        InvalidRequest: ``invalid_request`` with the places that do not fit.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidRequest(
            "the request is not of its contract's shape",
            details={"errors": places(model, error, value)},
        ) from None
