"""Engine 2: reads as engine 1, and takes a message for a yes or a choice only where it knows every
word of it. Frozen once it was shipped.

A different reading is another engine, in a folder of its own. Imports the table, the cues and
engine 1, nothing else of the house.
"""
