"""What one model call costs by provider: each adapter, and a whole run of one call, beside the bare
calls that do the same.

Runs in the project's own environment, which has every provider's library: ``bench/run
--providers``, or ``python -m bench.providers``.
"""
