"""The acts of a run, gathered while its records are folded: what was permitted, what became of it,
and what children did (RTE-12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from ordain.contracts.cards import AGENT_VERB
from ordain.rules.acts import BAD, Act, ActEnd, MadeGood
from ordain.rules.header import HeaderFacts

END_OF = {
    "returned": ActEnd.DONE,
    "completed": ActEnd.DONE,
    "outcome_unknown": ActEnd.UNKNOWN,
    "unknown": ActEnd.UNKNOWN,
}
"""What a result or a child's end says of the call; whatever is not here failed."""
_DONE = frozenset({ActEnd.DONE, ActEnd.QUOTED})
_FAILED, _PERMITTED, _UNKNOWN = ActEnd.FAILED, ActEnd.PERMITTED, ActEnd.UNKNOWN
"""Looked up once: on Python 3.11 it takes longer than what is done with them at each act."""


def call_end(end: ActEnd, inner: HeaderFacts | None) -> ActEnd:
    """What became of a call that a run carried out whose header this is; ``end`` is what its end
    alone says.
    """
    if inner is None:
        return end
    ends = {act.end for act in inner.acts}
    if end is _UNKNOWN and _UNKNOWN in ends:
        return _FAILED  # what is unknown stands among its own acts, and is cleared there
    by_code = inner.model_calls > 0 and not inner.answered and ActEnd.DONE not in ends
    return ActEnd.QUOTED if end is ActEnd.DONE and by_code else end


def cleared(acts: Iterable[Act], run: str, ends: Mapping[int, ActEnd]) -> Iterator[Act]:
    """The acts, those of which somebody has said meanwhile what became of them with that; ``ends``
    by number of the effect in ``run``.
    """
    for act in acts:
        end = ends.get(act.addr) if act.end is _UNKNOWN and act.run == run else None
        yield act if end is None else structs.replace(act, end=end, run="", addr=-1)


class Acts:
    """The acts of one run in order, those of its children where they ended."""

    def __init__(self, run: str) -> None:
        """Of this run; nothing is known of it yet."""
        self._run = run
        self._done: list[Act] = []
        self._permits: dict[str, Act] = {}
        self._begun: dict[int, Act] = {}
        self._decisions: dict[int, str] = {}
        self._doubted: dict[str, int] = {}
        self.proposed = 0
        self.calls = 0
        self.answered = False
        self.carries = False
        self.cleared: dict[int, ActEnd] = {}
        self._handed: dict[str, list[range]] = {}
        self._good: set[int] = set()
        self.by_code = False

    def said(self, *, by_code: bool) -> None:
        """A model answered, or rules of code in its place."""
        self.answered = self.answered or not by_code
        self.by_code = self.by_code or by_code

    def decided(self, address: str, act: Act | None, proposed: int, own: str = "") -> None:
        """A decision says that a call is permitted or denied, that so many were proposed, or that
        the last call of verb ``own`` was code's own.
        """
        self.proposed += proposed
        if own:
            self._owned(own)
        if act is None:
            return
        if act.end is _PERMITTED:
            self._permits[address] = act
        else:
            self._handed_on(act, len(self._done))
            self._done.append(act)

    def _handed_on(self, act: Act, began: int) -> None:
        """A handoff came to its end, with what was done below it from number ``began`` on."""
        if act.verb.startswith(AGENT_VERB):
            self._handed.setdefault(act.call, []).append(range(began, len(self._done) + 1))

    def made_good(self, told: MadeGood) -> None:
        """What these handoffs failed with, or below them, was made good, where the one that is said
        to have done so succeeded after them, and a call below it did; nothing else ever is by what
        a rule says, and by words alone nothing is.
        """
        places = (place for places in self._handed.values() for place in places)
        did = [place[-1] for place in places if self._did(place, told.by)]
        for place in (place for call in told.calls for place in self._handed.get(call, ())):
            if place[-1] < max(did, default=-1):
                self._good.update(at for at in place if self._done[at].end in BAD)

    def _did(self, place: range, by: str) -> bool:
        """Whether it is a handoff to that one which succeeded, as a call below it did."""
        *below, handoff = (self._done[at] for at in place)
        return (
            handoff.verb == by
            and handoff.end in _DONE
            and any(
                act.end in _DONE and not act.own and not act.verb.startswith(AGENT_VERB)
                for act in below
            )
        )

    def _owned(self, verb: str) -> None:
        at = next(
            (at for at in reversed(range(len(self._done))) if self._done[at].verb == verb), -1
        )
        if at >= 0 and self._done[at].end is ActEnd.DONE and not self._done[at].own:
            self._done[at] = structs.replace(self._done[at], own=True)
            self.calls -= 1

    def began(self, addr: int, decision: str, verb: str) -> None:
        """The call that a decision permitted is about to be made, as effect ``addr``."""
        self.calls += 1
        self._begun[addr] = self._permit(decision, verb)
        self._decisions[addr] = decision

    def ended(self, addr: int, result: str, *, repeat: bool = False) -> int:
        """What became of the call that effect ``addr`` is; gives the effect whose place that takes,
        -1 where it takes none's.

        ``repeat``: a repeat of a call in doubt has failed, and the next attempt at that, if there
        is one, says more of it than this one.
        """
        act = self._begun.pop(addr, None)
        if act is None:
            return -1
        decision = self._decisions.pop(addr)
        before = self._doubted.pop(decision, -1)
        if before >= 0:
            self._done = list(cleared(self._done, self._run, {before: _FAILED}))
        if repeat:
            self._doubted[decision] = addr
        end = END_OF.get(result, _FAILED)
        unknown = end is _UNKNOWN
        self._done.append(
            structs.replace(
                act, end=end, run=self._run if unknown else "", addr=addr if unknown else -1
            )
        )
        return before

    def child(
        self, decision: str, verb: str, ended: str, child: str, inner: HeaderFacts | None
    ) -> None:
        """A child has ended that carried out a call (``decision`` is "": none that counts as one):
        first what it did, then that.
        """
        began, below = len(self._done), () if inner is None else inner.acts
        self._done += below
        if inner is not None:
            self.proposed += inner.proposed
            self.answered = self.answered or inner.answered
            self.calls += inner.verb_calls
        if not decision:
            return
        end = call_end(END_OF.get(ended, _FAILED), inner)
        act = structs.replace(self._permit(decision, verb), end=end)
        self._handed_on(act, began)
        self._done.append(structs.replace(act, run=child) if end is _UNKNOWN else act)

    def resolved(self, addr: int, *, happened: bool) -> None:
        """A person said what became of effect ``addr``."""
        self.cleared[addr] = ActEnd.DONE if happened else _FAILED
        self._done = list(cleared(self._done, self._run, self.cleared))

    def so_far(self, *, rests: bool) -> tuple[Act, ...]:
        """The acts, without those that others made good; of a run that rests, a call that was begun
        and never told of is one of which nobody knows.
        """
        good = self._good
        done = tuple(
            [act for at, act in enumerate(self._done) if at not in good] if good else self._done
        )
        if not rests or not self._begun:
            return done
        left = (
            structs.replace(act, end=_FAILED)
            if act.reads
            else structs.replace(act, end=_UNKNOWN, run=self._run, addr=addr)
            for addr, act in self._begun.items()
        )
        return (*done, *left)

    def _permit(self, decision: str, verb: str) -> Act:
        found = self._permits.get(decision)
        return (
            Act(verb=verb, call=f"{self._run}:{decision}", end=_PERMITTED)
            if found is None
            else found
        )
