"""Provider adapters behind ``ports.model``: one attempt at one model each. Imports ``ports`` and below; decides nothing, retries nothing."""
