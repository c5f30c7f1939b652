"""Rows of AMemGym's users that are at fault: each function finds those that break one invariant, by position.

Which sentence each of them stands for, and how bad it is, is expectations.py. Only users with states are looked at, so
that other benchmarks' rows are passed over; so are quarantined rows where it is their content that matters.
"""
