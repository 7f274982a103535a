"""Intake, conversation, driving, recovery, replay, diffs, queries: the only door for faces. Imports
`flows` and below; adapters reach it through ports.
"""
