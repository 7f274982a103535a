"""How a council deliberates, for every kind that needs its word: ``deliberate`` with its prompts,
and what its seats are given. Rules decide what a verdict leads to.
"""
