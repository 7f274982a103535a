"""Provider adapters behind `ports.model`: one attempt at one model each. Imports `flows` and below,
and of `runtime` how attempts are timed; decides nothing, retries nothing.
"""
