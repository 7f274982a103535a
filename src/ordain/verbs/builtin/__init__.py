"""The shipped verbs: prompt plans as YAML beside their templates, and leaf verbs made by factories from declared settings.

A leaf verb that needs a declaration (a folder, URLs) does not exist without it. Imports `ports`, `contracts`, `errors`
and the rest of `verbs`; never settings, runtime or flows.
"""

from __future__ import annotations

from ordain.verbs.builtin.files_verb import files_read
from ordain.verbs.builtin.math_verb import math_evaluate
from ordain.verbs.builtin.shipped import builtin_registry, prompt_plans

__all__ = ["builtin_registry", "files_read", "math_evaluate", "prompt_plans"]
