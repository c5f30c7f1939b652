"""Benchmarks of memflow's own speed: each module is a command that prints one JSON line a figure.

A line is {name, value, unit, peer, ratio, ...}: a ratio against a peer or a bound measured in the same run, since
machines differ and are noisy. A command ends with 1 where its bound is missed. `python -m bench` runs them all.
"""
