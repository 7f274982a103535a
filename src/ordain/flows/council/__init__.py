"""Kind ``council``: a council that is called by itself, outside any conversation."""
