"""Kind ``workflow``: the fixed steps of a template, one after the other."""
