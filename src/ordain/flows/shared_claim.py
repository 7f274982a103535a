"""A shared decision that a kind brings: a rule, its facts, and the rows of tables that it reads and
writes. No store has code for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ordain.ports.shared import RowRead
from ordain.ports.writes import RowTable, TableRow
from ordain.rules.shared import SharedRule

F = TypeVar("F", bound=Struct)
O = TypeVar("O", bound=Struct)  # noqa: E741 - the established letters of ordain.rules.decision


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedClaim(Generic[F, O]):
    """What a flow asks by ``fx.claim(Claim(name=…, args=…))``, where the name is the rule's.

    ``reads`` names rows by the claim's arguments; ``facts`` gets the arguments and what each read
    gave (None: there is no such row) in the write transaction, and the record holds what it makes
    of them; ``writes`` gets facts and outcome where the rule grants the claim. All three are pure,
    and may be called again if the commit has to be tried again. Rows belong to the run's workspace,
    and to ``tables``.
    """

    shared: SharedRule
    tables: tuple[RowTable, ...]
    reads: Callable[[Mapping[str, Any]], tuple[RowRead, ...]]
    facts: Callable[..., F]
    writes: Callable[[F, O], tuple[TableRow, ...]]

    @property
    def name(self) -> str:
        """The rule's, and the claim's."""
        return self.shared.rule.name
