"""Kind ``status``: how a thread is getting on, told from the journal."""
