"""What the words of a chat message could mean: engines that read a text, over tables of phrases
that are data per language.

Pure. Imports `contracts` and `errors`. Of files it has its own alone (`packaged`): what somebody
wrote is given to it as text. It never decides what a message means to a session.
"""
