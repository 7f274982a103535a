"""The shipped verbs that stand on the house: prompt plans as YAML beside their templates, and leaf
verbs made by factories from declared settings.

A leaf verb that needs a declaration (a folder, URLs) does not exist without it. Imports `ports`,
`contracts`, `errors` and the rest of `verbs`; never settings, runtime or flows. What needs nothing
of the house but ``@verb`` is in `toolbox`.
"""

from __future__ import annotations

from ordain.verbs.builtin.shipped import prompt_plans

__all__ = ["prompt_plans"]
