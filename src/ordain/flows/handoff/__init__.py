"""Kind ``handoff``: work that was handed to a card, done by a loop of its own, in the scope and
budget of its envelope.
"""
