"""Intake, driving, recovery, replay, queries: the only door for faces. Imports `flows` and below; adapters reach it through ports."""
