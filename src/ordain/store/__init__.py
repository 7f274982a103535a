"""SQL: every table, the one writer, claims and migrations. Imports `ports` and below; decides
nothing.
"""
