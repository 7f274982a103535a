"""The tables of what is remembered: notes, documents and their vectors."""

from __future__ import annotations

LIBRARY_TABLES = """
"""
