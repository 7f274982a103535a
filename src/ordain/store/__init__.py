"""SQL: every table, the one writer, claims and migrations. Imports `ports`, `own_process` and below;
decides nothing.
"""
