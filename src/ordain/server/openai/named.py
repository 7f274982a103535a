"""Which conversation a client of OpenAI's means, and who speaks: by the names that it gives them in
headers or in the body. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from ordain.contracts.conversation import SESSION_ID
from ordain.contracts.openai import ResponsesRequest
from ordain.errors import InvalidRequest
from ordain.server.openai.files import misfit

SESSION_HEADERS = {
    "ordain-session": "",
    "x-openwebui-chat-id": "openwebui:",
    "x-librechat-conversation-id": "librechat:",
}
"""Headers that name a conversation, the first one counts; what an id from there begins with, so
that two clients' ids are never one session.
"""
UNNAMED = ("", "new")
"""What other clients call a conversation that has no name yet."""
USER_HEADERS = ("x-openwebui-user-id", "x-librechat-user-id")
_SESSION = re.compile(SESSION_ID)
_NAME = "session_id"


def sent_once(headers: Headers) -> Headers:
    """Headers of which none that names a conversation or a user came twice.

    Raises:
        InvalidRequest: 400 ``repeated_header``.
    """
    for name in (*SESSION_HEADERS, *USER_HEADERS):
        if len(headers.getlist(name)) > 1:
            raise InvalidRequest(f"{name} is sent once", code="repeated_header", status=400)
    return headers


def session_named(metadata: Mapping[str, Any] | None, headers: Mapping[str, str]) -> str:
    """The client's name for the conversation: a header's, else ``metadata.session_id``; "" where
    there is none.
    """
    for header, prefix in SESSION_HEADERS.items():
        named = headers.get(header)
        if named is not None and not (prefix and named in UNNAMED):
            return _session(f"{prefix}{named}", header, "")
    given = (metadata or {}).get(_NAME)
    if given is None:
        return ""
    if not isinstance(given, str):
        raise misfit(
            "/metadata/session_id", "conversation_unfit", "the name of a session is a text"
        )
    return _session(given, "metadata.session_id", "/metadata/session_id")


def conversation_named(given: ResponsesRequest) -> str:
    """The same of a response's ``conversation``."""
    if isinstance(given.conversation, str):
        return (
            _session(given.conversation, "conversation", "/conversation")
            if given.conversation
            else ""
        )
    named = (given.conversation or {}).get("id")
    return _session(str(named), "conversation.id", "/conversation/id") if named else ""


def _session(name: str, where: str, place: str) -> str:
    """A session's name; ``place`` is where in the body it stands ("": in a header)."""
    if _SESSION.match(name) is not None:
        return name
    message = f"{where} names no session: letters, digits and ._:@+/-, at most 200"
    raise (
        misfit(place, "conversation_unfit", message)
        if place
        else InvalidRequest(message, code="conversation_unfit")
    )


def user_named(given: str | None, headers: Mapping[str, str]) -> str:
    """Who speaks, as the client names them: ``user``, else a header's; "" where nobody is named."""
    found = given or next((value for name in USER_HEADERS if (value := headers.get(name))), "")
    return found[:200]
