"""Kind ``planner``: one goal, worked on step by step until there is an answer or a reason why there
is none.
"""
