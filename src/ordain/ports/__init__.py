"""Small Protocols through which flows and the runtime meet the world. Imports `journal`, `prompts`
and below; implements nothing.
"""
