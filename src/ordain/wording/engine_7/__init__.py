"""Engine 7: reads as engine 6, and tells an answer with a matter of its own behind it from an
answer that is none whole.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
