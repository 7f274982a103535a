"""Provider adapters behind `ports.model`: one attempt at one model each. Imports `flows` and below; decides nothing, retries nothing."""
