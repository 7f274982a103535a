"""Engine 9: reads as engine 8; a no is one to any question, and what is negated, doubted, under a
condition or in no calendar is no date and no place.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
