"""Kind ``supervisor``: a turn in which a planner proposes and rule ``supervise`` decides what
becomes of each step.
"""
