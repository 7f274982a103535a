"""Ids as people type them: whole, by a beginning or an end that only one has, or ``last``. Headers
show the end; the beginnings are the same for hours.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct, field

from ordain.contracts.nearest import as_given, did_you_mean
from ordain.errors import InvalidRequest, NotFound

LAST = "last"
"""What the first line of a list is called: the latest."""
PART_MIN = 4
"""A shorter part is no id: one sign too few, and it would be another's."""
CANDIDATES = 10
ABOUT = 80
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:")
_WHOLE = re.compile(r"[0-9a-f]{32}")
List = Callable[[Mapping[str, Any]], Awaitable[Sequence[Mapping[str, Any]]]]
"""Asks for a page of a list, with these parameters; raises as the face refuses it."""


class IdKind(Struct, frozen=True, kw_only=True):
    """What an id is one of: where such are listed (``listed``: under which name, where that is not
    the address), what an item of the list calls its id and itself, how ``every`` one is asked for.

    ``chosen``: people choose such ids, so that one like ``last`` may be meant.
    """

    noun: str
    path: str
    key: str
    about: tuple[str, ...]
    listed: str = ""
    chosen: bool = False
    every: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def items(self) -> str:
        """What a page of the list calls its items."""
        return self.listed or self.path.removeprefix("/")

    @property
    def missing(self) -> str:
        """The code of there being none."""
        return f"{self.noun}_not_found"


RUN = IdKind(
    noun="run",
    path="/runs",
    key="run_id",
    about=("flow", "status", "created_at"),
    every={"all": "true"},
)
SESSION = IdKind(
    noun="session",
    path="/sessions",
    key="sessionId",
    about=("userId", "lastActivityAt"),
    chosen=True,
)
APPROVAL = IdKind(
    noun="approval",
    path="/approvals",
    key="approval_id",
    about=("state", "what"),
    every={"all": "true"},
)
GRANT = IdKind(
    noun="grant",
    path="/grants",
    key="grantId",
    about=("principal", "expiresAt"),
    every={"all": "true"},
)
NOTE = IdKind(
    noun="note", path="/memory", listed="notes", key="id", about=("kind", "title", "excerpt")
)
DOCUMENT = IdKind(
    noun="document", path="/docs", listed="documents", key="id", about=("title", "created_at")
)


async def whole_id(kind: IdKind, given: str, listed: List) -> str:
    """The id that was meant. One that is whole, or that nothing here is found by, comes back as it
    was typed: whoever is asked for it says so.

    Raises:
        NotFound: the last one, and there is none; it is too short for a part of an id; or it is
            none, and like ``last``.
        InvalidRequest: it is part of several (``ambiguous_id``); they are listed.
        OrdainError: as ``listed``.
        UnicodeEncodeError: it is no text, which no id is; the command names it.
    """
    given.encode()
    if given == LAST:
        found = await listed({"limit": 1})
        if not found:
            raise NotFound(f"there is no {kind.noun} yet", code=kind.missing)
        return str(found[0][kind.key])
    if len(given) < PART_MIN:
        why = f"of its id at least {PART_MIN} signs are needed{did_you_mean(given, (LAST,))}"
        raise NotFound(f"{given or 'nothing'} names no {kind.noun}: {why}", code=kind.missing)
    if _WHOLE.fullmatch(given):
        return given
    found = await listed({**kind.every, "named": given, "limit": CANDIDATES + 1})
    ids = [str(one[kind.key]) for one in found]
    if len(found) > 1 and given not in ids:
        _ambiguous(kind, given, found)
    if not ids and not kind.chosen and (meant := did_you_mean(given, (LAST,))):
        raise NotFound(f"there is no {kind.noun} {as_given(given)}{meant}", code=kind.missing)
    return ids[0] if len(ids) == 1 else given


def _ambiguous(kind: IdKind, given: str, found: Sequence[Mapping[str, Any]]) -> NoReturn:
    told = [" ".join((str(one[kind.key]), *_about(kind, one))) for one in found[:CANDIDATES]]
    more = ["and more"] if len(found) > CANDIDATES else []
    raise InvalidRequest(
        f"{given} is the beginning or the end of several {kind.noun}s: {'; '.join((*told, *more))}",
        code="ambiguous_id",
        details={"candidates": [str(one[kind.key]) for one in found[:CANDIDATES]]},
    )


def _about(kind: IdKind, item: Mapping[str, Any]) -> Sequence[str]:
    """What tells it from the others, in brackets."""
    told = [str(item[name]) for name in kind.about if item.get(name)]
    said = ", ".join(
        one[:19].replace("T", " ") if _MOMENT.match(one) else one[:ABOUT] for one in told
    )
    return (f"({said})",) if said else ()
