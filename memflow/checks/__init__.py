"""Checks: rule types, their evaluation, and the rules that all benchmarks share."""
