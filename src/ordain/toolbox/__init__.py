"""Shipped verbs that are what anybody could write: exact arithmetic, figures of tables, how a text
sounds, playbooks, a simulation.

They stand on the public ``verb``, ``VerbContext`` and ``VerbError`` alone, and are handed what else
they need (an import contract says so). Each module is imported when its verb is first called, so
nothing is exported here.
"""
