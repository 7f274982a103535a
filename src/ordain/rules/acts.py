"""Acts: the verb calls of a run and what became of each; and the verdict on them, which opens a
header (RTE-12, FAIL-04).

An act was authorised and made, or denied, there or before it was a call. What a turn enters by is
none. No word of a model counts for the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ordain.contracts.verdict import RunVerdict


class ActEnd(StrEnum):
    """What became of an act.

    ``permitted``: allowed, and nothing is known yet of what became of it. ``quoted``: it returned
    what rules of code said in a model's place, which is a copy of what they were given.
    ``refused``: a model proposed a call that there is, and it was outside of the run's tools or its
    input fitted no schema.
    """

    PERMITTED = "permitted"
    DONE = "done"
    QUOTED = "quoted"
    FAILED = "failed"
    DENIED = "denied"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Act(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One call: verb, digest of verb and arguments, what became of it; ``reads``: it was allowed as
    a read.

    ``run`` and ``addr`` are where the effect stands whose outcome nobody knows; "" and -1 of every
    other act. ``own``: it succeeded, and code made it by itself, as where memory is asked for every
    message: it is no work that anybody wanted done.
    """

    verb: str
    call: str
    end: ActEnd
    reads: bool = False
    run: str = ""
    addr: int = -1
    own: bool = False


class MadeGood(Struct, frozen=True, gc=False, kw_only=True):
    """Handoffs that came to nothing, by the digest of each, and the verb by which somebody else, or
    the same once more, did what they were for.
    """

    calls: tuple[str, ...]
    by: str


class Work(Struct, frozen=True, kw_only=True):
    """All that a verdict is made of: the acts in order, how many calls models proposed, how it
    ended.

    ``completed``: the run came to the end that it was for. ``answered``: a model or a person said
    something in it; what rules of code say in a model's place is not that. ``carries``: it carries
    out a verb's call, so that its end is the call's.
    """

    acts: tuple[Act, ...] = ()
    proposed: int = 0
    completed: bool
    answered: bool = False
    carries: bool = False


BAD = frozenset({ActEnd.FAILED, ActEnd.DENIED, ActEnd.REFUSED})
"""What has to be made good."""
_DONE: Final = ActEnd.DONE
_UNKNOWN: Final = ActEnd.UNKNOWN
_REFUSED: Final = ActEnd.REFUSED
_OK: Final = RunVerdict.OK


def verdict_of(work: Work) -> RunVerdict:
    """The verdict on a run's work.

    A run that failed after one of its acts succeeded is ``partial``: neither all was done nor
    nothing. So is one of which a call was refused before it was one, and something else was done:
    alone it is that no tool succeeded.
    """
    acts = [act for act in work.acts if not act.own]
    ends = {act.end for act in acts}
    succeeded = _DONE in ends
    if _UNKNOWN in ends:
        return RunVerdict.UNKNOWN
    if not ends.isdisjoint(BAD):
        called = [act for act in acts if act.end is not _REFUSED]
        if not_made_good(called):
            return RunVerdict.PARTIAL
    if succeeded and not work.completed:
        return RunVerdict.PARTIAL
    if (acts or work.proposed) and not succeeded and ActEnd.QUOTED not in ends:
        return RunVerdict.NO_TOOL
    if _REFUSED in ends and not_made_good(acts):
        return RunVerdict.PARTIAL
    if not work.completed or not (succeeded or work.answered or work.carries):
        return RunVerdict.NOTHING
    return _OK


def not_made_good(acts: Sequence[Act]) -> tuple[str, ...]:
    """The verbs with a call that failed or was denied and was not made good, in order, each once.

    A read is made good by any later success of its verb, every other call by a later success of the
    identical one; what was refused before it was a call, by any later success of its verb, since
    the identical one would be refused again.
    """
    reads: set[str] = set()
    calls: set[str] = set()
    verbs: set[str] = set()
    bad: list[str] = []
    for act in reversed(acts):
        if act.end in (ActEnd.DONE, ActEnd.QUOTED):
            calls.add(act.call)
            verbs.add(act.verb)
            if act.reads:
                reads.add(act.verb)
        elif act.end in BAD:
            good = (
                act.verb in verbs
                if act.end is ActEnd.REFUSED
                else act.verb in reads or act.call in calls
            )
            bad += () if good else (act.verb,)
    return tuple(dict.fromkeys(reversed(bad)))
