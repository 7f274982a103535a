"""A conversation goes on in another process: what was said before is in the store.

Prints:
    Hello, Ada.
    the model was shown: ['user: My name is Ada.', 'assistant: Hello, Ada.']
    entries: 4
"""

import asyncio
import tempfile
from typing import Any

from ordain import Ordain
from ordain.app import Extras
from ordain.testing import ModelScript, ScriptedModels, output

SHOWN: list[str] = []


def remembers(asked: Any) -> bool:
    """Note what the model is shown of what was said before."""
    SHOWN.extend(f"{one['role']}: {one['content']}" for one in asked.inputs["history"])
    return True


async def say(home: str, text: str, script: ModelScript) -> str:
    """One message, by an Ordain that lives no longer than that."""
    extras = Extras(models={"default": ScriptedModels(script)})
    async with Ordain(home=home, extras=extras) as ordain:
        answer = await ordain.chat(text, session="ada", user="ada")
        return answer.reply.narrative if answer.reply else ""


async def main(home: str) -> None:
    """Say two things, in two lives."""
    first = ModelScript().on("verb", output(content="Hello, Ada."), verb="chat_general")
    print(await say(home, "My name is Ada.", first))
    second = ModelScript().on("verb", output(content="Ada."), verb="chat_general", when=remembers)
    await say(home, "What is my name?", second)
    print("the model was shown:", SHOWN)
    async with Ordain(home=home) as ordain:
        desk = ordain.runtime.conversation
        entries = await desk.transcript("default", "ada", after=0, limit=10)
        print("entries:", len(entries))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(folder))
