"""Work counted, never timed: how many of our own Python calls something takes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ordain.cli import columns


def calls(made: Callable[[], Any]) -> int:
    """How many functions of ``ordain.cli.columns`` are entered, a resumed generator counted again
    each time.
    """
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename == columns.__file__

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        made()
    finally:
        sys.setprofile(before)
    return count
