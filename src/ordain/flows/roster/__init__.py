"""Kind ``roster``: a plan of specialists, each step handed on as a typed handoff."""
