"""``ordain chat``: at a terminal or not. Little is loaded here, so that a terminal's prompt is
there at once.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

from ordain.cli.options import ChatAsked
from ordain.cli.places import home_of
from ordain.cli.screen import is_terminal
from ordain.cli.slash import mode_called, no_mode
from ordain.errors import ConfigurationError, InvalidRequest


def chat(data_dir: Path | None, asked: ChatAsked) -> int:
    """Hold a conversation; in a terminal until the user leaves, else until every message is
    answered.

    Raises:
        InvalidRequest: the message says nothing, or there can be no such workspace.
        ConfigurationError: no such mode, or what is asked for contradicts itself.
        NotFound: the last session is asked for and there is none, or a verb that there is not.
        OrdainError: a message was refused, or the server has gone.
    """
    mode = mode_called(asked.to.mode)
    if mode is None:
        raise ConfigurationError(no_mode(asked.to.mode), code="usage")
    asked = replace(asked, to=replace(asked.to, mode=mode))
    if asked.at.url and data_dir is not None:
        raise ConfigurationError(
            "--url is a server elsewhere, --data-dir a folder here: give one of them", code="usage"
        )
    if asked.at.token_file is not None and not asked.at.url:
        raise ConfigurationError(
            "--token-file holds the token for --url; for a server here: ORDAIN_TOKEN_FILE",
            code="usage",
        )
    if asked.words and not asked.text.strip():
        raise InvalidRequest("a message has a text", code="empty_message")
    home = home_of(data_dir)
    if asked.words or asked.as_json or not is_terminal():
        from ordain.cli.chat_meeting import talk_in_lines  # lazy: HTTP and everything behind it

        return asyncio.run(talk_in_lines(home, asked))
    from ordain.cli.chat_opening import (
        talk_at_terminal,
    )  # lazy: prompt_toolkit, which no message of a command line waits for

    # the screen is the conversation's; what goes wrong in a turn stands in its reply
    logging.getLogger().addHandler(logging.NullHandler())
    return asyncio.run(talk_at_terminal(home, asked))
