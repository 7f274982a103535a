"""Which scope an address asks for: one table for every route, HTTP and WebSocket. What stands in no
row asks for ``admin``: nothing is open by oversight.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ordain.contracts.access import TokenScope as Scope

READ, WRITE, ANY = (
    frozenset({"GET", "HEAD", "OPTIONS"}),
    frozenset({"POST", "PUT", "PATCH", "DELETE"}),
    frozenset[str](),
)


class Door(Struct, frozen=True):
    """Any of ``scopes`` opens it; without scopes any token does. ``in_workspace``: what is behind
    it belongs to one. ``public``: it is open.
    """

    scopes: tuple[Scope, ...] = ()
    in_workspace: bool = False
    public: bool = False


CLOSED = Door((Scope.ADMIN,))
_Row = tuple[frozenset[str], str, Door]
_CHAT = Door((Scope.CHAT,), in_workspace=True)
_OPERATE = Door((Scope.RUNS_OPERATE,), in_workspace=True)
_APPROVE = Door((Scope.APPROVALS,), in_workspace=True)
_MEMORY = Door((Scope.MEMORY,), in_workspace=True)
_LISTED = Door((Scope.VERBS, Scope.CHAT, Scope.PLAN))
_ID = "[^/]+"

DOORS: Mapping[str, Sequence[_Row]] = {
    "health": [(READ, "", Door(public=True))],
    "ready": [(READ, "", Door())],
    "openapi.json": [(READ, "", Door())],
    "schemas": [(READ, f"(/{_ID})?", Door())],
    "metrics": [(READ, "", Door((Scope.METRICS,)))],
    "messages": [(ANY, "", _CHAT)],
    "api": [(READ, "/verbs", _LISTED), (ANY, "/chat", _CHAT)],
    "v1": [
        (ANY, "/cortex/chat", _CHAT),
        (ANY, "/chat/completions", _CHAT),
        (ANY, "/responses", _CHAT),
        (READ, f"/models(/{_ID})?", _CHAT),
        # nothing else is there, and whoever may chat is told what is
        (ANY, "(/(?!cortex(/|$)).*)?", _CHAT),
    ],
    "ws": [(ANY, "", _CHAT)],
    "sessions": [(WRITE, f"/{_ID}/erase", _OPERATE), (READ, ".*", _CHAT)],
    "plan": [(ANY, "/react", Door((Scope.PLAN,), in_workspace=True))],
    "verbs": [
        (WRITE, "/reload", Door((Scope.ADMIN,))),
        (WRITE, "/execute", Door((Scope.VERBS,), in_workspace=True)),
        (READ, f"(/{_ID})?", _LISTED),
    ],
    "workflows": [(READ, f"(/{_ID})?", _LISTED)],
    "cards": [(READ, f"(/{_ID})?", _LISTED)],
    "runs": [
        (READ, ".*", Door((Scope.RUNS_READ,), in_workspace=True)),
        (WRITE, f"/{_ID}/[a-z]+", _OPERATE),
    ],
    "approvals": [(ANY, ".*", _APPROVE)],
    "grants": [(ANY, ".*", _APPROVE)],
    "memory": [(ANY, ".*", _MEMORY)],
    "docs": [(ANY, ".*", _MEMORY)],
    "models": [
        (READ, "/cost", Door((Scope.MODELS,), in_workspace=True)),
        (ANY, ".*", Door((Scope.MODELS,))),
    ],
    "tokens": [(READ, "(/audit)?", CLOSED)],
}
"""By an address's first part: methods (none: all), a pattern for the rest, and what opens it. The
first row that fits counts.
"""

_COMPILED = {
    first: [(methods, re.compile(rest), door) for methods, rest, door in rows]
    for first, rows in DOORS.items()
}


def door_of(method: str, path: str) -> Door:
    """What opens an address, as the routes are about to see it. A WebSocket handshake is a GET."""
    first, slash, rest = path.removeprefix("/").partition("/")
    for methods, pattern, door in _COMPILED.get(first, ()):
        if (not methods or method in methods) and pattern.fullmatch(slash + rest):
            return door
    return CLOSED
