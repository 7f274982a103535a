"""An answer of your own type: what does not fit it is asked for once more, then the run fails.

The model is a script, which gets it wrong first. Leave `extras` out to ask yours.

Prints:
    total=Decimal('10.00') currency='EUR'
    asked again: True
"""

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from ordain import Ordain
from ordain.app import Extras
from ordain.testing import ScriptedModels, finish


class Offer(BaseModel):
    """What an answer has to be."""

    total: Decimal
    currency: Literal["EUR", "USD"]


MODEL = ScriptedModels(
    planner=[
        finish("Ten euros.", {"total": "10.00", "currency": "of the realm"}),
        finish("Ten euros.", {"total": "10.00", "currency": "EUR"}),
    ]
)
REQUEST = {
    "goal": {"type": "analysis", "description": "What do four pieces cost?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}

if __name__ == "__main__":
    ordain = Ordain(extras=Extras(models={"default": MODEL}, memory=True))
    result = ordain.run_sync(REQUEST, output_type=Offer)
    print(result.output)
    print("asked again:", "step.answer.invalid" in result.header)
