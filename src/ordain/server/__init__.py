"""HTTP: one router per resource over the runtime's door. Imports `runtime`, `contracts` and
`errors`; decides nothing, keeps nothing.
"""

from __future__ import annotations

from ordain.server.application import build_app
from ordain.server.face import Face

__all__ = ["Face", "build_app"]
