"""Engine 3: reads as engine 2, but for answers, dates, holds and corrections: a yes or a no is the
whole message, from a closed list, or none.

A different reading is another engine, in a folder of its own. Imports the table, the cues and
engines 1 and 2, nothing else of the house.
"""
