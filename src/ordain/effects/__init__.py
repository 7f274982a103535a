"""What a flow may ask for and what comes back: frozen values without behaviour. Imports `rules` and
below; does nothing and decides nothing.
"""
