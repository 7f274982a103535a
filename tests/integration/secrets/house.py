"""A server process with verbs that give secrets away, served and logged exactly as ``ordain serve``
does; until its stdin closes.
"""

import asyncio
import os
import sys
from pathlib import Path

from ordain import VerbError, verb
from ordain.app import Extras, Ordain
from ordain.cli.logs import log_to_stderr
from ordain.cli.server import listening, served
from ordain.contracts.verbs import ArgumentRole
from ordain.models.providers import build_models
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.settings import load_settings


def key() -> str:
    return os.environ["PLANTED_KEY"]


@verb(effect="read")
def leak_raised() -> dict[str, str]:
    """Raise what holds a secret."""
    raise RuntimeError(f"cannot log in with {key()}")


@verb(effect="read")
def leak_declared() -> dict[str, str]:
    """Declare a failure whose words hold a secret."""
    raise VerbError("login_failed", f"cannot log in with {key()}")


@verb(effect="read")
def leak_returned() -> dict[str, dict[str, str]]:
    """Return a secret, as key and as value."""
    return {"headers": {"authorization": f"Bearer {key()}", key(): "key"}}


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
async def leak_async(text: str) -> dict[str, str]:
    """Raise it from a task, chained."""
    try:
        raise ValueError(key())
    except ValueError as error:
        raise OSError(f"{text} {key()}") from error


class Crashing:
    """A model adapter with a bug whose words hold a secret."""

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        raise RuntimeError(f"no answer for {key()}")

    async def close(self) -> None:
        return


async def main() -> None:
    settings = load_settings(home=Path(sys.argv[1]))
    log_to_stderr(settings)
    models = {**build_models(settings.profiles, settings.secrets), "crashing": Crashing()}
    verbs = (leak_raised, leak_declared, leak_returned, leak_async)
    with listening(settings) as listener:
        async with (
            Ordain(settings, extras=Extras(verbs=verbs, models=models)) as ordain,
            served(ordain, listener),
        ):
            sys.stdout.write(f"{settings!r} {ordain.settings} {ordain.models!r}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
