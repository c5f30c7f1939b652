"""The ledger in a SQL database: every completion, its uses, failed requests, and the usage of models."""
