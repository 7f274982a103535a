"""A verb that others see the outcome of: it puts a line up on a board, which is a file in the data
folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from ordain import verb
from ordain.contracts.verbs import Argument, ArgumentRole

BOARD = Path(__file__).resolve().parents[1] / "board.txt"


@verb(
    name="board.post",
    effect="send",
    arguments={
        "text": Argument(role=ArgumentRole.CONTENT),
        "to": Argument(role=ArgumentRole.RECIPIENT),
    },
)
def board_post(
    to: Annotated[str, Field(min_length=1, max_length=200)],
    text: Annotated[str, Field(min_length=1, max_length=500)],
) -> str:
    """Put a line up on the board, for somebody to read.

    Args:
        to: Who is to read it.
        text: The line.
    """
    with BOARD.open("a", encoding="utf-8") as board:
        board.write(f"{to}: {text}\n")
    return text
