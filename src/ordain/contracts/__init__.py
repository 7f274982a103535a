"""The wire, policy and catalog types: one module per conversation. Imports `errors`; validates,
never decides.
"""
