"""Drivers that wake runs: `local` in this process. Imports `runtime` and below; decides only when,
never what.
"""
