"""The wire, policy and catalog types: one module per conversation. Imports only `errors`; validates, never decides."""
