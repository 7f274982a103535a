"""What a rule is: a pure function of facts, inputs and policy that returns a decision.

A rule is whole where it is defined: its outcomes, its reasons, and what a decision of it adds to
its run's header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.policy import Policy
from ordain.rules.acts import Act, ActEnd, MadeGood
from ordain.rules.header import MARKS, HeaderLine
from ordain.rules.reasons import Reason
from ordain.rules.spend import Carved, Spend

F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letter for inputs beside F and O
O = TypeVar("O", bound=Struct)  # noqa: E741 - the established letter for an outcome

FACTS_BYTES = 1024
"""Facts are features, never bodies: at most this much canonical JSON."""


class Decision(Struct, Generic[O], frozen=True, gc=False, kw_only=True):
    """An outcome with the one reason for it. ``address`` (``effect/rule#k``) is set by the port
    that recorded it.
    """

    outcome: O
    reason: Reason
    address: str = ""


class Recorded(Struct, frozen=True, gc=False, kw_only=True):
    """A decision as its record holds it; ``steps`` are those that its run had counted before it.

    ``judged``: its run's header has a verdict, and marks what was done apart from what was
    proposed.
    """

    outcome: Raw
    reason: str
    facts: Raw
    steps: int = 0
    judged: bool = False


class HeaderShare(Struct, frozen=True, gc=False, kw_only=True):
    """What one decision adds to the header of its run: lines, steps, what was used, what was taken
    out of shared accounts.

    ``act`` is the call that was permitted or denied by it, ``proposed`` how many calls a model
    proposed. ``own``: the verb whose last call was code's own. ``made_good`` are handoffs of before
    whose work somebody did after all.
    """

    lines: tuple[HeaderLine, ...] = ()
    steps: int = 0
    spent: Spend | None = None
    carved: Carved | None = None
    act: Act | None = None
    proposed: int = 0
    own: str = ""
    made_good: MadeGood | None = None


def is_share(share: object, *, books: bool) -> bool:
    """Whether what a rule told is a share of a header, as its fields say.

    ``books``: it may say what was done and spent, too. A rule that a flow asks may not, but for
    what it denied, and for handoffs that were made good where records have it so.
    """
    if type(share) is not HeaderShare:
        return False
    steps, proposed, act, spent = share.steps, share.proposed, share.act, share.spent
    return (
        type(steps) is int
        and type(proposed) is int
        and type(share.own) is str
        and steps >= 0
        and proposed >= 0
        and (act is None or (type(act) is Act and (books or act.end in _NO_CALL)))
        and (spent is None or (books and type(spent) is Spend))
        and (share.carved is None or (books and type(share.carved) is Carved))
        and (share.made_good is None or type(share.made_good) is MadeGood)
    )


def lines_told(share: HeaderShare, *, books: bool) -> tuple[HeaderLine, ...]:
    """The lines of what a rule says of a decision, as a record holds them; a kind brings rules of
    its own, so that a header can show it is checked.

    ``books``: it may say what was done and spent, too; the run of a flow that asks a rule would be
    booked what that says.

    Raises:
        TypeError, ValueError: it is not.
    """
    if not is_share(share, books=books):
        raise TypeError("what a rule tells is no share of a header")
    lines = share.lines
    if not lines:
        return ()
    if type(lines) is not tuple or not all(map(_is_as_recorded, lines)):
        lines = _LINES.decode(msgspec.json.encode(lines))
    for line in lines:
        if line.mark not in MARKS:
            raise ValueError("a line that a rule tells has no mark of a header's")
    return lines


def _is_as_recorded(line: HeaderLine) -> bool:
    """Whether a line is read from its record as it is: most are, and to write and read it takes
    three times as long.
    """
    if type(line) is not HeaderLine:
        return False
    what, reason, excerpt, depth = line.what, line.reason, line.excerpt, line.depth
    return (
        type(line.mark) is str
        and type(what) is str
        and type(reason) is str
        and type(excerpt) is str
        and what.isascii()
        and reason.isascii()
        and excerpt.isascii()
        and type(depth) is int
        and depth == 0
    )


_LINES = msgspec.json.Decoder(tuple[HeaderLine, ...])
_NO_CALL = frozenset({ActEnd.DENIED, ActEnd.REFUSED})
SILENT = HeaderShare()
"""A decision that adds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[F, I, O]):
    """A named rule with the type of its outcome union, so that a recorded decision can be read
    back.

    ``apply`` is total: it never raises and never looks at anything but its arguments. ``reasons``
    are the closed sets that its decisions' reasons come from. ``read_outcome`` reads a recorded
    outcome. ``tells`` is what a decision adds to the header; None where it shows in what it lets
    happen. ``speaks`` are the reasons with which alone it adds any (``tells_of``), None where that
    is not known.
    """

    name: str
    outcome: Any
    apply: Callable[[F, I, Policy], Decision[O]]
    reasons: tuple[type[Reason], ...]
    tells: Callable[[Recorded], HeaderShare] | None = None
    read_outcome: Callable[[bytes], O] = field(init=False, repr=False, compare=False)
    speaks: frozenset[str] | None = field(init=False, repr=False, compare=False)
    _by_code: Mapping[str, Reason] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Outcomes are decoded and codes looked up at every decision, so both are made here once.

        Raises:
            TypeError: its outcome is no type that can be decoded.
        """
        object.__setattr__(self, "read_outcome", msgspec.json.Decoder(self.outcome).decode)
        tells: Any = self.tells
        object.__setattr__(self, "speaks", tells.speaking if type(tells) is TellsOf else None)
        object.__setattr__(
            self,
            "_by_code",
            {reason.value: reason for reasons in self.reasons for reason in reasons},
        )

    def reason(self, code: str) -> Reason:
        """A recorded code as one of the rule's reasons.

        Raises:
            ValueError: the rule has no such reason.
        """
        found = self._by_code.get(code)
        if found is None:
            raise ValueError(f"{code} is no reason of rule {self.name}")
        return found


def nothing_more(_: Raw) -> str:
    """An outcome of which a line says no detail."""
    return ""


def tells_of(
    name: str, reasons: Iterable[Reason], detail: Callable[[Raw], str] = nothing_more
) -> TellsOf:
    """What most rules add: a line where the decision's reason is one of these, with what ``detail``
    reads out of the outcome.
    """
    return TellsOf(name, frozenset(str(reason) for reason in reasons), detail)


class TellsOf(Struct, frozen=True):
    """See ``tells_of``. Whoever reads decisions sees with which reasons there is nothing to ask."""

    name: str
    speaking: frozenset[str]
    detail: Callable[[Raw], str]

    def __call__(self, recorded: Recorded) -> HeaderShare:
        """A line, or nothing."""
        if recorded.reason not in self.speaking:
            return SILENT
        said = self.detail(recorded.outcome)
        what = f"{self.name}: {said}" if said else self.name
        return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))
