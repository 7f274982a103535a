"""The council's seats as files: those of ``$ORDAIN_HOME/council``. Reads and checks them; what they
are asked the council's flow says.
"""
