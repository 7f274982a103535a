"""The call of ``roster_runtime``."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.flows.carried import VerbPlanInput


class RosterArgs(Struct, frozen=True, kw_only=True):
    """What is to be done; ``agents`` (or one ``agent``) where somebody named who is to do it, and
    ``known`` what bears on it.
    """

    text: str
    agents: tuple[str, ...] = ()
    agent: str = ""
    known: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """Whom somebody named, each once; nobody where a planner is to say it."""
        return tuple(dict.fromkeys(filter(None, (*self.agents, self.agent))))


def arguments_of(call: VerbPlanInput) -> RosterArgs:
    """The call's arguments, which its schema has accepted."""
    return msgspec.convert(call.args, RosterArgs)
