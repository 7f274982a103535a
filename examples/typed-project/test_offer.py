"""What the offer comes to, without a model: ``pytest``."""

import pytest
from offer import Offer

from ordain import Ordain

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("words", ["Offer 4 pieces.", "What do four pieces cost?"])
async def test_an_offer_is_a_type(ordain: Ordain, words: str) -> None:
    """The verb is called once, and the answer fits."""
    result = await ordain.plan(
        {
            "goal": {"type": "analysis", "description": words},
            "toolset": [{"tool_id": "offer.price"}],
        },
        output_type=Offer,
    )
    assert result.output == Offer(total=10, currency="EUR")
    assert "✓ offer.price" in result.header
