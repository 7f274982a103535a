"""Kind ``verb``: one verb call for a caller from outside."""
