"""Kind ``seat``: what one seat of a council says. One question to a model as that seat; it may use
no verb.
"""
