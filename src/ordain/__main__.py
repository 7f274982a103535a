"""``python -m ordain`` is the command ``ordain``."""

from __future__ import annotations

import sys

from ordain.cli import main

if __name__ == "__main__":
    sys.exit(main())
