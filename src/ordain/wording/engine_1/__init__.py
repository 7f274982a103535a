"""Engine 1: from a text to its shape, one sign per known phrase, and from patterns over shapes to
cues. Frozen: recorded runs are read with it.

A different reading is another engine, in a folder of its own. Imports the table and the cues,
nothing else of the house.
"""
