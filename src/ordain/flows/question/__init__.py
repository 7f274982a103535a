"""Kind ``question``: a question to the user of a conversation, and its answer."""
