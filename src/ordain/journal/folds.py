"""Folds over a run's records: what it spent, what its header says. Pure; a fold sees the journal
and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ordain.effects.effect import ANOTHER_STEP_TRY
from ordain.effects.results import BY_CODE
from ordain.journal.acts import Acts
from ordain.journal.codec import ReadRecord, decode
from ordain.journal.meaning import Meaning
from ordain.journal.partial_bodies import (
    CHILDREN,
    LOST,
    MODEL,
    READ,
    RESOLVED,
    RUN_SEEN,
    SEEN,
    VERB,
    WAITED,
    Seen,
)
from ordain.journal.records import (
    DECIDED,
    Body,
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    DeliveredBody,
    EndedBody,
    FaultedBody,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    Started,
    Untaken,
)
from ordain.rules.attachment import AttachReason
from ordain.rules.decision import SILENT, Recorded, Rule, lines_told
from ordain.rules.header import SIGNS, UNSETTLED, HeaderFacts, HeaderLine, with_verdict
from ordain.rules.rulebook import NO_FLOW_ASKS
from ordain.rules.spend import Carved, Spend

MARK_OF = {
    "returned": "ok",
    "answer": "ok",
    "outcome_unknown": "unknown",
    "completed": "ok",
    "unknown": "unknown",
    "answered": "ok",
    "said": "ok",
}


_DECISIONS = (DecisionBody, ClaimBody)
_DECISION = RecordKind.DECISION
_NOTHING = Spend()


class Fold:
    """Everything the folds say of a run, gathered in one pass over its records."""

    def __init__(
        self,
        run: str,
        records: Sequence[Record],
        meaning: Meaning,
        read: ReadRecord = decode,
        *,
        uninterrupted: bool = False,
    ) -> None:
        """Fold the records; erased bodies are passed over. ``uninterrupted``: whoever asks knows
        that ``KeyboardInterrupt`` is a rule's or a kind's own.
        """
        self.run = run
        self._read, self._meaning, self._rules = read, meaning, meaning.rules
        self._signals = () if uninterrupted else (KeyboardInterrupt,)
        self.flow = ""
        self.began, self.last = (records[0].at, records[-1].at) if records else (0, 0)
        self.lines: list[HeaderLine] = []
        self.models: dict[str, None] = {}
        self.notices: dict[str, None] = {}
        self._spent = [0, 0, 0, 0]
        self.runs = 0
        self.tokens_in = self.tokens_out = self.steps = 0
        self.unknown: list[int] = []
        self._in_doubt: dict[int, int] = {}  # the line of each
        self.told: dict[int, bool] = {}
        self.carved: Carved | None = None
        self.judged = self.apart = self.estimated = self._told_nothing = False
        self.acts = Acts(run)
        self.reserved = _NOTHING
        self._effects: dict[int, tuple[str, str]] = {}
        self._hedges: dict[int, str] = {}
        # verb, kind and permit of each
        self._children: dict[int, tuple[tuple[str, str, str], ...]] = {}
        self._narrating: set[tuple[int, int]] = set()
        self._all(records)

    def _all(self, records: Sequence[Record]) -> None:
        """One loop, without a call for each record: there are a dozen to each step of a run."""
        read, rules = self._read, self._rules
        for record in records:
            if record.body is None:
                continue
            rule = None
            if (kind := record.kind) in DECIDED:
                rule = rules.get(record.name)
                if kind is _DECISION and (rule is None or rule.tells is None):
                    # a rule that says nothing of its decisions, or one that this build lacks:
                    # there is nothing to read
                    continue
            body = read(record)
            try:
                if isinstance(body, ObservationBody):
                    self._observation(body)
                elif isinstance(body, IntentBody):
                    self._intent(record.name, body)
                elif rule is not None and isinstance(body, _DECISIONS):
                    if (speaks := rule.speaks) is None or body.reason in speaks:
                        self._decided(rule, body)
                else:
                    self._meant(body)
            except self._signals:
                raise
            except BaseException:
                # what an effect, a result or a kind's own rule means is foreign here: it is told
                # as what nobody can read
                what = f"record {record.seq} ({kind} {record.name}), which cannot be read"
                self._line("unknown", what)

    def _meant(self, body: Body) -> None:
        match body:
            case Started():
                self.flow = f"{body.flow}@{body.flow_version}"
                self.judged = self._meaning.judges(body.flow, body.flow_version)
                self.apart = body.reserves_apart
                self.acts.carries = (
                    body.label is not None and bool(body.label.verb) and not body.label.narrates
                )
                if body.label is not None and body.label.untaken is not None:
                    self.lines.append(untaken_line(body.label.untaken))
            case ChildEndedBody():
                self._child(body)
            case DeliveredBody():
                self._line("fail", f"{body.what} by {body.by.translate(SIGNS)}", excerpt=body.why)
            case NoteBody():
                self._line(
                    "info", f"{body.action} by {body.by}{self._resolved(body)}", excerpt=body.why
                )
            case FaultedBody():
                self._line("fail", "flow fault", reason=body.error)
            case _:
                pass

    def _line(self, mark: str, what: str, *, reason: str = "", excerpt: str = "") -> None:
        self.lines.append(HeaderLine(mark=mark, what=what, reason=reason, excerpt=excerpt))

    def _decided(self, rule: Rule[Any, Any, Any], body: DecisionBody | ClaimBody) -> None:
        if rule.tells is None:
            return
        share = rule.tells(
            Recorded(
                outcome=body.outcome,
                reason=body.reason,
                facts=body.facts,
                steps=self.steps,
                judged=self.judged,
            )
        )
        if share is SILENT:
            return
        if lines := lines_told(share, books=rule.name in NO_FLOW_ASKS):
            self.lines += lines
        self.steps += share.steps
        if share.act is not None or share.proposed or share.own:
            self.acts.decided(str(body.addr), share.act, share.proposed, share.own)
        if share.made_good is not None:
            self.acts.made_good(share.made_good)
        if share.spent is not None:
            self._spend(share.spent)
            if self._told_nothing:
                self.reserved = self.reserved.plus(share.spent)
        self.carved = share.carved or self.carved

    def _run_seen(self, result: msgspec.Raw) -> None:
        """Another run that this one read: its account stands in this one's, so that nothing that
        had happened is lost from sight.
        """
        seen = RUN_SEEN.decode(result)
        if seen is not None:
            self._line("info", f"run {seen.run} · {seen.status}")
            self.lines += [
                msgspec.structs.replace(line, depth=line.depth + 1) for line in seen.header.lines
            ]

    @property
    def unresolved(self) -> list[int]:
        """The effects whose outcome neither the journal nor a person has said."""
        return [addr for addr in self.unknown if addr not in self.told]

    def _resolved(self, body: NoteBody) -> str:
        """A note that says of an effect whether it happened: a person knows what nobody did. In
        words, what it says.
        """
        told = RESOLVED.decode(body.details)
        if told is None or told.addr is None or told.happened is None:
            return ""
        self.told[told.addr] = told.happened
        self.acts.resolved(told.addr, happened=told.happened)
        return told.words

    def named(self, addr: int) -> str:
        """What an effect called or asked for; "" where that has no name."""
        return self._effects.get(addr, ("", ""))[1]

    @property
    def spent(self) -> Spend:
        """What the run used, its children too."""
        tokens, usd_micros, model_calls, verb_calls = self._spent
        return Spend(
            tokens=tokens, usd_micros=usd_micros, model_calls=model_calls, verb_calls=verb_calls
        )

    def _spend(self, amount: Spend) -> None:
        spent = self._spent
        spent[0] += amount.tokens
        spent[1] += amount.usd_micros
        spent[2] += amount.model_calls
        spent[3] += amount.verb_calls

    def _intent(self, name: str, body: IntentBody) -> None:
        what = ""
        if name == "model_call":
            asked = MODEL.decode(body.effect)
            what, self._hedges[body.addr] = asked.profile, asked.hedge
        elif name == "verb_call":
            authorized = VERB.decode(body.effect).authorized
            what = authorized.call.verb
            self.acts.began(body.addr, authorized.decision, what)
        elif name == "read":
            what = READ.decode(body.effect).what
        elif name == "wait":
            what = WAITED.decode(body.effect).about
        elif name == "children":
            spawns = CHILDREN.decode(body.effect).spawns
            self.runs += len(spawns)
            self._spent[3] += sum(spawn.authorized is not None for spawn in spawns)
            self._children[body.addr] = tuple(
                ("", s.flow, "")
                if s.authorized is None
                else (s.authorized.call.verb, s.flow, s.authorized.decision)
                for s in spawns
            )
            self._narrating |= {
                (body.addr, index)
                for index, spawn in enumerate(spawns)
                if self._meaning.narrates(spawn.flow, spawn.input)
            }
        self._effects[body.addr] = (name, what)

    def _observation(self, body: ObservationBody) -> None:
        name, what = self._effects.get(body.addr, ("", ""))
        seen = SEEN.decode(body.result)
        mark = MARK_OF.get(seen.result, "fail")
        if name == "model_call":
            what = seen.profile or what
            if (beside := seen.beside) is not None:
                self.models[f"{beside.profile} ({beside.provider}: {beside.model})"] = None
                self.tokens_in += beside.input_tokens
                self.tokens_out += beside.output_tokens
                given_up = beside.code == "abandoned"
                self._line(
                    "info" if given_up else "fail",
                    f"model {beside.profile}, asked beside",
                    reason=beside.code,
                    excerpt=beside.message,
                )
            elif seen.code == LOST and (
                hedge := self._hedges.get(body.addr)
            ):  # nobody knows whether it had been asked when the process died
                self.models[hedge] = None
                self._line("info", f"model {hedge}, perhaps asked beside", reason=LOST)
            if seen.result != "abandoned":  # nobody says who it was that did not answer
                self.models[
                    f"{what} ({seen.provider}: {seen.model})" if seen.provider else what
                ] = None
            if seen.notice:
                self.notices[seen.notice] = None
            self.tokens_in += seen.input_tokens
            self.tokens_out += seen.output_tokens
            self.estimated = self.estimated or seen.estimated
            self._told_nothing = mark != "ok" and not (
                seen.input_tokens and (seen.beside is None or seen.beside.input_tokens)
            )
            if mark == "ok":
                self.acts.said(by_code=seen.provider == BY_CODE)
            if mark != "ok":
                self._line(
                    "fail", f"model {what}", reason=seen.code or seen.result, excerpt=seen.message
                )
                self.acts.proposed += seen.calls
        elif name == "verb_call":
            self._attempted(body.addr, what, seen)
        elif name == "read" and what == "run" and seen.result == "read":
            self._run_seen(seen.value)
        elif name == "wait":
            paused = what == ANOTHER_STEP_TRY and seen.result == "expired"
            said = f"pause over, before {what}" if paused else f"wait {seen.result}"
            what, why = ("wait withdrawn", seen.why) if seen.withdrawn else (said, "")
            self._line("ok" if mark == "ok" and not self.judged else "info", what, excerpt=why)
            self.acts.answered = self.acts.answered or seen.result == "answered"

    def _attempted(self, addr: int, verb: str, seen: Seen) -> None:
        if seen.result != "abandoned":
            self._spent[3] += 1
        before = self.acts.ended(addr, seen.result, repeat=seen.repeat is not None)
        if before in self.unknown:  # this says more of that call than what it repeats
            self.unknown.remove(before)
            at = self._in_doubt[before]
            self.lines[at] = msgspec.structs.replace(self.lines[at], mark="fail")
        if seen.result == "outcome_unknown":
            self.unknown.append(addr)
            self._in_doubt[addr] = len(self.lines)
        if (mark := MARK_OF.get(seen.result, "fail")) == "ok":
            excerpt = msgspec.json.encode(seen.output).decode()
            self.lines.append(HeaderLine(mark="ok", what=verb, excerpt=excerpt))
        else:
            self._line(mark, verb, reason=seen.code or seen.result, excerpt=seen.message)

    def _child(self, body: ChildEndedBody) -> None:
        seen = SEEN.decode(body.ended)
        self._spend(seen.spent)
        self.runs += seen.runs
        children = self._children.get(body.addr, ())
        verb, flow, permit = children[body.index] if body.index < len(children) else ("", "", "")
        mark = MARK_OF.get(seen.ended, "fail")
        # its words stand below the header, and never in it
        narrates = (body.addr, body.index) in self._narrating
        if permit and not narrates:
            self.acts.calls += 1
        self.acts.child("" if narrates else permit, verb, seen.ended, body.child, seen.header)
        excerpt = self._meaning.excerpt(flow, seen.value) if mark == "ok" and not narrates else ""
        reason = "" if mark == "ok" else seen.reason or seen.ended
        # what a turn enters by is no act of it, nor what only makes the calls below it
        no_act = narrates or self._meaning.only_calls(flow)
        shown = "info" if self.judged and no_act and mark == "ok" else mark
        self._line(shown, f"{verb or 'child'} (run {body.child})", reason=reason, excerpt=excerpt)
        if (inner := seen.header) is None:
            return
        self.reserved = self.reserved.plus(
            Spend(tokens=inner.reserved_tokens, usd_micros=inner.reserved_usd_micros)
        )
        self.models.update(dict.fromkeys(inner.models))
        self.notices.update(dict.fromkeys(inner.notices))
        self.steps += inner.steps
        self.tokens_in += inner.tokens_in
        self.tokens_out += inner.tokens_out
        self.estimated = self.estimated or inner.estimated
        self.lines += [msgspec.structs.replace(line, depth=line.depth + 1) for line in inner.lines]

    def header(self, status: str, reason: str) -> HeaderFacts:
        """The header's facts for a run that settles now."""
        spent = self.spent
        facts = HeaderFacts(
            run=self.run,
            flow=self.flow,
            status=status,
            reason=reason,
            models=tuple(self.models),
            notices=tuple(self.notices),
            lines=tuple(self.lines),
            steps=self.steps,
            model_calls=spent.model_calls,
            verb_calls=self.acts.calls if self.judged else spent.verb_calls,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            estimated=self.estimated,
            usd_micros=spent.usd_micros,
            duration_ms=(self.last - self.began) // 1000,
            judged=self.judged,
            acts=self.acts.so_far(rests=status not in UNSETTLED),
            proposed=self.acts.proposed,
            answered=self.acts.answered,
            carries=self.acts.carries and (self.acts.answered or not self.acts.by_code),
            reserved_tokens=self.reserved.tokens,
            reserved_usd_micros=self.reserved.usd_micros,
            reserves_apart=self.apart and self.reserved != _NOTHING,
        )
        return with_verdict(facts)


def untaken_line(untaken: Untaken) -> HeaderLine:
    """What of a request was no answer, in code's words: who agreed to something must not believe
    that it counts.
    """
    what = "the approval, which no message gives," if untaken.approval else "what was asked"
    told = (
        f"the {untaken.said} in it was not taken: it says more than that, and {what} is still open"
    )
    return HeaderLine(
        mark="info", what=told, reason=str(AttachReason.BESIDE), excerpt=untaken.about
    )


def ending(records: Sequence[Record], read: ReadRecord = decode) -> EndedBody | None:
    """How the run settled, or None."""
    for record in reversed(records):
        if record.kind == "ended":
            body = read(record)
            return body if isinstance(body, EndedBody) else None
    return None
