"""What would another policy have decided? Asked of what really happened, before anybody runs it.

Prints:
    under the policy of then: ok
    under the new one: failed step.syntax.prose
    exact: reask.allowed would be reask.spent
"""

import asyncio

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.policy import Policy
from ordain.flows.shipped import shipped_kinds
from ordain.runtime.diff import diff
from ordain.testing import ScriptedModels, call, finish, says

MODEL = ScriptedModels(
    planner=[
        says("The sum is easy: 1110."),  # prose where a step was due: policy grants another try
        call("math.evaluate", expression="1200 * (1 - 0.075)"),
        finish("It comes to 1110."),
    ]
)
REQUEST = {
    "goal": {"type": "analysis", "description": "What does the offer come to?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}
STRICT = Policy.model_validate({"version": 1, "step": {"reask": 0}})


async def main() -> None:
    """Run under one policy, and ask what a stricter one would have done."""
    extras = Extras(models={"default": MODEL}, memory=True)
    async with Ordain(extras=extras) as ordain:
        result = await ordain.plan(REQUEST)
        print("under the policy of then:", result.status)
        stored = (await ordain.runtime.view(result.run_id)).stored
        changed = diff(stored, ordain.catalog, STRICT, shipped_kinds(), {}.get)
        print("under the new one:", *(changed.ended or ("the same",)))
        for flip in changed.flips:
            sure = "exact" if flip.exact else "bounded"
            print(f"{sure}: {flip.recorded.split()[0]} would be {flip.now.split()[0]}")


if __name__ == "__main__":
    asyncio.run(main())
