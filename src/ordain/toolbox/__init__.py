"""Shipped verbs that are what anybody could write: exact arithmetic, figures of tables, how a text sounds, playbooks, a simulation.

They stand on the public ``verb``, ``VerbContext`` and ``VerbError`` alone, and are handed what else they need (an import contract says so).
"""

from __future__ import annotations

from ordain.toolbox.finance_verb import finance_snapshot
from ordain.toolbox.math_verb import math_evaluate
from ordain.toolbox.playbook_verb import enterprise_playbook
from ordain.toolbox.playbooks import PlaybookAids
from ordain.toolbox.sim_verb import sim_markov_next_theme
from ordain.toolbox.tone_verb import creative_tonecheck

__all__ = ["PlaybookAids", "creative_tonecheck", "enterprise_playbook", "finance_snapshot", "math_evaluate", "sim_markov_next_theme"]
