"""Kind ``verb_plan``: one prompt-plan verb, its steps in order."""
