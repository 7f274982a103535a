"""The shared rules by the name of their claim: facts are read inside the write transaction, so a
record holds them whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from ordain.rules.attach import ATTACH
from ordain.rules.attachment import AttachFacts
from ordain.rules.budget import CARVE, Carved, CarveFacts
from ordain.rules.decision import Rule
from ordain.rules.grant import GRANT, GrantFacts, GrantTaken


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRule:
    """A rule with the type of its facts, and the outcome that makes the claim's change (``Struct``:
    each does).
    """

    rule: Rule[Any, None, Any]
    facts: type[Struct]
    grants: type[Struct]


SHARED: Mapping[str, SharedRule] = {
    CARVE.name: SharedRule(rule=CARVE, facts=CarveFacts, grants=Carved),
    ATTACH.name: SharedRule(rule=ATTACH, facts=AttachFacts, grants=Struct),
    GRANT.name: SharedRule(rule=GRANT, facts=GrantFacts, grants=GrantTaken),
}
