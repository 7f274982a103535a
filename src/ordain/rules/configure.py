"""Rule ``configure``: does a record of the control plane become its next version (C5)? Its facts
are read inside the write transaction.

A record that is to be written over what somebody else has changed since is refused by its expected
version, and so one of two writers at once learns of it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason

RECORDS_MOST = 10_000
"""Most records of one workspace, those that were removed among them: their history stays."""
VERSIONS_MOST = 10_000
"""Most versions of one record."""


class ConfigureReason(Reason):
    """Why a record is written or not (C5)."""

    WRITTEN = "configure.written", "It is the record's next version."
    REMOVED = "configure.removed", "The record is no more; its history stays."
    UNCHANGED = "configure.unchanged", "It says what stands there: nothing is written."
    VERSION_CONFLICT = (
        "configure.version_conflict",
        "The record is at another version than the one expected.",
    )
    NOT_FOUND = "configure.not_found", "There is no such record to remove."
    FULL = (
        "configure.full",
        "The workspace has as many records, or the record as many versions, as there may be.",
    )


class ConfigureFacts(Struct, frozen=True, kw_only=True):
    """Where a record stands (``version`` 0: never written) and what is asked: the version expected,
    whether it says the same, or removes.

    ``stands``: it is there, and was not removed. ``expected`` None is any, 0 none that stands.
    ``records`` counts those of its workspace.
    """

    version: int
    stands: bool
    expected: int | None
    same: bool
    removes: bool
    records: int


class Configured(Struct, frozen=True, gc=False, tag="configured"):
    """The version that stands now; ``changed``: it was written just now."""

    version: int
    changed: bool = True


class NotConfigured(Struct, frozen=True, gc=False, tag="not_configured"):
    """Nothing is written; the version that stands."""

    version: int


def decide_configure(
    facts: ConfigureFacts, inputs: None, policy: Any
) -> Decision[Configured | NotConfigured]:
    """What was expected first: whoever expects another version is told so, whatever they bring."""
    standing = facts.version if facts.stands else 0
    if facts.expected not in (None, standing):
        return Decision(
            outcome=NotConfigured(facts.version), reason=ConfigureReason.VERSION_CONFLICT
        )
    if facts.removes and not facts.stands:
        return Decision(outcome=NotConfigured(facts.version), reason=ConfigureReason.NOT_FOUND)
    if facts.same and facts.stands and not facts.removes:
        return Decision(
            outcome=Configured(facts.version, changed=False), reason=ConfigureReason.UNCHANGED
        )
    if not facts.removes and (
        facts.version >= VERSIONS_MOST or (not facts.version and facts.records >= RECORDS_MOST)
    ):
        return Decision(outcome=NotConfigured(facts.version), reason=ConfigureReason.FULL)
    reason = ConfigureReason.REMOVED if facts.removes else ConfigureReason.WRITTEN
    return Decision(outcome=Configured(facts.version + 1), reason=reason)


CONFIGURE: Rule[ConfigureFacts, None, Any] = Rule(
    name="configure",
    outcome=Configured | NotConfigured,
    apply=decide_configure,
    reasons=(ConfigureReason,),
)
