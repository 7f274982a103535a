"""Kind ``triage``: what a message means to its session, where neither wording nor state says it."""
