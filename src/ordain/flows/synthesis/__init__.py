"""Kind ``synthesis``: one text about what several agents found; it stands under the header and
decides nothing.
"""
