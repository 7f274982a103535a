"""How the golden conversation under the shipped policy is made: routes, waits before retries,
summaries, a prompt plan as an agent's tool.

``python -m tests.replay.golden_routed FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from ordain.app import Extras, Ordain
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings
from tests.replay.golden import FACTS, TEXT, act, finish, request
from tests.replay.golden_file import GoldenTalk, make

SAID = "The lamp is red. The door is shut."
QUOTED = {**FACTS, "method": "quoted"}


async def play(home: Path) -> GoldenTalk:
    """Play it; its runs in the order in which they were opened."""
    settings = load_settings({}, home)
    policy = settings.policy.model_dump()
    policy["history"] |= {"max_entries": 4, "keep_entries": 2}
    script = make_script(
        planner=[{"$error": "overloaded"}, act("extract_facts", TEXT), finish("red lamp")],
        verbs={
            "extract_facts": [QUOTED],
            "chat_general": [{"content": "Hello to you."}],
            "summarize_conversation": [{"summary": "They greeted each other."}],
        },
    )
    changed = settings.model_copy(
        update={
            "policy": type(settings.policy).model_validate(policy),
            "profiles": {
                "default": ModelProfile(provider="scripted", model="scripted", script="in memory")
            },
        }
    )
    async with Ordain(
        changed, extras=Extras(models={"default": ScriptedModel(script)}, memory=True)
    ) as ordain:
        assert (await ordain.plan(request("extract_facts"))).wire["status"] == "ok"
        assert (await ordain.execute("extract_facts", TEXT)).wire["ok"]
        await ordain.chat(SAID, session="s1", mode="agent", allowed_verbs=["extract_facts"])
        for _ in range(4):
            await ordain.chat("hello there", session="s1")
        rows = sorted(await ordain.runtime.runs(roots_only=False), key=lambda row: row.id)
        runs = [ordain.store.stored(row.id) for row in rows]
        transcript = await ordain.runtime.conversation.transcript(
            "default", "s1", after=0, limit=1000
        )
        return GoldenTalk.of(runs, transcript, ordain.catalog)


if __name__ == "__main__":
    make(play)
