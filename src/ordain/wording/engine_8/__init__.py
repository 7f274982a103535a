"""Engine 8: reads as engine 7, and orders to work that runs by what stands around the word that
orders: a reason, a wish, a doubt, an idiom, another figure.

A different reading is another engine, in a folder of its own. Imports the table, the cues and the
engines before, nothing else of the house.
"""
