"""Engine 4: reads as engine 3, but what it does not know a character of is no answer, and a choice
is a whole message from closed lists.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
