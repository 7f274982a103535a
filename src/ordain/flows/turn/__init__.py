"""Kind ``turn``: one message of a conversation, answered."""
