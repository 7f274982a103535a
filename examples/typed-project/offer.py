"""An offer, worked out and returned as a type. ``python offer.py``; checked by pyright (strict) and
mypy (strict).
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from ordain import Ordain, verb

# plays the model; leave `script` out to ask yours
SCRIPT = Path(__file__).with_name("proposals.json")


@dataclass(frozen=True)
class Offer:
    """What an answer has to be."""

    total: float
    currency: str


@verb(name="offer.price", effect="read")
def price(pieces: int) -> dict[str, float]:
    """What so many pieces cost.

    Args:
        pieces: how many.
    """
    return {"total": pieces * 2.5}


async def main() -> None:
    """Ask for an offer; everything that comes back has a type."""
    async with Ordain(verbs=[price], script=SCRIPT) as ordain:
        result = await ordain.plan(
            {
                "goal": {"type": "analysis", "description": "Offer 4 pieces."},
                "toolset": [{"tool_id": "offer.price"}],
            },
            output_type=Offer,
        )
        if result.output is None:
            raise SystemExit(f"{result.error}: {result.header}")
        offer: Offer = result.output
        print(f"{offer.total:.2f} {offer.currency}", result.verdict)


if __name__ == "__main__":
    asyncio.run(main())
