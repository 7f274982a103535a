"""What was said at a terminal and is not known to have arrived: each message is sent until it is,
in the order in which they were said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from ordain.cli.conversation_lines import one_line
from ordain.cli.messenger import Addressed, Messenger, UnsentMessage
from ordain.contracts.conversation import MessageAnswer
from ordain.errors import OrdainError, Transient

AGAIN_S = 3.0
"""Between tries, each of which takes up a lost connection by itself."""
LEAVING_S = 1.0
"""How long whoever leaves waits for what is on its way."""


class Outbox:
    """Keeps each message until the server has it or refuses it; ``tell`` is told when one has to
    wait, and when it arrived after all.
    """

    def __init__(self, messenger: Messenger, tell: Callable[[str], None]) -> None:
        """Nothing is on its way."""
        self._messenger, self._tell = messenger, tell
        self._waiting: dict[str, UnsentMessage] = {}
        self._sending, self._empty = asyncio.Lock(), asyncio.Event()
        self._away = False

    @property
    def undelivered(self) -> Sequence[str]:
        """The words of which nobody said that they arrived, oldest first."""
        return tuple(message.text for message in self._waiting.values())

    def put(self, to: Addressed, text: str, reply_to: str | None) -> UnsentMessage:
        """A message, with the files that were attached; from here on it is known to be on its
        way.
        """
        message = self._messenger.outgoing(to, text, reply_to=reply_to)
        self._waiting[message.message_id] = message
        self._empty.clear()
        return message

    async def deliver(self, message: UnsentMessage) -> MessageAnswer:
        """Send it, behind those that were said before it, until it is durable; the answer so far.

        Raises:
            OrdainError: it was refused for good.
        """
        async with self._sending:
            try:
                answer = await self._until_taken(message)
            except OrdainError:
                self._forget(message)
                raise
        self._forget(message)
        return answer

    async def _until_taken(self, message: UnsentMessage) -> MessageAnswer:
        while True:
            try:
                answer = await self._messenger.deliver(message)
            except Transient as error:
                if not self._away:
                    self._tell(
                        f"{error.message} [{error.code}]; what was said is not delivered yet, and "
                        "is sent again"
                    )
                self._away = True
                await asyncio.sleep(AGAIN_S)
                continue
            if self._away:
                self._tell(f"delivered: {one_line(message.text)}")
            self._away = self._away and len(self._waiting) > 1
            return answer

    def _forget(self, message: UnsentMessage) -> None:
        self._waiting.pop(message.message_id, None)
        if not self._waiting:
            self._empty.set()

    async def settle(self) -> None:
        """Give what is on its way a moment to arrive."""
        if self._waiting and not self._away:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._empty.wait(), LEAVING_S)
