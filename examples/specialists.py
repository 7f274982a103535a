"""Agents are cards. Work is handed on within what policy allows, and who is not named gets none.

Prints:
    poet_agent: {'content': 'Tea is ready.', 'structured': {}}
    finance_agent: handoff_target_not_allowed
"""

import asyncio
import tempfile
from pathlib import Path

from ordain import Agent, Ordain
from ordain.app import Extras, with_profile
from ordain.contracts.profiles import ModelProfile
from ordain.settings import load_settings
from ordain.testing import ScriptedModels, finish

POLICY = """
version = 1

[approvals]
delegation = "never"  # as shipped a person is asked

[profile]
allowed_handoff_targets = ["poet_agent"]
allowed_handoff_modes = ["delegate"]
default_handoff_mode = "delegate"
"""
POET = Agent(name="poet_agent", domain="poems", description="Writes a verse.")
MODEL = ScriptedModels(planner=[finish("Tea is ready.")])


async def main(home: Path) -> None:
    """Hand work to an agent of ours, and to one that policy does not name."""
    (home / "policy.toml").write_text(POLICY, encoding="utf-8")
    profile = ModelProfile(provider="scripted", model="scripted")
    settings = with_profile(load_settings(home=home), profile)
    extras = Extras(models={"default": MODEL}, memory=True)
    async with Ordain(settings, agents=[POET], extras=extras) as ordain:
        told = await ordain.delegate("poet_agent", "Write a verse about tea.")
        print("poet_agent:", told.output and told.output["outputPayload"])
        told = await ordain.delegate("finance_agent", "Look at the till.")
        print("finance_agent:", told.error and told.error.code)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
