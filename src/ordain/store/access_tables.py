"""The tables of access: tokens by their hash, and the audit of their use."""

from __future__ import annotations

ACCESS_TABLES = """
"""
