"""Workflow templates as files: the shipped ones, and those of ``$ORDAIN_HOME/workflows``. Reads and
checks them; what they come to rules decide.
"""
