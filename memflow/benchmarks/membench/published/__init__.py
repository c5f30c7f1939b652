"""Readers of published MemBench and MemDaily files, among which memflow/benchmarks/membench/load.py selects."""
