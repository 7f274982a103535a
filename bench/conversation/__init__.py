"""What a conversation costs: chat turns, long sessions, nudges, streams, many sessions. ``python -m
bench.conversation HOME`` measures all.

Each module here measures one thing in a process of its own and prints it as JSON; nothing but the
scripted model is outside Ordain.
"""
