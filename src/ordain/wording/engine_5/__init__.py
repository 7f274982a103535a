"""Engine 5: reads as engine 4, and letters as they are written; what begins with a condition is
one; what is negated holds nothing.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
