"""Engine 6: reads as engine 5, orders whatever they are stressed with, a no that is said over and
over, and the places of options.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
