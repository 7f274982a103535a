"""Text while it is written. It is provisional: the reply, which has the header, takes its place.

Prints:
    message
    text at 0: Hello, Ada. Models propose, and code ordains.
    reply: Hello, Ada. Models propose, and code ordains.
    what was finished stood above the first text: True
"""

import asyncio
from contextlib import aclosing

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.events import MessageEvent, ProgressEvent, ReplyEvent, TextEvent
from ordain.testing import ModelScript, ScriptedModels, output

HELLO = "Hello, Ada. Models propose, and code ordains."
MODEL = ScriptedModels(ModelScript().on("verb", output(content=HELLO), verb="chat_general"))
MESSAGE = {"sessionId": "s1", "userId": "ada", "message": {"text": "Hello"}}


async def main() -> None:
    """Send a message, and print what its session says until it is answered."""
    above: list[str] = []
    async with Ordain(extras=Extras(models={"default": MODEL}, memory=True)) as ordain:
        await ordain.send(MESSAGE)
        async with aclosing(ordain.stream("s1")) as events:
            async for event in events:
                match event:
                    case MessageEvent():
                        print("message")
                    case ProgressEvent():
                        above.append(event.header)
                    case TextEvent():
                        print(f"text at {event.offset}: {event.text}")
                    case ReplyEvent():
                        print("reply:", event.narrative)
                        break
                    case _:
                        pass
    print("what was finished stood above the first text:", above != [])


if __name__ == "__main__":
    asyncio.run(main())
