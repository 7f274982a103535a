"""Kind ``subgoal``: part of a goal, planned and worked on for itself where a planner calls verb
``plan.subgoal``.
"""
