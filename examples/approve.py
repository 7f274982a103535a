"""A verb that others notice waits for a person's yes, to exactly that call. A model cannot give it.

Prints:
    waits: note.send sends something to others, or changes something elsewhere.
    sent so far: []
    reply: It is sent.
    sent: ['ada@example.org: Tea is ready.']
"""

import asyncio

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.verbs import ArgumentRole
from ordain.runtime.approvals import ApproverWord
from ordain.testing import ScriptedModels, call, finish

SENT: list[str] = []
ROLES = {"to": ArgumentRole.RECIPIENT, "text": ArgumentRole.CONTENT}


@verb(name="note.send", effect="send", arguments=ROLES)
def send(to: str, text: str) -> str:
    """Send a note to somebody."""
    SENT.append(f"{to}: {text}")
    return "sent"


MODEL = ScriptedModels(
    planner=[call("note.send", to="ada@example.org", text="Tea is ready."), finish("It is sent.")]
)

MESSAGE = {
    "sessionId": "s1",
    "userId": "ada",
    "message": {"text": "Tell Ada"},
    "context": {"routingHints": {"mode": "agent", "allowedVerbs": ["note.send"]}},
}


async def main() -> None:
    """Ask as ada, look at what waits, say yes as ben."""
    extras = Extras(verbs=[send], models={"default": MODEL}, memory=True)
    async with Ordain(extras=extras) as ordain:
        sent = await ordain.send(MESSAGE)
        asked = (await ordain.answer(sent)).approval
        assert asked is not None
        print("waits:", asked.text.splitlines()[0])
        print("sent so far:", SENT)
        word = ApproverWord(approve=True, digest=asked.digest)
        await ordain.runtime.approvals.decide("default", asked.approval_id, word, "local:ben")
        reply = (await ordain.answer(sent)).reply
        print("reply:", reply and reply.narrative)
        print("sent:", SENT)


if __name__ == "__main__":
    asyncio.run(main())
