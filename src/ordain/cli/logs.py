"""What a server says on stderr. Whatever library says it, at whatever level: no known secret,
nothing that has a token's form, and nothing that commands a terminal.
"""

from __future__ import annotations

import logging
import sys

from ordain.contracts.visible import visible
from ordain.runtime.seal import Seal
from ordain.settings import Settings
from ordain.settings_file import LogLevel

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class SealedFormatter(logging.Formatter):
    """Strikes secrets out of the whole text, tracebacks included, and shows what would control or
    hide.
    """

    def __init__(self, seal: Seal) -> None:
        """Formats as ever, then seals."""
        super().__init__(FORMAT)
        self._seal = seal

    def format(self, record: logging.LogRecord) -> str:
        """One entry."""
        return visible(self._seal.text(super().format(record)))


def log_to_stderr(settings: Settings) -> Seal:
    """One line per run end, and whatever went wrong; at level debug everything that any library
    says. What it strikes out may be added to.
    """
    level = getattr(logging, settings.server.log_level.upper())
    handler = logging.StreamHandler(sys.stderr)
    seal = Seal(settings.every_secret)
    handler.setFormatter(SealedFormatter(seal))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(
        level if settings.server.log_level is LogLevel.DEBUG else max(level, logging.WARNING)
    )
    logging.getLogger("ordain").setLevel(level)
    return seal
