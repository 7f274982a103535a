"""What Ordain costs, beside the bare floor and beside peers on the same scripted work. Started by
``bench/run``; never by ``./check``.
"""
