"""Kind ``verb`` as a value, and ``POST /verbs/execute``: how a request is taken, and what it is
answered (VRB-02, VRB-03).

Beside it the versions before, for what was begun under them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.catalog import Catalog
from ordain.contracts.failures import categorised
from ordain.contracts.handoff import DELEGATE, failed
from ordain.contracts.roster import WHATEVER_IS_SAID, by_agents
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import KNOWN_VERB_CALLERS, VerbRequest
from ordain.contracts.verdict import FAILED_BY, RunVerdict
from ordain.effects.calls import spelled_call
from ordain.effects.children import NULL
from ordain.errors import InvalidRequest
from ordain.flows.accounts import known_agent
from ordain.flows.acted import acted_by_child
from ordain.flows.kind import Ending, Kind, Taken, Wire, settled_by_error
from ordain.flows.verb.flow import run_verb
from ordain.flows.verb.request import VerbRunInput, VerbRunOutput
from ordain.flows.verb.v1 import run_verb as run_verb_1
from ordain.flows.verb.v2 import run_verb as run_verb_2
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER, Label, raw
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.handoff import HANDOFF

EXACT = frozenset({"output"})
"""What a verb gives is data for whoever called it, as it stands."""
INACTIVE, UNFIT = (
    reason.value.rpartition(".")[2] for reason in (AuthorizeReason.INACTIVE, AuthorizeReason.SCHEMA)
)
_UNSAID = {"profile_not_found": "the profile that is pinned cannot be had; the header names it"}
"""Of a run that ended before its flow began, which so says nothing itself."""


def take_verb(request: VerbRequest, _: Catalog, __: str) -> Taken:
    """A verb request as its run gets it; the verb itself is judged inside the run.

    Raises:
        InvalidRequest: an agent is asked to do nothing; its verb's schema, which earlier builds
            recorded in prompts, would let that pass.
    """
    task = request.payload.get("task")
    if (
        request.verb_id.startswith(AGENT_VERB)
        and isinstance(task, str)
        and task
        and not task.strip()
    ):
        message = "there is only white space"
        place = {"place": "/payload/task", "code": "value_error", "message": message}
        raise InvalidRequest(f"task: {message}", details={"errors": [place]})
    body = request.model_dump(mode="json")
    given = VerbRunInput(
        verb_id=request.verb_id,
        payload=body["payload"],
        caller=request.caller,
        request_id=request.request_id,
    )
    return Taken(
        input=raw(given),
        request_id=request.request_id,
        digest=content_digest(ENCODER.encode(given)),
    )


def verb_reply(ending: Ending) -> dict[str, Any]:
    """The source's verb reply with the caller's id, run and header."""
    body: dict[str, Any] = {
        "ok": False,
        "output": None,
        "error": {"code": ending.why, "message": _UNSAID.get(ending.why, "")},
    }
    if ending.output != NULL:
        body = msgspec.json.decode(ending.output)
    code = FAILED_BY.get(RunVerdict(ending.verdict)) if ending.verdict else None
    if body["ok"] and code is not None and by_agents(ending.given.get("verb_id", "")):
        body |= {"ok": False, "error": {"code": code, "message": WHATEVER_IS_SAID}}
    if body["error"] is not None:
        name = ending.given.get("verb_id", "")
        body["error"] = _with_misfits(ending, ending.with_meant(body["error"], name), name)
        remedy = (
            ending.remedies.get(body["error"]["code"])
            or (body["error"]["code"] == INACTIVE and ending.confirms(name))
            or None
        )
        told = categorised(body["error"], retryable=ending.may_pass(body["error"]["code"]))
        body["error"] = told if remedy is None else {**told, "remedy": remedy}
        if ending.reasons(HANDOFF.name) and body["output"] is None and not ending.erased:
            body["output"] = _handoff_failure(ending, body["error"])
    return {
        **body,
        "request_id": ending.given.get("request_id"),
        "run_id": ending.run,
        "header": ending.header,
        "verdict": ending.verdict or None,
    }


def _with_misfits(ending: Ending, error: dict[str, Any], name: str) -> dict[str, Any]:
    """An error; of arguments that do not fit with which, and what was probably meant: the record
    names none of them.
    """
    misfits = (
        ending.misfits(name, ending.given.get("payload") or {}) if error["code"] == UNFIT else ""
    )
    return {**error, "message": f"{error['message'].rstrip('.')}: {misfits}"} if misfits else error


def _handoff_failure(ending: Ending, error: Mapping[str, Any]) -> dict[str, Any]:
    """What comes back of work that was handed on and not done (C5, FAIL-02): the run with the trace
    is the agent's, or where none began this one.
    """
    verb: str = ending.given.get("verb_id", "")
    ended = ending.carried(verb, HANDOFF.name)
    below = None if ended is None else acted_by_child(verb, ended)
    mode = (
        DELEGATE
        if below is None or below.payload is None
        else str(below.payload.get("mode", DELEGATE))
    )
    trace = ending.run if below is None else below.child
    return msgspec.to_builtins(failed(mode, error["code"], error["message"], trace))


def _label(request: VerbRunInput) -> Label:
    return Label(agent=known_agent(request.caller, KNOWN_VERB_CALLERS))


def _label_2(request: VerbRunInput) -> Label:
    return Label(agent=request.caller)


def _words(request: VerbRunInput) -> str:
    return spelled_call(request.verb_id, request.payload)


def _grant(request: VerbRunInput, catalog: Catalog) -> CapabilityScope:
    return CapabilityScope(allowed=tuple(sorted(catalog.lendable((request.verb_id,)))))


VERB: Kind[VerbRunInput, VerbRunOutput] = Kind(
    name="verb",
    version=3,
    run=run_verb,
    decode_input=msgspec.json.Decoder(VerbRunInput).decode,
    settle=settled_by_error,
    label=_label,
    words=_words,
    grant=_grant,
    enters=True,
    wire=Wire(
        contract=VerbRequest,
        take=take_verb,
        response=verb_reply,
        other="not_a_verb_call",
        said=("output",),
        exact=EXACT,
    ),
    judged=True,
)
VERB_2 = replace(VERB, version=2, run=run_verb_2, label=_label_2, judged=False)
VERB_1 = replace(VERB_2, version=1, run=run_verb_1)
