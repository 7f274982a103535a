"""What the words of a chat message could mean: engines that read a text, over tables of phrases that are data per language.

Pure. Imports `contracts` and `errors`. A table that somebody wrote is given to it; it never decides what a message means to a session.
"""
