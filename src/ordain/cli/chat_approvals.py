"""``/approve`` and ``/deny`` in a chat: what was shown here is what a yes is to. A message is never
one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.cli.approval_lines import approval_lines
from ordain.cli.messenger import Messenger
from ordain.contracts.nearest import as_given
from ordain.errors import NotFound, Refused
from ordain.runtime.brief import SHORT_ID

_ID, _PART = re.compile(r"[0-9a-f]{32}"), re.compile(rf"[0-9a-f]{{{SHORT_ID},31}}")
_MEANT = re.compile(rf"(?=[a-z]*[0-9])[0-9a-z]{{{SHORT_ID},64}}", re.IGNORECASE)
"""Digits in one word, with letters or without: an id that somebody mistyped, and no reason."""
_AROUND = "#:;,.!?…()[]<>\"'`“”„*"
"""What people put around an id, as in *#7e4999:*."""
_NAMES_NONE = {
    True: (
        "that names no approval: /approve alone says yes to the one that was shown, /approve ID "
        "WHY names one and says why"
    ),
    False: (
        "that names no approval: /deny alone says no to the one that was shown, /deny ID WHY names "
        "one and says why"
    ),
}
HOW = "/approve says yes to exactly this, /deny says no; no message does"


class ChatDecision(Struct, frozen=True, kw_only=True):
    """What came of a command: what to say, and whether something was decided."""

    lines: Sequence[str]
    decided: bool = False


class ChatApprovals:
    """Shows approvals and decides them. A yes carries the digest of what was shown."""

    def __init__(self, messenger: Messenger) -> None:
        """Nothing was shown yet."""
        self._messenger = messenger
        self._shown: dict[str, str] = {}
        self._last = ""

    async def shown(self, approval: str) -> Sequence[str]:
        """An open approval with its exact arguments; nothing of one that is decided, or that this
        token may not look at.
        """
        try:
            found = await self._messenger.approval(approval)
        except (NotFound, Refused):
            return ()
        return self._lines(found) if found["state"] == "open" else ()

    def _lines(self, found: dict[str, Any]) -> Sequence[str]:
        self._shown[found["approval_id"]] = found["digest"]
        self._last = found["approval_id"]
        return [*approval_lines(found), HOW]

    async def _named(self, word: str) -> str:
        """The approval that a word names, whole or by the beginning or end of its id; "" where it
        is no id.
        """
        word = word.strip(_AROUND).lower()
        whole = await self._messenger.whole_approval(word) if _PART.fullmatch(word) else word
        return whole if _ID.fullmatch(whole) else ""

    async def decide(self, session: str, words: Sequence[str], *, approve: bool) -> ChatDecision:
        """Yes or no to the approval that is named, else to the only one that is open in the
        session, unless another was shown last; what follows its id is why.

        Beside a yes to an approval that is not named stands nothing, and no mistyped id beside a
        no.

        What was not shown here is shown, and nothing decided.

        Raises:
            OrdainError: as the face refuses it.
        """
        named = await self._named(words[0]) if words else ""
        why = words[1:] if named else words
        if why and not named and (approve or _MEANT.fullmatch(why[0].strip(_AROUND))):
            # a mistyped id, or a no in words, would be a word on something else
            return ChatDecision(lines=[_NAMES_NONE[approve]])
        if not named:
            open_ones = (await self._messenger.approvals(session))["approvals"]
            if len(open_ones) != 1:
                listed = [f"{one['approval_id']}  {one['what']}" for one in open_ones]
                return ChatDecision(
                    lines=["several approvals are open: name one", *listed]
                    if listed
                    else [_none_open(words)]
                )
            named = open_ones[0]["approval_id"]
            if self._last not in {"", named}:
                return ChatDecision(
                    lines=[
                        (
                            f"{self._last} was shown last, and {named} is open here: name the one "
                            "that you mean"
                        )
                    ]
                )
        if approve and named not in self._shown:
            found = await self._messenger.approval(named)
            again = (
                f"read it, and say /approve {named}"
                if found["state"] == "open"
                else "it is decided"
            )
            return ChatDecision(lines=[*self._lines(found)[:-1], again])
        digest = self._shown.get(named) or (await self._messenger.approval(named))["digest"]
        done = await self._messenger.decide(
            named, approve=approve, digest=digest, why=" ".join(why)
        )
        return ChatDecision(
            lines=[f"{done['state']}: {done['what']}, by {done['decided_by']}"], decided=True
        )


def _none_open(words: Sequence[str]) -> str:
    """Where nothing is open, a word by itself was meant to name something, and was no reason."""
    named = f"there is no approval {as_given(words[0], 64)}, and " if len(words) == 1 else ""
    return f"{named}no approval is open here"
