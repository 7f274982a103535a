"""What a call risks, in the sources' words (C5): read off the effect a verb declares, so that it
cannot say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from ordain.contracts.planner import Strict
from ordain.contracts.verbs import VerbEffect, VerbSpec


class RiskLevel(StrEnum):
    """Read: nothing changes. Write: what changes can be put right. Destructive: it cannot."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class SideEffects(StrEnum):
    """Where something changes: nowhere, in the user's own space here, elsewhere."""

    NONE = "none"
    INTERNAL = "internal"
    EXTERNAL = "external"


class DataEgress(StrEnum):
    """Whether data leaves."""

    NONE = "none"
    NETWORK = "network"


class Risk(Strict):
    """A verb's risk (C5). A verb declares an effect or is not registered: none is without."""

    risk_level: RiskLevel
    side_effects: SideEffects
    data_egress: DataEgress


_NETWORK = DataEgress.NETWORK
RISK: Mapping[VerbEffect, Risk] = MappingProxyType(
    {
        VerbEffect.READ: Risk(
            risk_level=RiskLevel.READ, side_effects=SideEffects.NONE, data_egress=DataEgress.NONE
        ),
        VerbEffect.EGRESS: Risk(
            risk_level=RiskLevel.READ, side_effects=SideEffects.NONE, data_egress=_NETWORK
        ),
        VerbEffect.PRIVATE: Risk(
            risk_level=RiskLevel.WRITE,
            side_effects=SideEffects.INTERNAL,
            data_egress=DataEgress.NONE,
        ),
        VerbEffect.ADMIN: Risk(
            risk_level=RiskLevel.WRITE, side_effects=SideEffects.EXTERNAL, data_egress=_NETWORK
        ),
        VerbEffect.SEND: Risk(
            risk_level=RiskLevel.WRITE, side_effects=SideEffects.EXTERNAL, data_egress=_NETWORK
        ),
        VerbEffect.SECRET: Risk(
            risk_level=RiskLevel.DESTRUCTIVE,
            side_effects=SideEffects.EXTERNAL,
            data_egress=_NETWORK,
        ),
        VerbEffect.PAY: Risk(
            risk_level=RiskLevel.DESTRUCTIVE,
            side_effects=SideEffects.EXTERNAL,
            data_egress=_NETWORK,
        ),
        VerbEffect.DELETE: Risk(
            risk_level=RiskLevel.DESTRUCTIVE,
            side_effects=SideEffects.EXTERNAL,
            data_egress=_NETWORK,
        ),
    }
)
HARMLESS = frozenset(
    effect for effect, risk in RISK.items() if risk.side_effects is SideEffects.NONE
)
"""Effects that change nothing, whatever became of the call: its failure leaves nothing in doubt.
What the arguments of egress tell somebody is judged before it goes out.
"""


def risk_of(spec: VerbSpec) -> Risk:
    """What a call of the verb risks at most."""
    return RISK[spec.effect]
