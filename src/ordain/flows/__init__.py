"""What happens: plain async functions over the Effects port. Imports `ports` and below; awaits
nothing but the port, keeps no state between runs.
"""
