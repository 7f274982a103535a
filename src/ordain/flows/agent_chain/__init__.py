"""Kind ``agent_chain``: longer work of a planner that nobody supervises step by step, entered by
code alone.
"""
