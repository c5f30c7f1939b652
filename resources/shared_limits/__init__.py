"""Limits that hold over all processes and hosts with one ledger: named budgets, request rates and concurrency."""
