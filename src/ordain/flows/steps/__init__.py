"""The planner's step, its prompt and its trace: what planner, supervisor and the loops to come
share. No kind of run stands here.
"""
