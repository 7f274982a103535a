"""A verb of your own, and what is refused: code holds its arguments to their types, not the model.

Prints:
    ok: It is lent until Thursday.
    searched for: ['atlas']
    first try: step.input.invalid
"""

import asyncio

from ordain import Ordain, VerbError, verb
from ordain.app import Extras
from ordain.testing import ScriptedModels, call, finish

SHELF = {"atlas": "lent until Thursday"}
SEARCHED: list[str] = []


@verb(name="shelf.find", effect="read")
async def find(title: str) -> dict[str, str]:
    """Say whether a book is on the shelf.

    Args:
        title: the book's title.
    """
    SEARCHED.append(title)
    if title not in SHELF:
        raise VerbError("unknown_book", "no such book")
    return {"state": SHELF[title]}


MODEL = ScriptedModels(
    planner=[
        call("shelf.find", isbn="978-3"),  # no such argument: the verb never sees this
        call("shelf.find", title="atlas"),
        finish("It is lent until Thursday."),
    ]
)
REQUEST = {
    "goal": {"type": "chat", "description": "Is the atlas in?"},
    "toolset": [{"tool_id": "shelf.find"}],
}


async def main() -> None:
    """Ask, and look at what came of each proposal."""
    extras = Extras(verbs=[find], models={"default": MODEL}, memory=True)
    async with Ordain(extras=extras) as ordain:
        result = await ordain.plan(REQUEST)
        print(f"{result.status}: {result.content}")
        print("searched for:", SEARCHED)
        print("first try:", result.header.splitlines()[3].rpartition(" · ")[2])


if __name__ == "__main__":
    asyncio.run(main())
