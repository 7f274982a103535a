"""Agents' cards as files: the shipped ones, and those of ``$ORDAIN_HOME/cards``. Reads and checks
them; what is handed to whom rules decide.
"""
